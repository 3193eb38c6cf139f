// Decides how long the packets to a peer may be. The endpoint knows what the host's own network link carries,
// and learns more if routers report it. A route may also drop long packets silently (a smaller MTU on the way
// whose ICMP is blocked: a black hole). This class detects a black hole by the lengths of the packets that
// arrive and of those that do not. The method is that of RFC 8899, but without separate test packets: the
// flow's own packets serve, since lost contents are sent again anyway.
//
//   0 ... least_packet ...... fits ......... fails ... limit (the endpoint's)
//                             used           believed to be dropped; limit + 1: no length is
//
// fits is never more than the limit, which may become lower at any time.
//
// A black hole must be distinguished from a route that loses packets of any length at random. On such a
// route, the probability that n long packets in a row are all lost is the nth power of the share of lost
// packets. This share is measured with short packets, and with long packets where long packets do arrive.
// - Suspicion: a black hole is suspected under three conditions. So many long packets in a row were lost that
//   chance would cause this once in a million at the measured share (6 packets or more; 31 suffice at any
//   share). No packet of that length has arrived since the first of these losses. `few` shorter packets have
//   arrived since then. An unanswered packet proves nothing, since its answer may have been lost. Only two
//   kinds of packets therefore count as lost: packets that later ones overtook, and packets that were
//   outstanding alone. (Even if everything is lost, shorter packets are sent: after three probes in a row
//   without an answer, all packets are short.)
// - After a suspicion, packets have the longest length that arrived. The limit is tried at once: if one
//   packet of this length arrives, the suspicion was wrong. Otherwise trials of lengths in between, one at a
//   time, narrow the gap between the longest length that fits and the shortest that does not. A trial that
//   arrives raises `fits`. A series of lost trials (four fewer than for a suspicion, at most 15) lowers
//   `fails`.
// - The limit is tried again after half a second, then after 2 seconds, then every 30 seconds, since routes
//   change and suspicions may be wrong.
// This object is small, since each known peer has one. Thread rule: the owner of the flow.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "path/dgram/packet.h"

namespace lanyard::dgram {

class PacketSize {
public:
    explicit PacketSize(size_t limit) { set_limit(limit); }

