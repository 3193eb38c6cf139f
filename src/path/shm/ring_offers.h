// How processes of a node come by the rings between them. Who sends to another for the first time makes the ring, stores where it is in the
// reader's part of the segment, and counts up the reader's inbox, where the next poll sees that something is new.
//
// - A ring stays mapped as long as this object lives, at both ends.
// - Room for all rings was there when the segment was made, but others may have taken it, and a process may have no addresses for a ring that
//   is there. Then the two are parted, for good: either side learns it by its inbox and reports the other as lost, once.
// - Only rings not yet made are missing then. What came before by the ring the other way is still read, where this process has it mapped.
// Thread rule: the owner of the engine; told() by any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "path/shm/segment.h"

namespace lanyard {

class RingOffers {
public:
    RingOffers(Segment &segment, uint32_t own) : segment_(segment), own_(own), self_(segment.member(own)) {}
    ~RingOffers();
    RingOffers(const RingOffers &) = delete;
    RingOffers &operator=(const RingOffers &) = delete;
    // There is a further member.
    void add_member() { members_.emplace_back(); }

    // A new ring to that member, which is told. nullptr: there is no room, now or before; the two are parted.
    Ring *open(uint32_t member);

    // Has somebody told something since note_news(), and how often has anybody?
    bool has_news() const { return self_.inbox.arrivals.load(std::memory_order_relaxed) != told(); }
    void note_news() { told_.store(self_.inbox.arrivals.load(std::memory_order_acquire), std::memory_order_relaxed); }
    uint32_t told() const { return told_.load(std::memory_order_relaxed); }

    // Has that member opened a ring to here which this process has not tried to accept yet?
    bool is_offered_by(uint32_t member) const;
    // That ring. nullptr: there are no addresses for it, and the two are parted.
    Ring *accept(uint32_t member);
    // The ring was accepted, but there is no room here for what belongs to it: the same.
    void fail_to_accept(uint32_t member);

    // Are the two parted, by either of them, so that it is to be reported now? From then on is_lost().
    bool becomes_lost(uint32_t member);
    bool is_lost(uint32_t member) const { return members_[member].lost; }
    Error why_lost(uint32_t member) const;

private:
    struct Member {
        bool parted = false;  // by this process
        bool lost = false;    // that they are parted, by either, has been reported
        bool met = false;     // its ring has been accepted, or
        bool unseen = false;  // cannot be
    };

    uint64_t offer_of(uint32_t member) const { return self_.ring_from[member].load(std::memory_order_acquire); }
    std::byte *map(uint64_t offset);
    void part(uint32_t member);

    Segment &segment_;
    const uint32_t own_;
    MemberControl &self_;
    std::vector<Member> members_;
    std::vector<std::byte *> rings_;  // mapped here, of both kinds
    std::atomic<uint32_t> told_{0};
};

}  // namespace lanyard
