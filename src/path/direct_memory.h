// An optional part of a path (path.h): the memory of a peer can be read and written without its help. A path
// that can do this derives from DirectMemory too and names itself in its PathInfo. What it does not override
// says no, as every path without the interface does. Thread rule: the owner of the engine.
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
    // nobody can touch.
    virtual bool touches(uint32_t /*peer*/) { return false; }
    // Move `bytes` between the local runs and the address in the peer. They move all, or say why not; then
    // the caller takes another way.
    virtual Error get(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes);
    virtual Error put(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes);

    // Where memory of the peer, or of this process where the peers have it mapped, is in this process;
    // nullptr where none of that is so. get() and put() know it.
    virtual std::byte *mapped(uint32_t /*peer*/, uint64_t /*address*/, size_t /*bytes*/) { return nullptr; }

    // A word that this process and its peers can change atomically; nullptr where there are none. `owner`:
    // whose it is. `index` is below shared_words.
    virtual std::atomic<uint64_t> *shared_word(uint32_t /*owner*/, uint32_t /*index*/) { return nullptr; }

protected:
    ~DirectMemory() = default;
};

// Of a path without the interface.
class NoDirectMemory final : public DirectMemory {};
inline NoDirectMemory no_direct_memory;

}  // namespace lanyard
