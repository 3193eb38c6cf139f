// An optional interface of paths (path.h). It is for paths that can read and write the memory of a peer
// without help from the peer. Such a path also derives from DirectMemory and stores its own address in
// PathInfo::memory. Each function has a default, which states that the path cannot do what the function is
// for. The other paths use only these defaults (NoDirectMemory).
// Thread rule: the owner of the engine.
// Tested by: tests/conformance/conformance_test.cc, tests/sim/write_test.cc.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace lanyard {

constexpr uint32_t shared_words = 64;  // how many shared words each process has

class DirectMemory {
public:
    // May get() and put() be called for this peer? These calls may still fail, for instance at an address
    // that cannot be accessed.
    virtual bool touches(uint32_t /*peer*/) { return false; }
    // get() copies `bytes` bytes from `remote_address` in the peer to the local runs (contiguous pieces of
    // memory, with `bytes` bytes in all). put() copies in the other direction. Both copy everything or return
    // an error, after which some of the bytes may have been copied; the caller then uses another copy method.
    virtual Error get(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes);
    virtual Error put(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes);

    // Returns the address at which this process has the peer's memory mapped. For memory of this process
    // itself, returns `address` if the peers can map that memory. Returns nullptr if there is no such
    // mapping. get() and put() use mappings by themselves.
    virtual std::byte *mapped(uint32_t /*peer*/, uint64_t /*address*/, size_t /*bytes*/) { return nullptr; }

    // A word that this process and its peers can change atomically; nullptr if the path has none. `owner`:
    // the peer to which the word belongs. `index` is below shared_words.
    virtual std::atomic<uint64_t> *shared_word(uint32_t /*owner*/, uint32_t /*index*/) { return nullptr; }

protected:
    ~DirectMemory() = default;
};

// Used by paths without the interface.
class NoDirectMemory final : public DirectMemory {};
inline NoDirectMemory no_direct_memory;

}  // namespace lanyard
