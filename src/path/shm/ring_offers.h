// RingOffers creates the rings between the processes of a node. A process that sends to another for the first
// time creates the ring, stores the ring's offset in the reader's part of the segment, and increments the
// counter in the reader's inbox. The reader's next poll sees this.
//
// - A ring stays mapped at both ends as long as this object lives.
// - When the segment was created, there was room for the rings of all members at that time. But other memory
//   may have taken this room since, and a process may have no addresses left to map an existing ring. The two
//   processes are then parted: the one that fails marks this, with the reason, beside its own offer in the
//   inbox of the other. Each of them learns it from its inbox and reports the other process as lost, once.
// - Only a ring that is not in use yet can fail in this way. What arrives through the ring of the other
//   direction is still read, also after the loss was reported, if this process can map that ring.
// - Every ring is either read, or its reader marks that it will never read it. unread() then returns the ring
//   to the writer's side, which takes back the cells that are named in it.
// Thread rule: the owner of the engine.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "path/shm/segment.h"

namespace lanyard {

class RingOffers {
public:
    RingOffers(Segment &segment, uint32_t own) : segment_(segment), own_(own), self_(segment.member(own)) {}
    ~RingOffers();
    RingOffers(const RingOffers &) = delete;
    RingOffers &operator=(const RingOffers &) = delete;
    // Called when the segment has one more member.
    void add_member() { members_.emplace_back(); }

    // Creates a ring to that member, and notifies the member. Returns nullptr if the two processes are parted
    // already, or if there is no room, or if this process has no addresses for the ring. In each of these
    // cases the two processes are parted afterwards.
    Ring *open(uint32_t member);

    // has_news(): has any member changed the inbox since note_news()? note_news(): notes that the caller now
    // looks at all changes.
    bool has_news() const { return self_.inbox.arrivals.load(std::memory_order_relaxed) != told_; }
    void note_news() { told_ = self_.inbox.arrivals.load(std::memory_order_acquire); }

    // Has that member opened a ring to this process that accept() has not tried yet?
    bool is_offered_by(uint32_t member) const;
    // Maps that ring. Returns nullptr if this process has no addresses for the ring; the two processes are
    // then parted.
    Ring *accept(uint32_t member);
    // Called if the ring was accepted, but this process has no memory for the inlet that reads it. The two
    // processes are then parted too.
    void fail_to_accept(uint32_t member);

    // Has either side parted the two processes, and must this still be reported? If so, becomes_lost()
    // returns true once, and is_lost() holds from then on.
    bool becomes_lost(uint32_t member);
    bool is_lost(uint32_t member) const { return members_[member].lost; }
    Error why_lost(uint32_t member) const;
    // Returns the ring to a lost member if the member will never read it, once; else nullptr. The caller must
    // write no more into that ring once the member is lost.
    Ring *unread(uint32_t member) {
        Member &known = members_[member];
        bool is_marked = known.lost && (offer_of(member) & MemberControl::unread);
        return is_marked ? std::exchange(known.written, nullptr) : nullptr;
    }

private:
    struct Member {
        Ring *written = nullptr;  // the ring that open() has created
        bool parted = false;  // this process has parted the two processes, or has seen that the member did
        bool lost = false;    // becomes_lost() has returned true
        bool met = false;     // the member's ring has been accepted
        bool unseen = false;  // the member's ring cannot be accepted
    };

    // The offset of the member's ring, with the member's marks.
    uint64_t offer_of(uint32_t member) const {
        return self_.ring_from[member].load(std::memory_order_acquire);
    }
    std::byte *map(uint64_t offset);
    void part(uint32_t member, uint64_t marks);

    Segment &segment_;
    const uint32_t own_;
    MemberControl &self_;
    std::vector<Member> members_;
    std::vector<std::byte *> rings_;  // rings of both directions that are mapped here
    uint32_t told_ = 0;  // how often the inbox had changed at the last note_news()
};

}  // namespace lanyard
