// How a rank reaches the others of its node beside the area they share: it wakes those who may sleep, and reads their memory. The
// node's shared memory path provides it; without one (ranks of a test that never sleep) nothing is told and nothing can be read.
// Called by the engine's owner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace lanyard {

class NodeReach {
public:
    virtual ~NodeReach() = default;
    // Who falls asleep sees what others stored before that, without a barrier of theirs (base/sleep_word.h). Set once, alike for all peers.
    bool sleepers_make_barriers = false;
    // May this peer sleep without having seen what the caller has stored? Else it sees that before it falls asleep.
    virtual bool asleep(uint32_t peer) = 0;
    virtual void wake(uint32_t peer) = 0;
    // Copies from the memory of a peer's process. Only where Team::direct_reads says so.
    virtual Error read(uint32_t peer, uint64_t address, std::byte *to, size_t bytes) = 0;
    // New zeroed memory, on a line, which all of the node find by this offset; nullptr: there is none. It is never given
    // back. And such memory of another process, which is there.
    virtual std::byte *share(size_t, uint64_t &) { return nullptr; }
    virtual std::byte *at(uint64_t, size_t) { return nullptr; }
};

}  // namespace lanyard
