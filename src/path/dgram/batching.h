// Several envelopes in a packet: after more_follows() (nonblocking sends, which the program must complete by another call) the first envelope to
// a peer leaves at once; then they are kept until there are three times as many as have left, or most_gathered bytes of all. So a single
// message is as fast as can be, and of a long series most go in few packets, but never is more than three quarters of it waiting. Where processes
// share processors all are kept until the program waits, or there are most_gathered_crowded bytes: the peer has to wait for a processor anyway, and
// what goes to many peers leaves by one system call. Pure: the path sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "path/dgram/packet.h"

namespace lanyard::dgram {

struct BatchLimits {
    size_t most_gathered = 16 * 1024;          // bytes of envelopes that wait for others
    size_t most_gathered_crowded = 64 * 1024;  // where processes share processors
    size_t gathered_below = 512;               // bytes of payload
};

// Of one peer: the last series in which something was sent to it,
struct Series {
    uint32_t number = 0;
    uint32_t sent = 0, next = 0;  // so many envelopes; at how many they leave next
};

class Batching {
public:
    explicit Batching(const BatchLimits &limits) : limits_(limits) {}

    // While `on`, envelopes may be kept.
    void gather(bool on) {
        on_ = on;
        end_series();
    }
    // What was kept leaves, as nobody sends any more for now.
    void end_series() { ++series_; }
    // An envelope with so much payload is sent to the peer of this series: is it kept until others are there?
    bool keeps(Series &series, size_t payload, bool crowded) {
        if (!on_ || payload >= limits_.gathered_below) return false;
        if (std::exchange(series.number, series_) != series_) {
            series.sent = 0;
            series.next = crowded ? UINT32_MAX : 0;
        }
        kept_bytes_ += payload + queued_frame_bytes;
        if (series.sent++ < series.next && kept_bytes_ < (crowded ? limits_.most_gathered_crowded : limits_.most_gathered)) return true;
        series.next = 4 * series.sent - 1;
        return false;
    }
    // All that was kept, to all peers, has left.
    void left() { kept_bytes_ = 0; }

private:
    const BatchLimits limits_;
    bool on_ = false;
    uint32_t series_ = 0;  // counts up when all that was kept has left
    size_t kept_bytes_ = 0;
};

}  // namespace lanyard::dgram
