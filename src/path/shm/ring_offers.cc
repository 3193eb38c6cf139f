// See ring_offers.h.
#include "path/shm/ring_offers.h"

#include <cerrno>
#include <new>
#include <string>

namespace lanyard {

RingOffers::~RingOffers() {
    for (std::byte *ring : rings_) Segment::unmap(ring, ring_bytes);
}

std::byte *RingOffers::map(uint64_t offset) {
    std::byte *memory = segment_.map(offset, ring_bytes);
    if (memory) rings_.push_back(memory);
    return memory;
}

Ring *RingOffers::open(uint32_t member) {
    if (members_[member].parted) return nullptr;
    uint64_t offset = segment_.append_ring();
    std::byte *memory = offset ? map(offset) : nullptr;
    if (!memory) {
        if (offset) segment_.empty(offset, ring_bytes);
        part(member, offset ? MemberControl::no_addresses : MemberControl::no_room);
        return nullptr;
    }
    Ring *ring = members_[member].written = new (memory) Ring;
    MemberControl &peer = segment_.member(member);
    peer.ring_from[own_].store(offset, std::memory_order_release);
    peer.inbox.arrivals.fetch_add(1, std::memory_order_release);
    return ring;
}

// Increments the inbox of this process too, so that its next poll reports the loss.
void RingOffers::part(uint32_t member, uint64_t marks) {
    MemberControl &peer = segment_.member(member);
    members_[member].parted = true;
    peer.ring_from[own_].fetch_or(marks, std::memory_order_release);
    peer.inbox.arrivals.fetch_add(1, std::memory_order_release);
    self_.inbox.arrivals.fetch_add(1, std::memory_order_release);
    wake_if_asleep(peer.sleep);
}

bool RingOffers::is_offered_by(uint32_t member) const {
    return (offer_of(member) & ~MemberControl::marks) && !members_[member].met && !members_[member].unseen;
}

Ring *RingOffers::accept(uint32_t member) {
    std::byte *memory = map(offer_of(member) & ~MemberControl::marks);
    if (!memory) {
        fail_to_accept(member);
        return nullptr;
    }
    members_[member].met = true;
    return reinterpret_cast<Ring *>(memory);
}

void RingOffers::fail_to_accept(uint32_t member) {
    members_[member].unseen = true;
    part(member, MemberControl::no_addresses | MemberControl::unread);
}

bool RingOffers::becomes_lost(uint32_t member) {
    Member &known = members_[member];
    if (known.lost || !(known.parted || offer_of(member) & MemberControl::marks)) return false;
    return known.parted = known.lost = true;
}

Error RingOffers::why_lost(uint32_t member) const {
    uint64_t here = segment_.member(member).ring_from[own_].load(std::memory_order_relaxed);
    uint64_t there = offer_of(member);
    if (!((here | there) & MemberControl::no_addresses)) return segment_.no_room_for_ring();
    const char *who = here & MemberControl::no_addresses ? "this process" : "the other process";
    return Error(ErrorClass::no_mem, std::string(who) + " cannot map a ring of " +
                                         std::to_string(ring_bytes / 1024) + " KiB of shared memory: " +
                                         system_text(ENOMEM) + "; raise its limit of addresses (ulimit -v)");
}

}  // namespace lanyard
