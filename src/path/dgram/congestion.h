// How many bytes may be on their way to a peer, and how fast they go out. By delay, in the manner of LEDBAT (RFC 6817) and Swift (SIGCOMM 2020):
//
// - The aim is a queueing delay of `target_ns` above the least round trip: enough to keep the line busy while a host does not look for a moment, and
//   for a message of 64 KiB to leave at once at 1 Gbit/s; too little to fill a switch's queue. So several senders share a line by each adding
//   little to its queue, and nothing need be lost to find the limit. Many that share one have small windows and cannot be that exact: the
//   target is higher for them, by `scale` over the square root of the window in packets (Swift's flow scaling).
// - Judged once a round trip, by the least delay that was seen in it, as a host that was late to look makes delays but never shortens them. Below the
//   target the window grows by `gain` packets; above, it shrinks by the share of the delay that is too much, at most by half.
// - A receiver that looks late says how long what it reads may have waited for that (`away` of an acknowledgement): so much of a delay is no queue
//   before it. What counts is the least delay of the round less the least of these absences, so one look in time shows the queue. A receiver
//   that is always late cannot tell what of it was queue; where several send to one, it bounds that queue itself, by grants.
// - At first, and after a collapse, it doubles in a round trip until the delay is half the target.
// - A loss says little: cables, radios and full rings of receivers lose packets without being busy. The window shrinks for it only where there is
//   delay too, again by the least of the round, or where the share of lost packets, averaged over the last 64 or so, is above an eighth: no
//   network is so bad at random, but a queue that is shorter than the target is. At most once a round trip, whatever the reasons.
// - Nothing at all came back through several probes: one packet at a time, until something does. Then it doubles, as long as delay allows, up to
//   what it was before at least: who answers had mostly been away.
// - Where the receiver grants windows as several send to it (grants.h), it bounds the queue before it: then delay says more of hosts that look
//   late, and of answers that wait behind data where everybody sends to everybody. Only `granted_more` times the target is too much.
// - What was learned is soon old: meanwhile others may have begun to send to the same peer, each with the window that it had when it was alone.
//   So for each `old_after_ns` in which nothing was on its way the window is halved (RFC 2861), down to the first, of which four at once, beside
//   one who sends already, fit into a queue of 128 KiB; up to what it was before it doubles again. What the receiver granted is forgotten with
//   it.
//
// Pacing: a window is spread over its round trip, in bursts of at most `burst` bytes, a little faster than the window alone would allow, so that
// it is the window which limits. Where the receiver grants, several share the queue before it, and their bursts are short so that they fit in
// between. What a round trip is longer than `paced_queues` targets above the least is no queue, but a peer, or this process, that did not look
// for long: to spread a window over that would only add to the absence. Small, as each known peer has one. Thread rule: the owner of the flow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "path/dgram/round_trip.h"

namespace lanyard::dgram {

struct CongestionLimits {
    uint64_t target_ns = 400'000;
    uint32_t first_window = 12 * 1024;  // or first_packets, where packets are long
    uint32_t first_packets = 4;
    uint64_t old_after_ns = 4'000'000;
    uint32_t most_window = 8 * 1024 * 1024;
    uint32_t burst = 64 * 1024;
    uint32_t granted_burst = 8 * 1024;  // where the receiver grants
    uint32_t gain = 2;  // packets a round trip
    double scale = 3;  // of the target, for small windows
    uint32_t granted_more = 5;  // times the target, where the receiver grants
    uint32_t paced_queues = 2;   // times the target, that may be part of a round trip over which a window is spread
};

class Congestion {
public:
    // `packet`: bytes of the largest.
    Congestion(const CongestionLimits &limits, size_t packet) : window_(first_window(packet, limits)), threshold_(limits.most_window) {}

    uint32_t window() const { return window_; }
    // The receiver says how much may be on its way, or that anything may.
    void granted(bool is) { granted_ = is; }
    bool doubling() const { return window_ < threshold_; }
    // Of the latest round trip so much may be the receiver's absence; before acknowledged().
    void absent(uint16_t us) { absent_us_ = us; }
    // Bytes that were acknowledged at once, in `packets`; before that, `in_flight` were on their way. The round trip knows of them already.
    void acknowledged(size_t bytes, uint32_t packets, size_t in_flight, const RoundTrip &trip, size_t packet, const CongestionLimits &limits,
                      uint64_t now_ns);
    void lost(uint32_t packets, const RoundTrip &trip, size_t packet, const CongestionLimits &limits, uint64_t now_ns);
    // Nothing is on its way. Has nothing been for so long that what was learned is old? Then the window becomes smaller.
    bool rested(size_t packet, const CongestionLimits &limits, uint64_t now_ns);
    // Probes in a row were not answered.
    void silent(size_t packet, const CongestionLimits &limits);

    // How long the line should take for so many bytes; 0: no reason to wait.
    uint64_t spacing_ns(size_t bytes, const RoundTrip &trip, const CongestionLimits &limits) const {
        if (!trip.known()) return 0;
        uint64_t quicker = doubling() ? 2 : 1;  // and a quarter more
        uint64_t trip_ns = std::min(trip.smoothed_ns(), trip.least_ns() + limits.paced_queues * limits.target_ns);
        return static_cast<uint64_t>(bytes) * trip_ns * 4 / (5 * quicker * window_);
    }

private:
    static constexpr uint32_t one = 1 << 16;  // of loss_
    static constexpr uint8_t enough_samples = 3;

    void end_round(const RoundTrip &trip, size_t packet, const CongestionLimits &limits, uint64_t now_ns);
    // Of the round, as far as it is not the receiver's absence.
    uint64_t delay_ns() const { return round_least_ns_ - std::min(round_least_ns_, round_absent_us_ * uint32_t{1000}); }
    uint64_t without_absence(uint64_t delay_ns) const { return delay_ns - std::min(delay_ns, absent_us_ * uint64_t{1000}); }
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
    uint8_t round_samples_ = 0;             // as far as they matter
    bool pressed_ = false;                  // the window limited what was on its way in this round
    bool granted_ = false;                  // the receiver limits it, too
    uint16_t absent_us_ = 0, round_absent_us_ = UINT16_MAX;  // the receiver: latest, and least in this round
    uint64_t round_ends_ns_ = 0;
    uint64_t shrunk_ns_ = 0;                // not again before
};

}  // namespace lanyard::dgram
