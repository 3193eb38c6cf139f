// See segment_memory.h.
#include "runtime/segment_memory.h"

#include <algorithm>
#include <cstring>

namespace lanyard {

namespace {

constexpr size_t page_bytes = 4096;

}  // namespace

SegmentMemory::~SegmentMemory() {
    for (const Closed &area : closed_) Segment::unmap(area.memory, area.bytes);
}

bool SegmentMemory::allocate(size_t bytes, uint64_t &offset) {
    Released area{};
    bool found = false;
    {
        SpinGuard guard(lock_);
        if (auto at = released_.find(bytes); (found = at != released_.end())) {
            area = at->second;
            released_.erase(at);
        }
    }
    if (!found) return (offset = segment_.append_area(bytes)) != 0;
    offset = area.offset;
    if (reuse(bytes, area)) return true;
    SpinGuard guard(lock_);
    released_.emplace(bytes, area);
    return false;
}

bool SegmentMemory::reuse(size_t bytes, Released area) {
    if (!area.emptied) segment_.header().idle_area_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    bool filled =
        !area.emptied || bytes <= page_bytes || segment_.refill(area.offset + page_bytes, bytes - page_bytes);
    size_t used = area.emptied ? std::min(bytes, page_bytes) : bytes;  // the bytes that are perhaps not zero
    std::byte *memory = filled ? open(area.offset, used) : nullptr;
    if (memory) {
        std::memset(memory, 0, used);
        close(area.offset, memory, used);
    } else if (!area.emptied) {
        segment_.header().idle_area_bytes.fetch_add(bytes, std::memory_order_relaxed);
    }
    return memory != nullptr;
}

std::byte *SegmentMemory::open(uint64_t offset, size_t bytes) {
    {
        SpinGuard guard(lock_);
        auto is_it = [&](const Closed &area) { return area.offset == offset && area.bytes == bytes; };
        if (auto at = std::find_if(closed_.begin(), closed_.end(), is_it); at != closed_.end()) {
            std::byte *memory = at->memory;
            closed_.erase(at);
            closed_bytes_ -= bytes;
            return memory;
        }
    }
    return segment_.map(offset, bytes);
}

void SegmentMemory::close(uint64_t offset, std::byte *memory, size_t bytes) {
    SpinGuard guard(lock_);
    closed_.push_back({offset, memory, bytes});
    closed_bytes_ += bytes;
    size_t ended = 0;
    for (; closed_bytes_ > most_closed; ++ended) {
        Segment::unmap(closed_[ended].memory, closed_[ended].bytes);
        closed_bytes_ -= closed_[ended].bytes;
    }
    closed_.erase(closed_.begin(), closed_.begin() + static_cast<long>(ended));
}

bool SegmentMemory::empty(uint64_t offset, size_t bytes) {
    auto &idle = segment_.header().idle_area_bytes;
    if (idle.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most_idle) return false;
    idle.fetch_sub(bytes, std::memory_order_relaxed);
    if (bytes > page_bytes) segment_.empty(offset + page_bytes, bytes - page_bytes);
    return true;
}

void SegmentMemory::release(uint64_t offset, size_t bytes, bool emptied) {
    SpinGuard guard(lock_);
    released_.emplace(bytes, Released{offset, emptied});
}

}  // namespace lanyard
