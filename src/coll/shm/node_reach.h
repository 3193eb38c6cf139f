// The interface by which a rank reaches the other ranks of its node, apart from the node area: it wakes ranks
// that may sleep, and reads their memory. The node's shared-memory path implements the interface. A test
// whose ranks never sleep may do without this interface; then no rank is woken, and no memory can be read.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/shm/node_area_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace lanyard {

class NodeReach {
public:
    virtual ~NodeReach() = default;
    // true: a rank that falls asleep makes sure that it sees what other ranks have stored, so the other ranks
    // need no memory fence after their stores (base/sleep_word.h). The value is set once, and is the same for
    // all peers.
    bool sleepers_make_barriers = false;
    // May this peer be asleep without having seen what the caller has stored? False: the peer will see the
    // store before it falls asleep.
    virtual bool asleep(uint32_t peer) = 0;
    virtual void wake(uint32_t peer) = 0;
    // Copies from the memory of a peer's process. Requires Team::direct_reads.
    virtual Error read(uint32_t peer, uint64_t address, std::byte *to, size_t bytes) = 0;
    // The address at which the caller has these bytes of a peer's memory mapped (MPI_Alloc_mem). For memory
    // of the caller itself: its address if the other processes of the node can map it. nullptr: there is no
    // such mapping. read() uses mappings by itself, and is then a copy without the kernel.
    virtual const std::byte *mapped(uint32_t /*peer*/, uint64_t /*address*/, size_t /*bytes*/) {
        return nullptr;
    }
    // share() returns new zeroed memory, aligned to a cache line, and the offset by which all processes of
    // the node find it. The memory is never freed. share() returns nullptr if there is no memory. at() finds
    // the memory that another process has shared, by offset and size; this memory must exist.
    virtual std::byte *share(size_t, uint64_t &) { return nullptr; }
    virtual std::byte *at(uint64_t, size_t) { return nullptr; }
};

}  // namespace lanyard
