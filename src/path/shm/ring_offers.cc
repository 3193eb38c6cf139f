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
        part(member);
        return nullptr;
    }
    Ring *ring = new (memory) Ring;
    MemberControl &peer = segment_.member(member);
    peer.ring_from[own_].store(offset, std::memory_order_release);
    peer.inbox.arrivals.fetch_add(1, std::memory_order_release);
    return ring;
}

// Increments the inbox of this process too, so that its next poll reports the loss.
void RingOffers::part(uint32_t member) {
    MemberControl &peer = segment_.member(member);
    members_[member].parted = true;
    peer.ring_from[own_].store(MemberControl::no_room, std::memory_order_release);
    peer.inbox.arrivals.fetch_add(1, std::memory_order_release);
    self_.inbox.arrivals.fetch_add(1, std::memory_order_release);
    wake_if_asleep(peer.sleep);
}

bool RingOffers::is_offered_by(uint32_t member) const {
    return offer_of(member) > MemberControl::no_room && !members_[member].met && !members_[member].unseen;
}

Ring *RingOffers::accept(uint32_t member) {
    std::byte *memory = map(offer_of(member));
    if (!memory) {
        fail_to_accept(member);
        return nullptr;
    }
    members_[member].met = true;
    return reinterpret_cast<Ring *>(memory);
}

void RingOffers::fail_to_accept(uint32_t member) {
    members_[member].unseen = true;
    part(member);
}

bool RingOffers::becomes_lost(uint32_t member) {
    Member &known = members_[member];
    if (known.lost || !(known.parted || offer_of(member) == MemberControl::no_room)) return false;
    return known.parted = known.lost = true;
}

Error RingOffers::why_lost(uint32_t member) const {
    if (!members_[member].unseen) return segment_.no_room_for_ring();
    return Error(ErrorClass::no_mem, "a ring of " + std::to_string(ring_bytes / 1024) +
                                         " KiB of shared memory cannot be mapped: " + system_text(ENOMEM) +
                                         "; raise the limit of addresses (ulimit -v)");
}

}  // namespace lanyard
