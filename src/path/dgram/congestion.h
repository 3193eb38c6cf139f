// Decides how many bytes may be in flight to a peer (the window), and how fast they leave. The measured delay
// controls both, as in LEDBAT (RFC 6817) and Swift (SIGCOMM 2020). Below, the line is the network link that
// limits the rate, and a host "reads late" if it does not read packets as soon as they arrive.
//
// - The aim is that round trips exceed the least one by `target_ns`, because packets wait in queues. This
//   delay is long enough to keep the line busy while a host does not read for a moment, and for a message of
//   64 KiB to leave at once at 1 Gbit/s. It is too short to fill a switch's queue. Several senders thus share
//   a line, each adding little to its queue, and no packet need be lost to find the limit. When many senders
//   share one line, their windows are small and cannot control the delay as exactly. The target is therefore
//   higher for small windows: `scale` over the square root of the window in packets, times `target_ns`, is
//   added (Swift's flow scaling).
// - The window is adapted once per round trip (a round), by the least delay seen in the round, since a host
//   that reads late lengthens delays but never shortens them. Below the target, the window grows by `gain`
//   packets, if it limited what was in flight in this round. Above the target, the window shrinks, but at
//   most by half and to no less than two packets. The fraction by which it shrinks is four fifths of
//   (delay - target) / delay.
// - A receiver that reads late states how long the packet may have waited to be read (`away` of an
//   acknowledgement: the receiver's absence). This part of a delay is not due to a queue in the network. What
//   counts is the least delay of the round less the least absence, so one packet that is read in time shows
//   the queue. A receiver that always reads late cannot state which part of a delay was due to a queue. If
//   several processes send to such a receiver, it limits the queue itself, by grants (grants.h).
// - At first, and after a collapse, the window doubles in each round trip until the delay is half the target.
// - A loss proves little: cables, radios and full rings of receivers lose packets although no queue is full.
//   A loss shrinks the window only if there is delay too (again the least of the round), or if more than an
//   eighth of the packets was lost, on average over about the last 64. No network loses that many at random,
//   but a queue that is too short for the target does. The window shrinks at most once per round trip, for
//   all reasons together.
// - If several probes in a row are not answered, the window falls to its smallest value until something is
//   answered. Then it doubles as long as the delay permits, at least up to its earlier value, since a peer
//   that answers again was usually only absent.
// - If the receiver grants windows because several processes send to it (grants.h), the receiver limits the
//   queue. The delay then depends more on hosts that read late, and on answers that wait behind data where
//   all processes send to all. The target is then `granted_more` times as high.
// - What was learned becomes outdated soon: other senders to the same peer may have begun, each with the
//   window that it had when it was alone. For each `old_after_ns` in which nothing was in flight, the window
//   is therefore halved (RFC 2861), down to the first window. The first window is small enough: four of them
//   fit into a queue of 128 KiB beside a sender that sends already. Afterwards the window doubles again up to
//   its earlier value. The window that the receiver granted is forgotten at the same time.
//
// Pacing: a window is spread over its round trip, in bursts of at most `burst` bytes, a little faster than
// the window alone would allow, so that the window remains the limit. If the receiver grants, several senders
// share the queue, and bursts are short so that those of all senders fit. If a round trip is longer than the
// least one by more than `paced_queues` targets, the excess is not due to a queue: the peer or this process
// did not read for a while. Spreading a window over the excess would only lengthen the delay.
// This object is small, since each known peer has one. Thread rule: the owner of the flow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "path/dgram/round_trip.h"

namespace lanyard::dgram {

struct CongestionLimits {
    uint64_t target_ns = 400'000;
    uint32_t first_window = 12 * KiB;  // or first_packets packets, if these are longer
    uint32_t first_packets = 4;
    uint64_t old_after_ns = 4'000'000;
    uint32_t most_window = 8 * MiB;
    uint32_t burst = 64 * KiB;
    uint32_t granted_burst = 8 * KiB;   // used instead of `burst` if the receiver grants
    uint32_t gain = 2;                  // growth of the window in packets per round trip
    double scale = 3;                   // factor of what is added to the target for small windows
    uint32_t granted_more = 5;          // factor of the target if the receiver grants
    // A window is spread over the round trip, but over no more than the least round trip plus this many
    // targets.
    uint32_t paced_queues = 2;
};

class Congestion {
public:
    // `packet`: the maximum length of a packet.
    Congestion(const CongestionLimits &limits, size_t packet)
        : window_(first_window(packet, limits)), threshold_(limits.most_window) {}

    uint32_t window() const { return window_; }
    // States whether the receiver limits how much may be in flight.
    void granted(bool is) { granted_ = is; }
    bool doubling() const { return window_ < threshold_; }
    // States which part of the latest round trip may be the receiver's absence. Must be called before
    // acknowledged().
    void absent(uint16_t us) { absent_us_ = us; }
    // Called when `bytes` bytes in `packets` packets were acknowledged by one acknowledgement. `in_flight`
    // bytes were in flight before. `trip` already includes this answer.
    void acknowledged(size_t bytes, uint32_t packets, size_t in_flight, const RoundTrip &trip, size_t packet,
                      const CongestionLimits &limits, uint64_t now_ns);
    void lost(uint32_t packets, const RoundTrip &trip, size_t packet, const CongestionLimits &limits,
              uint64_t now_ns);
    // Called when nothing is in flight. If nothing has been in flight for so long that what was learned is
    // outdated, shrinks the window and returns true.
    bool forget_if_outdated(size_t packet, const CongestionLimits &limits, uint64_t now_ns);
    // Called when several probes in a row were not answered.
    void silent(size_t packet, const CongestionLimits &limits);

    // The time that sending this number of bytes should take; 0: there is no reason to wait.
    uint64_t spacing_ns(size_t bytes, const RoundTrip &trip, const CongestionLimits &limits) const {
        if (!trip.known()) return 0;
        uint64_t quicker = doubling() ? 2 : 1;  // the factor 4 / 5 makes both rates a quarter higher
        uint64_t trip_ns =
            std::min(trip.smoothed_ns(), trip.least_ns() + limits.paced_queues * limits.target_ns);
        return static_cast<uint64_t>(bytes) * trip_ns * 4 / (5 * quicker * window_);
    }

private:
    static constexpr uint32_t one = 1 << 16;  // the value of loss_ if all packets are lost
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
    uint32_t threshold_;                    // the window doubles below this
    uint32_t loss_ = 0;                     // the averaged share of lost packets
    uint32_t round_least_ns_ = UINT32_MAX;  // the least queueing delay in this round
    uint8_t round_samples_ = 0;             // counted up to enough_samples
    bool pressed_ = false;                  // the window limited what was in flight in this round
    bool granted_ = false;                  // the receiver limits what is in flight too
    // Absence of the receiver: the latest, and the least in this round.
    uint16_t absent_us_ = 0, round_absent_us_ = UINT16_MAX;
    uint64_t round_ends_ns_ = 0;
    uint64_t shrunk_ns_ = 0;  // the window does not shrink again before this time
};

}  // namespace lanyard::dgram
