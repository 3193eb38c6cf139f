// Measures how long the peer's answers take: the smoothed time (RFC 6298), the longest of recent times, and
// the least of the last seconds. The least is the delay of the network without queues. Anything above it is
// queueing delay (congestion.h). The longest is adopted at once and forgotten slowly, because rare delays
// recur: queues fill, and a host with more work than processors answers late again and again. If the mean
// deviation were used instead of the longest, each such delay would look like a loss.
// Packet numbers are never used twice, so each sample belongs to one packet (no ambiguity after a loss). The
// receiver, which is proven to be of this job, states how long it held the acknowledgement back. Times have
// 32 bits: 4 s is the longest that can be represented.
// Thread rule: the owner of the flow; smoothed_ns() and least_ns() by any thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/tally.h"

namespace lanyard::dgram {

class RoundTrip {
public:
    bool known() const { return smoothed_ > 0; }
    uint64_t smoothed_ns() const { return smoothed_; }
    uint64_t least_ns() const { return std::min<uint32_t>(least_, least_before_); }

    // Called when a packet was answered. `kept_back_ns`: for how long the receiver held the answer back, as
    // it states.
    void add(uint64_t took_ns, uint64_t kept_back_ns, uint64_t now_ns) {
        auto sample = static_cast<uint32_t>(
            std::clamp<uint64_t>(took_ns - std::min(took_ns, kept_back_ns), 1, UINT32_MAX));
        forget(now_ns);
        least_ = std::min<uint32_t>(least_, sample);
        latest_ = sample;
        uint64_t kept_back_us = std::min<uint64_t>(kept_back_ns / 1000, UINT16_MAX);
        kept_back_us_ =
            static_cast<uint16_t>(std::max<uint64_t>(kept_back_us, kept_back_us_ - kept_back_us_ / 8u));
        if (!known()) {
            smoothed_ = sample;
            longest_ = 2 * std::min(sample, UINT32_MAX / 2);  // the longest is not known yet
            return;
        }
        smoothed_ = std::max<uint32_t>(1, smoothed_ - smoothed_ / 8 + sample / 8);
        longest_ =
            std::max({sample, uint32_t{smoothed_},
                      longest_ - (longest_ - std::min(longest_, uint32_t{smoothed_})) / longest_memory});
    }
    // Called when the peer did not read for this time although more than one probe was sent. The peer may do
    // so again.
    void expect_absence(uint16_t us) { kept_back_us_ = std::max(kept_back_us_, us); }
    uint64_t latest_ns() const { return latest_; }
    // How much longer the latest time is than the least.
    uint64_t queueing_ns() const { return latest_ - std::min<uint64_t>(latest_, least_ns()); }

    // A packet of this age counts as lost if a later packet was answered.
    uint64_t loss_age_ns() const {
        uint64_t base = std::max<uint32_t>(smoothed_, latest_);
        return base + std::max<uint64_t>(base / 8, least_age_ns);
    }
    // If nothing is answered for this time, something must be wrong. `kept_back_ns`: the longest time for
    // which a receiver usually holds an acknowledgement back. If this receiver has recently taken longer, its
    // longer time is used instead. `unknown_ns`: the result while no round trip is known.
    uint64_t probe_after_ns(uint64_t kept_back_ns, uint64_t unknown_ns) const {
        if (!known()) return unknown_ns;
        return smoothed_ +
               std::max<uint64_t>(2 * (uint64_t{longest_} - std::min<uint32_t>(longest_, smoothed_)),
                                  least_age_ns) +
               std::max(kept_back_ns, kept_back_us_ * uint64_t{1000});
    }

private:
    static constexpr uint64_t memory_ns = 10'000'000'000;  // the least is remembered for at least this time
    static constexpr uint64_t least_age_ns = 20'000;       // uncertainty of clocks and polls
    // With each sample, the difference between longest_ and smoothed_ shrinks by one part in this many.
    static constexpr uint32_t longest_memory = 32;

    void forget(uint64_t now_ns) {
        auto now = static_cast<uint16_t>(now_ns >> 24);
        if (static_cast<uint16_t>(now - since_) < memory_ns >> 24) return;
        since_ = now;
        least_before_ = uint32_t{least_};
        least_ = UINT32_MAX;
    }

    // least_: the least time since `since_`. least_before_: the least time in the period before that.
    Tally<uint32_t> smoothed_, least_{UINT32_MAX}, least_before_{UINT32_MAX};
    uint32_t longest_ = 0, latest_ = 0;
    uint16_t since_ = 0;         // in units of 2^24 ns; the same value returns after 18 minutes
    uint16_t kept_back_us_ = 0;  // how long the peer held answers back or did not read, the longest lately
};

}  // namespace lanyard::dgram
