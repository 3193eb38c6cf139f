// Holds the bulk that is being sent to all peers. Each payload has a slot, and its flow (flow.h) requests the
// bytes by the slot's number. Slots are reused.
// Thread rule: the owner of the engine.
#pragma once

#include <utility>
#include <vector>

#include "path/reliable/held_payload.h"

namespace lanyard::dgram {

class BulkSlots {
public:
    // The number of slots in use.
    size_t count() const { return slots_.size() - free_.size(); }
    // Takes a payload of at least one byte. Returns its slot.
    uint32_t take(uint32_t peer, Payload &payload, uint64_t token) {
        auto slot = static_cast<uint32_t>(slots_.size());
        if (free_.empty()) {
            slots_.emplace_back();
        } else {
            slot = free_.back();
            free_.pop_back();
        }
        slots_[slot].peer = peer;
        slots_[slot].payload.hold(payload, token);
        return slot;
    }
    const std::byte *data(uint64_t slot) const { return slots_[slot].payload.data(); }
    // Frees the slot, because the payload is no longer needed. Returns the payload's token.
    uint64_t release(uint64_t slot) {
        free_.push_back(static_cast<uint32_t>(slot));
        return slots_[slot].payload.release();
    }
    // Calls visit(slot) for each slot of this peer. visit() may release the slot.
    template <class Visit>
    void for_each_of(uint32_t peer, Visit visit) {
        for (size_t slot = 0; slot < slots_.size(); ++slot)
            if (slots_[slot].payload.data() && slots_[slot].peer == peer) visit(slot);
    }

private:
    struct Slot {
        HeldPayload payload;
        uint32_t peer = 0;
    };

    std::vector<Slot> slots_;
    std::vector<uint32_t> free_;
};

}  // namespace lanyard::dgram
