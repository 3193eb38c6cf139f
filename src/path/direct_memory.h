// An optional part of a path (path.h): the memory of a peer can be read and written without its help. A path
// that can do this also derives from DirectMemory and names itself in its PathInfo. The defaults say that the
// path cannot, which is what a path without the interface says. Thread rule: the owner of the engine.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace lanyard {

constexpr uint32_t shared_words = 64;  // of each process

class DirectMemory {
public:
    // May get() and put() be called for this peer? They may still fail, for instance at an address that
    // cannot be accessed.
    virtual bool touches(uint32_t /*peer*/) { return false; }
    // Copy `bytes` between the local runs and the address in the peer. They copy everything or return an
    // error; the caller then uses another copy method.
    virtual Error get(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes);
    virtual Error put(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes);

    // The address in this process of memory of the peer, or of this process's own memory where its peers have
    // mapped it; nullptr if it is not mapped here. get() and put() use such mappings by themselves.
    virtual std::byte *mapped(uint32_t /*peer*/, uint64_t /*address*/, size_t /*bytes*/) { return nullptr; }

    // A word that this process and its peers can change atomically; nullptr if the path has none. `owner`:
    // the process to which the word belongs. `index` is below shared_words.
    virtual std::atomic<uint64_t> *shared_word(uint32_t /*owner*/, uint32_t /*index*/) { return nullptr; }

protected:
    ~DirectMemory() = default;
};

// For a path without the interface.
class NoDirectMemory final : public DirectMemory {};
inline NoDirectMemory no_direct_memory;

}  // namespace lanyard
