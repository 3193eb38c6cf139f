// Connections that are closed though nothing is wrong with them, as a process may have only so many: those that have been quiet longest.
// Nothing is under way on such a one: all that this side sent is acknowledged, no frame is half read or half written. It says so with
// its last frame (at_rest), and then closes. The other side may have sent something meanwhile; then it finds its log not empty,
// connects again and sends it again, as after any loss. Otherwise it leaves the connection closed until one of the two needs it.
#include <algorithm>

#include "base/log.h"
#include "path/tcp/tcp_path.h"

namespace lanyard {

bool TcpPath::is_quiet(const Link &link) const {
    return link.socket >= 0 && !link.failed && link.log.empty() && !link.bulk.open && link.frame.head_come == 0 && !link.frame.payload.is_open() &&
           rest_of_ != &link;
}

// Closes the connection of this kind that was used last the longest ago; false when there is none.
bool TcpPath::make_room() {
    Link *oldest = nullptr;
    for (auto &each : links_)
        if (each && is_quiet(*each) && (!oldest || each->used_ns < oldest->used_ns)) oldest = each.get();
    if (!oldest) return false;
    return rest(*oldest);
}

bool TcpPath::rest(Link &link) {
    append_answer(link, at_rest);
    write_out(link);
    if (link.failed || link.log.unwritten() > 0) return false;  // it will be closed for that, or is not quiet any more
    log(LogLevel::debug, "tcp", "peer %u: the connection is closed while it is quiet", link.peer);
    ++counts_.rested;
    link.resting = true;
    part(link);
    return true;
}

void TcpPath::rest_all() {
    for (auto &each : links_)
        if (each && is_quiet(*each)) rest(*each);
}

}  // namespace lanyard
