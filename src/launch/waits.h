// What each rank of the job waits for, as the library records it in the job's segment: asked for by SIGQUIT, and when
// the time of --timeout is over.
#pragma once

#include <string>

namespace lanyard::launch {

// Lines, one per rank; a line that says so when no rank has written a record.
std::string report_waits(int segment_fd, int ranks);

}  // namespace lanyard::launch
