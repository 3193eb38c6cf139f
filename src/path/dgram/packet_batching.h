// Decides when several envelopes leave in one packet. While batching is allowed (nonblocking sends), the
// first envelope to a peer leaves at once. Later envelopes to that peer are held back until three times as
// many of them wait as have left, or until most_kept bytes are held back for all peers together. A single
// message is thus not delayed, and a long series travels in few packets, while at most three quarters of the
// series wait. Long envelopes are not held back (batched_below). Where processes are oversubscribed, the
// first envelope is held back too, and all wait until the program waits, or until most_kept_oversubscribed
// bytes are held back. The peer has to wait for a processor anyway, and envelopes to many peers leave in one
// system call. This class only decides; the path sends.
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "path/dgram/packet.h"

namespace lanyard::dgram {

struct BatchLimits {
    size_t most_kept = 16 * KiB;                 // bytes of envelopes held back
    size_t most_kept_oversubscribed = 64 * KiB;  // the same where processes are oversubscribed
    size_t batched_below = 512;  // envelopes with this many bytes of payload or more are not held back
};

// A series is the envelopes that the program sends before it waits again. A Series counts those to one peer,
// in the latest series in which some were sent to this peer.
struct Series {
    uint32_t number = 0;
    uint32_t sent = 0;  // envelopes
    uint32_t next = 0;  // when this many have been sent, the next one leaves with those held back
};

class PacketBatching {
public:
    explicit PacketBatching(const BatchLimits &limits) : limits_(limits) {}

    // States whether envelopes may be held back. Begins a new series.
    void allow(bool on) {
        on_ = on;
        end_series();
    }
    // Called when everything that was held back leaves because no more is sent for now.
    void end_series() { ++series_; }
    // Called when an envelope with `payload` bytes is sent to the peer of this series. Returns true if it
    // should be held back.
    bool keeps(Series &series, size_t payload, bool oversubscribed) {
        if (!on_ || payload >= limits_.batched_below) return false;
        if (std::exchange(series.number, series_) != series_) {
            series.sent = 0;
            series.next = oversubscribed ? UINT32_MAX : 0;
        }
        kept_bytes_ += payload + queued_frame_bytes;
        if (series.sent++ < series.next &&
            kept_bytes_ < (oversubscribed ? limits_.most_kept_oversubscribed : limits_.most_kept))
            return true;
        series.next = 4 * series.sent - 1;
        return false;
    }
    // Called when everything that was held back, for all peers, has left.
    void left() { kept_bytes_ = 0; }

private:
    const BatchLimits limits_;
    bool on_ = false;
    uint32_t series_ = 0;  // number of the present series
    size_t kept_bytes_ = 0;
};

}  // namespace lanyard::dgram
