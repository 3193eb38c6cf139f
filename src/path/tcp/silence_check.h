// Finds out whether the other host acknowledges what was written to a connection. Checks this every half
// second while anything is outstanding.
//
// If a host acknowledges nothing although the connection is open, another connection may reach the host. The
// host may have acknowledged everything although the peer has not answered. Then either the peer computes, or
// its answer takes a route that no longer works. A request for an answer shows which: on a dead connection,
// the host does not acknowledge the request.
// The caller passes the time and the socket's state. Thread rule: the owner of the engine.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lanyard {

class SilenceCheck {
public:
    static constexpr uint64_t every_ns = 500'000'000;

    enum class Finding {
        fine,
        unanswered,  // an answer should be requested from the peer
        silent,      // for silence_ns or longer (found at each check): another connection should be tried
        timed_out,   // for peer_timeout_ns or longer: the peer has failed
    };
    struct Limits {
        uint64_t silence_ns, peer_timeout_ns;
    };
    struct Seen {
        // For how long the other host has acknowledged nothing of what was written; 0: the host has
        // acknowledged everything.
        uint64_t silent_for_ns;
        bool unacknowledged;  // there are envelopes that the peer has not acknowledged
        bool all_written;     // all of them were written to the connection
        uint64_t bulk_bytes;  // all bulk that the connection has ever taken
        uint64_t last_received_ns;
    };

    // The time of the next check; 0: no check is due.
    uint64_t due_ns() const { return due_ns_; }
    // Called when something was written, read or acknowledged. Returns true if checks begin now.
    bool begin(bool unacknowledged, uint64_t bulk_bytes, uint64_t now_ns) {
        if (due_ns_ || (!unacknowledged && bulk_bytes == heard_bulk_)) return false;
        due_ns_ = now_ns + every_ns;
        return true;
    }
    Finding check(const Seen &seen, const Limits &limits, uint64_t now_ns);
    // Called when the host has shown that it lives.
    void heard(uint64_t now_ns) { heard_ns_ = now_ns; }
    // Called when there is a new connection, on which no bulk has flowed.
    void connected() {
        checked_ns_ = 0;
        heard_bulk_ = 0;
    }
    // Ends the checks, because nothing is outstanding or there is no connection.
    void stop(uint64_t bulk_bytes) {
        heard_bulk_ = bulk_bytes;
        due_ns_ = checked_ns_ = 0;
    }
    // Called when the connection ends. Returns the time since which the other host counts as unreachable.
    uint64_t ended(uint64_t now_ns) {
        // If checks were under way, the connection may have ended because the host was silent. The silence
        // then began at heard_ns_, not now.
        uint64_t since_ns = checked_ns_ ? heard_ns_ : now_ns;
        checked_ns_ = 0;
        return since_ns;
    }

private:
    uint64_t due_ns_ = 0;
    uint64_t checked_ns_ = 0;  // time of the last check; 0: there was none since checks began
    uint64_t heard_ns_ = 0;    // when the host was last found not to be silent
    uint64_t heard_bulk_ = 0;  // bulk_bytes when the host last had acknowledged everything
    uint64_t asked_ns_ = 0;    // when an answer was last requested from the peer
};

}  // namespace lanyard
