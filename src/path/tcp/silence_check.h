// Whether the other host acknowledges what was written to a connection, looked at now and then while anything is outstanding.
//
// A host that acknowledges nothing, though the connection is open, may be reached by another one. Where it has everything, but the peer has not
// answered, the peer computes or its answer goes a way that is dead: a question shows which.
// Pure: the time and what the socket says come in.
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
        timed_out,   // for so long that the peer counts as lost
    };
    struct Limits {
        uint64_t silence_ns, peer_timeout_ns;
    };
    struct Seen {
        uint64_t silent_for_ns;  // the other host has acknowledged nothing for so long, of what was written; 0: it has all of that
        bool unacknowledged;     // there are envelopes that the peer has not acknowledged
        bool all_written;        // all of them were written to the connection
        uint64_t bulk_bytes;     // that the connection has taken, ever
        uint64_t last_received_ns;
    };

    // When it is to be checked next; 0: not.
    uint64_t due_ns() const { return due_ns_; }
    // Something was written, read or acknowledged: true if checks begin now.
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
    // Since when nothing is known of the other host, as the connection ends now.
    uint64_t ended(uint64_t now_ns) {
        uint64_t since_ns = checked_ns_ ? heard_ns_ : now_ns;  // the kernel may have given up a host that was silent
        checked_ns_ = 0;
        return since_ns;
    }

private:
    uint64_t due_ns_ = 0;
    uint64_t checked_ns_ = 0;  // when that was done last; 0: not on this connection
    uint64_t heard_ns_ = 0;    // when it had acknowledged something since the time before
    uint64_t heard_bulk_ = 0;  // bulk_bytes that it had acknowledged then
    uint64_t asked_ns_ = 0;    // when the peer was asked last
};

}  // namespace lanyard