    // Sets the endpoint's limit.
    void set_limit(size_t bytes) {
        auto limit = static_cast<uint16_t>(std::clamp(bytes, least_packet, most_packet));
        if (limit == limit_) return;
        bool was_right = fits_ == limit_ || limit < fits_;
        limit_ = limit;
        if (was_right) fits_ = limit;
        fails_ = static_cast<uint16_t>(std::min<uint32_t>(was_right ? limit + 1u : fails_, limit + 1u));
    }
    // The length that is used, except for trials.
    size_t usual() const { return fits_; }
    // Are longer packets known not to arrive although the endpoint accepts them?
    bool finds_a_hole() const { return fits_ < limit_ && fails_ <= limit_; }
    // The length of the next packet, after this number of probes in a row without an answer. A packet that is
    // longer than usual() is a trial. If it is time to try the limit again, this call decides so.
    size_t next(uint32_t probes, uint64_t now_ns) {
        if (probes >= 3) return least_packet;
        if (fits_ == limit_ || trying_) return fits_;
        if (fails_ > fits_ + close_enough) return fails_ > limit_ ? limit_ : (fits_ + fails_) / 2u;
        if (((ticks(now_ns) - found_) & most_ticks) < pauses[failures_]) return fits_;
        failures_ += failures_ + 1u < pauses.size();
        fails_ = static_cast<uint16_t>(limit_ + 1);
        return limit_;
    }
    // sent(): called when a packet of this length has been sent. not_sent(): called when the packet was not
    // sent after all, or when its fate is unknown.
    void sent(size_t bytes) { if (bytes > fits_) trying_ = true; }
    void not_sent(size_t bytes) { if (bytes > fits_) trying_ = false; }
    // Called when a packet of this length has arrived.
    void received(size_t bytes) {
        if (bytes > fits_) {
            // A packet that was sent under a higher limit may arrive late.
            fits_ = static_cast<uint16_t>(std::min<size_t>(bytes, limit_));
            fails_ = std::max<uint16_t>(fails_, static_cast<uint16_t>(fits_ + 1));
            trying_ = false;
            lost_trials_ = 0;
        }
        if (lost_ == 0 || bytes >= shortest_lost_) {
            for (uint32_t i = 0; i < lost_; ++i) one_more_lost();
            share_ -= (share_ + 15u) / 16;
            forget();
        } else {
            longest_arrived_ = std::max(longest_arrived_, static_cast<uint16_t>(bytes));
            arrived_ += arrived_ < few;
        }
    }
    // Called when a packet of this length was given up.
    void lost(size_t bytes, uint64_t now_ns) {
        if (bytes > fits_) return trial_lost(bytes, now_ns);
        if (bytes <= least_packet) return one_more_lost();
        shortest_lost_ = std::min(shortest_lost_, static_cast<uint16_t>(bytes));
        lost_ += lost_ < most_lost;
        if (lost_ < run() || arrived_ < few || shortest_lost_ <= longest_arrived_) return;
        fails_ = static_cast<uint16_t>(limit_ + 1);
        fits_ = std::max<uint16_t>(longest_arrived_, least_packet);
        found_ = ticks(now_ns) & most_ticks;
        failures_ = 0;
        trying_ = false;
        lost_trials_ = 0;
        forget();
    }

private:
    static constexpr uint8_t few = 2, most_lost = 31, most_share = 127;
    static constexpr uint32_t close_enough = 16;
    static constexpr uint16_t most_ticks = (1 << 11) - 1;
    static constexpr std::array<uint8_t, 3> pauses = {2, 8, 112};  // half a second, 2 and 30 seconds
    // How many losses in a row chance causes only once in a million, but at most most_lost. The index is the
    // share of lost packets, in sixteenths.
    static constexpr std::array<uint8_t, 16> runs = {6,  7,  9,  10, 12, 15, 17, 20,
                                                     25, 30, 31, 31, 31, 31, 31, 31};

    // The time in units of about a quarter of a second. In 11 bits, the same value returns after 9 minutes.
    static uint16_t ticks(uint64_t ns) { return static_cast<uint16_t>(ns >> 28); }
    uint8_t run() const { return runs[share_ / 8u]; }

    // Counts a loss in share_, which is averaged over about the last sixteen packets.
    void one_more_lost() { share_ += (most_share - share_ + 15u) / 16; }
    void trial_lost(size_t bytes, uint64_t now_ns) {
        trying_ = false;
        if (++lost_trials_ < std::min(run() - 4, 15)) return;
        lost_trials_ = 0;
        fails_ = std::min(fails_, static_cast<uint16_t>(bytes));
        found_ = ticks(now_ns) & most_ticks;
    }
    void forget() {
        lost_ = arrived_ = 0;
        shortest_lost_ = UINT16_MAX;
        longest_arrived_ = 0;
    }

    uint16_t limit_ = 0, fits_ = 0, fails_ = 0;
    // The length of the shortest long packet that was lost, and of the longest shorter packet that arrived.
    // These two, lost_ and arrived_ begin anew whenever a packet arrives that is as long as the lost ones.
    uint16_t shortest_lost_ = UINT16_MAX, longest_arrived_ = 0;
    uint16_t found_ : 11 = 0;    // when the latest suspicion, or series of lost trials, was found, in ticks
    uint16_t failures_ : 2 = 0;  // index in `pauses`: how often the limit was tried again since the suspicion
    uint16_t arrived_ : 2 = 0;   // number of shorter packets that arrived, counted up to `few`
    bool trying_ : 1 = false;    // a trial (a packet longer than fits_) is in flight
    uint16_t lost_ : 5 = 0;      // number of long packets that were lost, counted up to most_lost
    uint16_t lost_trials_ : 4 = 0;
    uint16_t share_ : 7 = 0;  // share of lost packets, in 1/128; does not include losses counted in lost_ yet
};
static_assert(sizeof(PacketSize) <= 14);

}  // namespace lanyard::dgram
