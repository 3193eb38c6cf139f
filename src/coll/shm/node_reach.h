// How a rank reaches the other ranks of its node apart from the area that they share: it wakes those that may
// sleep, and reads their memory. The node's shared-memory path provides it. Without it (ranks of a test that
// never sleep) none is woken and nothing can be read.
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace lanyard {

class NodeReach {
public:
    virtual ~NodeReach() = default;
    // A rank that falls asleep sees what others stored before, without a barrier on their side
    // (base/sleep_word.h). Set once, the same for all peers.
    bool sleepers_make_barriers = false;
    // May this peer sleep without having seen what the caller has stored? If not, it sees that before it
    // falls asleep.
    virtual bool asleep(uint32_t peer) = 0;
    virtual void wake(uint32_t peer) = 0;
    // Copies from the memory of a peer's process. Requires Team::direct_reads.
    virtual Error read(uint32_t peer, uint64_t address, std::byte *to, size_t bytes) = 0;
    // share(): new zeroed memory, aligned to a cache line, which all processes of the node find at this
    // offset. nullptr: there is none. It is never freed. at(): such memory of another process, which must
    // exist.
    virtual std::byte *share(size_t, uint64_t &) { return nullptr; }
    virtual std::byte *at(uint64_t, size_t) { return nullptr; }
};

}  // namespace lanyard
