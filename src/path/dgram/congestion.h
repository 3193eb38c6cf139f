// How many bytes may be in flight to a peer, and how fast they leave. Controlled by delay, in the manner of
// LEDBAT (RFC 6817) and Swift (SIGCOMM 2020):
//
// - The aim is a queueing delay of `target_ns` above the least round trip. This is enough to keep the line
//   busy while a host does not look for a moment, and for a message of 64 KiB to leave at once at 1 Gbit/s.
//   It is too little to fill a switch's queue. Several senders thus share a line by each adding little to its
//   queue, and no packet need be lost to find the limit. When many share one line, their windows are small
//   and they cannot control the delay that exactly. The target is therefore higher for them, by `scale` over
//   the square root of the window in packets (Swift's flow scaling).
// - The window is judged once per round trip, by the least delay seen in it, since a host that looks late
//   lengthens delays but never shortens them. Below the target, the window grows by `gain` packets. Above it,
//   the window shrinks by the share of the delay that is too much, at most by half.
// - A receiver that looks late states how long the packet that it reads may have waited for that (`away` of
//   an acknowledgement). This part of a delay is no queue before it. The least delay of the round less the
//   least of these absences counts, so one look in time shows the queue. A receiver that is always late
//   cannot tell which part was a queue. If several processes send to it, it limits that queue itself, by
//   grants.
// - At first, and after a collapse, the window doubles in each round trip until the delay is half the target.
// - A loss proves little: cables, radios and full rings of receivers lose packets without being busy. The
//   window shrinks for it only if there is delay too, again the least of the round, or if the share of lost
//   packets, averaged over about the last 64, is above an eighth. No network loses that much at random, but a
//   queue shorter than the target does. It shrinks at most once per round trip, whatever the reasons.
// - If nothing at all is answered through several probes, the window is the smallest one until something is.
//   Then it doubles as long as the delay permits, at least up to its earlier value, since a peer that answers
//   again was usually only away.
// - If the receiver grants windows because several processes send to it (grants.h), it limits the queue
//   before it. The delay then depends more on hosts that look late, and on answers that wait behind data
//   where everybody sends to everybody. Only `granted_more` times the target is then too much.
// - What was learned becomes old soon: meanwhile others may have begun to send to the same peer, each with
//   the window that it had when it was alone. For each `old_after_ns` in which nothing was in flight, the
//   window is therefore halved (RFC 2861), down to the first window. Four of these fit at once into a queue
//   of 128 KiB beside a sender that sends already. Afterwards the window doubles again up to its earlier
//   value. What the receiver granted is forgotten at the same time.
//
// Pacing: a window is spread over its round trip, in bursts of at most `burst` bytes, a little faster than
// the window alone would allow, so that it is the window that limits. If the receiver grants, several senders
// share the queue before it, and their bursts are short so that they fit in between. If a round trip is
// longer than the least one by more than `paced_queues` targets, the excess is no queue: the peer, or this
// process, did not look for long. Spreading a window over it would only add to the absence.
// This object is small, since each known peer has one. Thread rule: the owner of the flow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "path/dgram/round_trip.h"

namespace lanyard::dgram {

struct CongestionLimits {
    uint64_t target_ns = 400'000;
    uint32_t first_window = 12 * 1024;  // or first_packets, if packets are long
    uint32_t first_packets = 4;
    uint64_t old_after_ns = 4'000'000;
    uint32_t most_window = 8 * 1024 * 1024;
    uint32_t burst = 64 * 1024;
    uint32_t granted_burst = 8 * 1024;  // if the receiver grants
    uint32_t gain = 2;                  // packets per round trip
    double scale = 3;                   // of the target, for small windows
    uint32_t granted_more = 5;          // times the target, if the receiver grants
    // At most this many times the target counts as part of a round trip over which a window is spread.
    uint32_t paced_queues = 2;
};

class Congestion {
public:
    // `packet`: the maximum length of a packet.
    Congestion(const CongestionLimits &limits, size_t packet)
        : window_(first_window(packet, limits)), threshold_(limits.most_window) {}

    uint32_t window() const { return window_; }
    // The receiver limits how much may be in flight, or no longer does.
    void granted(bool is) { granted_ = is; }
    bool doubling() const { return window_ < threshold_; }
    // The part of the latest round trip that may be the receiver's absence. To be called before
    // acknowledged().
    void absent(uint16_t us) { absent_us_ = us; }
    // `bytes` in `packets` were acknowledged at once; before that, `in_flight` bytes were in flight. The
    // round trip already includes them.
    void acknowledged(size_t bytes, uint32_t packets, size_t in_flight, const RoundTrip &trip, size_t packet,
                      const CongestionLimits &limits, uint64_t now_ns);
    void lost(uint32_t packets, const RoundTrip &trip, size_t packet, const CongestionLimits &limits,
              uint64_t now_ns);
    // Nothing is in flight. Has nothing been in flight for so long that what was learned is old? If so, the
    // window shrinks.
    bool rested(size_t packet, const CongestionLimits &limits, uint64_t now_ns);
    // Several probes in a row were not answered.
    void silent(size_t packet, const CongestionLimits &limits);

    // The time that the line should take for this number of bytes; 0: no reason to wait.
    uint64_t spacing_ns(size_t bytes, const RoundTrip &trip, const CongestionLimits &limits) const {
        if (!trip.known()) return 0;
        uint64_t quicker = doubling() ? 2 : 1;  // and a quarter more
        uint64_t trip_ns =
            std::min(trip.smoothed_ns(), trip.least_ns() + limits.paced_queues * limits.target_ns);
        return static_cast<uint64_t>(bytes) * trip_ns * 4 / (5 * quicker * window_);
    }

private:
    static constexpr uint32_t one = 1 << 16;  // the value 1 of loss_
    static constexpr uint8_t enough_samples = 3;

    void end_round(const RoundTrip &trip, size_t packet, const CongestionLimits &limits, uint64_t now_ns);
    // The delay of the round, without the receiver's absence.
    uint64_t delay_ns() const {
        return round_least_ns_ - std::min(round_least_ns_, round_absent_us_ * uint32_t{1000});
    }
    uint64_t without_absence(uint64_t delay_ns) const {
        return delay_ns - std::min(delay_ns, absent_us_ * uint64_t{1000});
    }
    uint64_t target(size_t packet, const CongestionLimits &limits) const;
    void shrink(uint64_t to, size_t packet, const RoundTrip &trip, uint64_t now_ns);
    static uint64_t least_window(size_t packet) { return 2 * packet; }
    static uint32_t first_window(size_t packet, const CongestionLimits &limits) {
        return std::max(limits.first_window, limits.first_packets * static_cast<uint32_t>(packet));
    }

    uint32_t window_;
    uint32_t threshold_;                    // doubles below this
    uint32_t loss_ = 0;                     // the share of packets lost, averaged
    uint32_t round_least_ns_ = UINT32_MAX;  // queueing delay in this round
    uint8_t round_samples_ = 0;             // up to enough_samples
    bool pressed_ = false;                  // the window limited what was in flight in this round
    bool granted_ = false;                  // the receiver limits it too
    // Absence of the receiver: latest, and least in this round.
    uint16_t absent_us_ = 0, round_absent_us_ = UINT16_MAX;
    uint64_t round_ends_ns_ = 0;
    uint64_t shrunk_ns_ = 0;  // not again before this time
};

}  // namespace lanyard::dgram
