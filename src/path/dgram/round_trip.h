// How long the peer's answer takes: smoothed (RFC 6298), the longest of late, and the least of the last seconds, which is the way without queues;
// what is above that is queueing delay (congestion.h). The longest is taken over at once and forgotten slowly, as what is rare is no less usual:
// queues fill, and a host that has more to do than processors answers late again and again; by the mean deviation each time would look like a
// loss.
// Packet numbers are never used twice, so each sample is of one packet (no ambiguity after a loss), and the receiver, which is proven to be one of
// us, says how long it kept the acknowledgement back. Times in 32 bits: 4 s are the most that is told apart.
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

    // Of a packet that was answered; `kept_back_ns` by the receiver, as it says.
    void add(uint64_t took_ns, uint64_t kept_back_ns, uint64_t now_ns) {
        auto sample = static_cast<uint32_t>(std::clamp<uint64_t>(took_ns - std::min(took_ns, kept_back_ns), 1, UINT32_MAX));
        forget(now_ns);
        least_ = std::min<uint32_t>(least_, sample);
        latest_ = sample;
        uint64_t kept_back_us = std::min<uint64_t>(kept_back_ns / 1000, UINT16_MAX);
        kept_back_us_ = static_cast<uint16_t>(std::max<uint64_t>(kept_back_us, kept_back_us_ - kept_back_us_ / 8u));
        if (!known()) {
            smoothed_ = sample;
            longest_ = 2 * std::min(sample, UINT32_MAX / 2);  // nobody knows yet
            return;
        }
        smoothed_ = std::max<uint32_t>(1, smoothed_ - smoothed_ / 8 + sample / 8);
        longest_ = std::max({sample, uint32_t{smoothed_}, longest_ - (longest_ - std::min(longest_, uint32_t{smoothed_})) / longest_memory});
    }
    // The peer did not look for so long, though it was asked more than once: it may do so again.
    void expect_absence(uint16_t us) { kept_back_us_ = std::max(kept_back_us_, us); }
    uint64_t latest_ns() const { return latest_; }
    // Above the least, now.
    uint64_t queueing_ns() const { return latest_ - std::min<uint64_t>(latest_, least_ns()); }

    // An earlier packet is lost when a later one was answered and it is so old.
    uint64_t loss_age_ns() const {
        uint64_t base = std::max<uint32_t>(smoothed_, latest_);
        return base + std::max<uint64_t>(base / 8, least_age_ns);
    }
    // Nothing answered for so long: something must be wrong. `kept_back_ns`: the most that a receiver usually keeps an acknowledgement back; this one
    // may have done otherwise.
    uint64_t probe_after_ns(uint64_t kept_back_ns, uint64_t unknown_ns) const {
        if (!known()) return unknown_ns;
        return smoothed_ + std::max<uint64_t>(2 * (uint64_t{longest_} - std::min<uint32_t>(longest_, smoothed_)), least_age_ns) +
               std::max(kept_back_ns, kept_back_us_ * uint64_t{1000});
    }

private:
    static constexpr uint64_t memory_ns = 10'000'000'000;  // of the least, at least
    static constexpr uint64_t least_age_ns = 20'000;       // what clocks and polls are uncertain by
    static constexpr uint32_t longest_memory = 32;         // samples

    void forget(uint64_t now_ns) {
        auto now = static_cast<uint16_t>(now_ns >> 24);
        if (static_cast<uint16_t>(now - since_) < memory_ns >> 24) return;
        since_ = now;
        least_before_ = uint32_t{least_};
        least_ = UINT32_MAX;
    }

    Tally<uint32_t> smoothed_, least_{UINT32_MAX}, least_before_{UINT32_MAX};  // the least since since_, and in the time before
    uint32_t longest_ = 0, latest_ = 0;
    uint16_t since_ = 0;                                       // in 2^24 ns: the same comes again after 18 minutes
    uint16_t kept_back_us_ = 0;                                // by the peer, the most of lately
};

}  // namespace lanyard::dgram
