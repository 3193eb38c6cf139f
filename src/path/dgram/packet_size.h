// How long the packets to a peer may be. The endpoint knows what the first link carries, and learns more where routers say so; one that swallows long
// packets without saying so (a smaller MTU on the way, whose ICMP is blocked: a black hole) is noticed here, by what comes and what does not
// (after RFC 8899, with the flow's own packets, as those that are lost are sent again anyway).
//
//   0 ... least_packet ...... fits ......... fails ... limit (the endpoint's)
//                             used           believed to be swallowed; limit + 1: nothing is
//
// - Suspicion: `many` packets were lost, none so long has come since the first of them, but `few` shorter ones have. A network that loses packets at
//   random would have to be very bad to do that; and a mistake costs little, as it is forgotten after a while. (Shorter ones exist where all
//   else is lost: after three probes in a row that nobody answered, packets are of the least size.)
// - Then the longest that came is used, and by packets of sizes between that and the shortest that did not, one at a time, the two are brought
//   together: one that comes raises `fits`, two lost in a row lower `fails`.
// - After retry_ns what failed is tried again, as routes change and suspicions may be wrong.
// Small, as each known peer has one. Thread rule: the owner of the flow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "path/dgram/packet.h"

namespace lanyard::dgram {

class PacketSize {
public:
    explicit PacketSize(size_t limit) { set_limit(limit); }

    // The endpoint's word.
    void set_limit(size_t bytes) {
        auto limit = static_cast<uint16_t>(std::clamp(bytes, least_packet, most_packet));
        if (limit == limit_) return;
        bool was_right = fits_ == limit_ || limit < fits_;
        limit_ = limit;
        if (was_right) fits_ = limit;
        fails_ = static_cast<uint16_t>(std::min<uint32_t>(was_right ? limit + 1u : fails_, limit + 1u));
    }
    // What is used, but for trials.
    size_t usual() const { return fits_; }
    // Of the next packet, after so many probes in a row without an answer.
    size_t next(uint32_t probes, uint64_t now_ns) {
        if (probes >= 3) return least_packet;
        if (fits_ == limit_ || trying_) return fits_;
        if (fails_ > fits_ + close_enough) return fails_ > limit_ ? limit_ : (fits_ + fails_) / 2u;
        if (static_cast<uint16_t>(ticks(now_ns) - found_) < ticks(retry_ns)) return fits_;
        fails_ = static_cast<uint16_t>(limit_ + 1);
        return limit_;
    }
    // A packet of so many bytes has been sent, or was not after all.
    void sent(size_t bytes) { if (bytes > fits_) trying_ = true; }
    void not_sent(size_t bytes) { if (bytes > fits_) trying_ = false; }
    // It has come.
    void came(size_t bytes) {
        if (bytes > fits_) {
            fits_ = static_cast<uint16_t>(bytes);
            fails_ = std::max<uint16_t>(fails_, static_cast<uint16_t>(fits_ + 1));
            trying_ = false;
            lost_trials_ = 0;
        }
        if (bytes >= shortest_lost_) {
            forget();
        } else if (lost_ > 0) {
            longest_came_ = std::max(longest_came_, static_cast<uint16_t>(bytes));
            came_ += came_ < few;
        }
    }
    // It was given up.
    void lost(size_t bytes, uint64_t now_ns) {
        if (bytes > fits_) return trial_lost(bytes, now_ns);
        if (bytes <= least_packet) return;
        shortest_lost_ = std::min(shortest_lost_, static_cast<uint16_t>(bytes));
        lost_ += lost_ < many;
        if (lost_ < many || came_ < few || shortest_lost_ <= longest_came_) return;
        fails_ = shortest_lost_;
        fits_ = std::max<uint16_t>(longest_came_, least_packet);
        found_ = ticks(now_ns);
        trying_ = false;
        lost_trials_ = 0;
        forget();
    }

private:
    static constexpr uint8_t many = 8, few = 2, trials = 2;  // below 16
    static constexpr uint32_t close_enough = 16;
    static constexpr uint64_t retry_ns = 30'000'000'000;

    // Of 17 ms; the same comes again after 18 minutes.
    static uint16_t ticks(uint64_t ns) { return static_cast<uint16_t>(ns >> 24); }

    void trial_lost(size_t bytes, uint64_t now_ns) {
        trying_ = false;
        if (++lost_trials_ < trials) return;
        lost_trials_ = 0;
        fails_ = std::min(fails_, static_cast<uint16_t>(bytes));
        found_ = ticks(now_ns);
    }
    void forget() {
        lost_ = came_ = 0;
        shortest_lost_ = UINT16_MAX;
        longest_came_ = 0;
    }

    uint16_t limit_ = 0, fits_ = 0, fails_ = 0;
    uint16_t shortest_lost_ = UINT16_MAX, longest_came_ = 0;  // since one so long has come
    uint16_t found_ = 0;                                      // when what failed last did, in ticks
    uint8_t lost_ : 4 = 0, came_ : 4 = 0;                     // since one so long has come
    uint8_t lost_trials_ : 4 = 0;
    bool trying_ : 1 = false;  // one longer than fits_ is on its way
};
static_assert(sizeof(PacketSize) <= 14);

}  // namespace lanyard::dgram
