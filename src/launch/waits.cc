// What each rank waits for; see waits.h. The form of the records is the library's: base/wait_record.h.
#include "launch/waits.h"

#include "base/wait_record.h"

namespace lanyard::launch {

std::string report_waits(int segment_fd, int ranks) {
    std::string text;
    if (segment_fd >= 0)
        for (const std::string &line : describe_waits(segment_fd)) text += "  " + line + "\n";
    if (text.empty())
        text = "  nothing is known of the " + std::to_string(ranks) + " ranks: none has initialised MPI with this library\n";
    return text;
}

}  // namespace lanyard::launch
