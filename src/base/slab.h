// A Slab provides memory for very large numbers of plain objects. An object has an index of 32 bits and no
// header, and it never moves. The objects lie in chunks of memory from the system, whose pages are touched
// only as needed. The object freed last is taken first. When no object is in use, all chunks except the first
// are returned to the system. give_back() also returns the memory of the first chunk. Not thread-safe.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/leak_roots.h"
#include "base/no_memory.h"

namespace lanyard {

template <class T>
class Slab {
public:
    static constexpr uint32_t none = UINT32_MAX;
    static constexpr uint32_t chunk_objects = 1 << 14;  // a chunk then consists of whole pages for any T
    static constexpr size_t chunk_bytes = chunk_objects * sizeof(T);

    Slab() {
        static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> &&
                      sizeof(T) >= sizeof(uint32_t));
    }
    ~Slab() { shrink(0); }
    Slab(const Slab &) = delete;
    Slab &operator=(const Slab &) = delete;

    // Returns the index of a new object, whose memory is not cleared.
    uint32_t take() {
        uint32_t index = free_;
        if (index == none) {
            if (made_ == chunks_.size() * chunk_objects) grow();
            index = made_++;
        } else {
            std::memcpy(&free_, &at(index), sizeof free_);
        }
        ++used_;
        return index;
    }
    void give(uint32_t index) {
        if (--used_ == 0) {
            free_ = none;
            touched_ = std::max(touched_, std::min(made_, chunk_objects));
            made_ = 0;
            if (chunks_.size() > 1) shrink(1);
            return;
        }
        std::memcpy(static_cast<void *>(&at(index)), &free_, sizeof free_);
        free_ = index;
    }
    // If no object is in use, returns all memory that was touched to the system.
    void give_back() {
        if (used_ > 0 || touched_ == 0) return;
        madvise(chunks_[0], touched_ * sizeof(T), MADV_DONTNEED);
        touched_ = 0;
    }
    T &at(uint32_t index) const { return chunks_[index / chunk_objects][index % chunk_objects]; }

    // The bytes of all objects that were used since the slab was last empty, in use or freed.
    size_t bytes() const { return made_ * sizeof(T); }
    size_t reserved_bytes() const { return chunks_.size() * chunk_bytes; }

private:
    void grow() {
        void *chunk = mmap(nullptr, chunk_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (chunk == MAP_FAILED) end_without_memory();
        LANYARD_MUST(chunks_.size() < none / chunk_objects);
        register_leak_root(chunk, chunk_bytes);
        chunks_.push_back(static_cast<T *>(chunk));
    }
    void shrink(size_t chunks) {
        for (; chunks_.size() > chunks; chunks_.pop_back()) {
            unregister_leak_root(chunks_.back(), chunk_bytes);
            munmap(chunks_.back(), chunk_bytes);
        }
    }

    std::vector<T *> chunks_;
    uint32_t free_ = none;  // the object freed last; each free object contains the next one's index
    uint32_t made_ = 0;     // objects that were used since the slab was last empty
    uint32_t used_ = 0;     // objects in use
    // The number of objects of the first chunk that may have been touched, updated whenever the slab becomes
    // empty.
    uint32_t touched_ = 0;
};

}  // namespace lanyard
