// Whether the other host acknowledges what was written to a connection. This is checked now and then while
// anything is outstanding.
//
// If a host acknowledges nothing although the connection is open, another connection may reach it. If it has
// everything but the peer has not answered, either the peer computes or its answer takes a dead route; a
// question shows which.
// The time and the socket's state are passed in. Thread rule: the owner of the engine.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lanyard {

class SilenceCheck {
public:
    static constexpr uint64_t every_ns = 500'000'000;

    enum class Finding {
        fine,
        unanswered,  // the peer is to be asked whether it is there
        silent,      // for longer than the limit: another connection is to be tried
        timed_out,   // for so long that the peer has failed
    };
    struct Limits {
        uint64_t silence_ns, peer_timeout_ns;
    };
    struct Seen {
        // For how long the other host has acknowledged nothing of what was written; 0: it has all of it.
        uint64_t silent_for_ns;
        bool unacknowledged;  // there are envelopes that the peer has not acknowledged
        bool all_written;     // all of them were written to the connection
        uint64_t bulk_bytes;  // that the connection has ever taken
        uint64_t last_received_ns;
    };

    // The time of the next check; 0: none.
    uint64_t due_ns() const { return due_ns_; }
    // Something was written, read or acknowledged. Returns true if checks begin now.
    bool begin(bool unacknowledged, uint64_t bulk_bytes, uint64_t now_ns) {
        if (due_ns_ || (!unacknowledged && bulk_bytes == heard_bulk_)) return false;
        due_ns_ = now_ns + every_ns;
        return true;
    }
    Finding check(const Seen &seen, const Limits &limits, uint64_t now_ns);
    // The host has shown that it lives.
    void heard(uint64_t now_ns) { heard_ns_ = now_ns; }
    // There is a new connection, on which no bulk has flowed.
    void connected() {
        checked_ns_ = 0;
        heard_bulk_ = 0;
    }
    // Nothing is outstanding, or there is no connection.
    void stop(uint64_t bulk_bytes) {
        heard_bulk_ = bulk_bytes;
        due_ns_ = checked_ns_ = 0;
    }
    // The connection ends now. Returns since when nothing has been known of the other host.
    uint64_t ended(uint64_t now_ns) {
        uint64_t since_ns = checked_ns_ ? heard_ns_ : now_ns;  // the kernel may have given up a silent host
        checked_ns_ = 0;
        return since_ns;
    }

private:
    uint64_t due_ns_ = 0;
    uint64_t checked_ns_ = 0;  // time of the last check; 0: none on this connection
    uint64_t heard_ns_ = 0;    // when the host had acknowledged something since the check before
    uint64_t heard_bulk_ = 0;  // bulk_bytes that it had acknowledged then
    uint64_t asked_ns_ = 0;    // when the peer was last asked
};

}  // namespace lanyard
