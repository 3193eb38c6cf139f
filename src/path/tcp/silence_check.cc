// See silence_check.h.
#include "path/tcp/silence_check.h"

namespace lanyard {

SilenceCheck::Finding SilenceCheck::check(const Seen &seen, const Limits &limits, uint64_t now_ns) {
    if (seen.silent_for_ns == 0) heard_bulk_ = seen.bulk_bytes;
    if (!seen.unacknowledged && heard_bulk_ == seen.bulk_bytes) {
        stop(seen.bulk_bytes);
        return Finding::fine;
    }
    // Silent during the whole time since the last check.
    bool silent = seen.silent_for_ns > 0 && seen.silent_for_ns >= now_ns - checked_ns_;
    if (!silent) heard_ns_ = now_ns;
    checked_ns_ = now_ns;
    due_ns_ = now_ns + every_ns;
    if (now_ns >= heard_ns_ + limits.peer_timeout_ns) return Finding::timed_out;
    if (now_ns >= heard_ns_ + limits.silence_ns) return Finding::silent;
    if (seen.silent_for_ns > 0 || !seen.all_written ||
        now_ns < std::max(seen.last_received_ns, asked_ns_) + limits.silence_ns)
        return Finding::fine;
    asked_ns_ = now_ns;
    return Finding::unanswered;
}

}  // namespace lanyard
