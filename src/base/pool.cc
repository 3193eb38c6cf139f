// See pool.h.
#include "base/pool.h"

#include <sys/mman.h>

#include "base/leak_roots.h"

namespace lanyard {

namespace {

constexpr size_t page_bytes = 4096;
constexpr size_t usual_growth = 4;  // the size of a range relative to the previous range
constexpr size_t fewest_slots = 64;

size_t whole_pages(size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

std::byte *reserve(size_t bytes) {
    void *range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return range == MAP_FAILED ? nullptr : static_cast<std::byte *>(range);
}

}  // namespace

PoolRanges::PoolRanges(size_t stride, size_t capacity) : stride_(stride), capacity_(capacity) {
    PoolRange &range = ranges_[0];
    size_t slots = std::min(capacity, std::max(fewest_slots, first_bytes / stride));
    range.base = reserve(slots * stride);
    if (!range.base) return;
    range.slots = slots;
    register_leak_root(range.base, slots * stride);
}

PoolRanges::~PoolRanges() {
    for (uint32_t number = 0; number < count(); ++number) {
        PoolRange &range = ranges_[number];
        if (!range.base) continue;
        unregister_leak_root(range.base, range.slots * stride_);
        munmap(range.base, range.slots * stride_);
    }
}

bool PoolRanges::add() {
    uint32_t number = count();
    const PoolRange &last = ranges_[number - 1];
    size_t first = last.first + last.slots;
    if (number == most || first >= capacity_) return false;
    size_t slots = std::min(capacity_ - first, std::max(fewest_slots, last.slots * usual_growth));
    std::byte *base = reserve(slots * stride_);
    while (!base && slots > fewest_slots)
        base = reserve((slots = std::max(fewest_slots, slots / 2)) * stride_);
    if (!base) return false;
    PoolRange &range = ranges_[number];
    range.base = base;
    range.first = first;
    range.slots = slots;
    register_leak_root(base, slots * stride_);
    count_.store(number + 1, std::memory_order_release);
    return true;
}

bool PoolRanges::open_more() {
    if (newest().usable == newest().slots && !add()) return false;
    PoolRange &range = newest();
    size_t wanted = std::min(range.slots, std::max(range.usable * 2, fewest_slots));
    size_t bytes = std::min(whole_pages(wanted * stride_), whole_pages(range.slots * stride_));
    if (mprotect(range.base, bytes, PROT_READ | PROT_WRITE) != 0) return false;
    range.usable = wanted;
    return true;
}

}  // namespace lanyard
