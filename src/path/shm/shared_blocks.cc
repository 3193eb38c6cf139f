#include "path/shm/shared_blocks.h"

#include <atomic>

#include "base/log.h"

namespace lanyard {

SharedBlocks::~SharedBlocks() {
    for (auto &of_member : views_)
        for (View &view : of_member) close(view);
}

void SharedBlocks::close(View &view) {
    if (view.memory) Segment::unmap(view.memory, view.bytes);
    view = {};
}

void *SharedBlocks::allocate(size_t bytes) {
    std::scoped_lock lock(mutex_);
    for (auto &entry : segment_.member(own_).block) {
        if (entry.offset.load(std::memory_order_relaxed)) continue;
        uint64_t offset = segment_.append_block(bytes);
        if (!offset) return nullptr;
        std::byte *memory = segment_.map(offset, bytes);
        if (!memory) {
            segment_.empty(offset, bytes);
            return nullptr;
        }
        entry.address.store(reinterpret_cast<uintptr_t>(memory), std::memory_order_relaxed);
        entry.bytes.store(bytes, std::memory_order_relaxed);
        entry.offset.store(offset, std::memory_order_release);
        segment_.member(own_).blocks_listed.store(1, std::memory_order_release);
        log(LogLevel::debug, "shm", "a block of %zu bytes is shared with the processes of this node", bytes);
        return memory;
    }
    return nullptr;
}

bool SharedBlocks::free(void *memory) {
    std::scoped_lock lock(mutex_);
    for (auto &entry : segment_.member(own_).block) {
        uint64_t offset = entry.offset.load(std::memory_order_relaxed);
        if (!offset || entry.address.load(std::memory_order_relaxed) != reinterpret_cast<uintptr_t>(memory)) continue;
        entry.offset.store(0, std::memory_order_release);
        size_t bytes = entry.bytes.load(std::memory_order_relaxed);
        Segment::unmap(static_cast<std::byte *>(memory), bytes);
        segment_.empty(offset, bytes);
        return true;
    }
    return false;
}

std::byte *SharedBlocks::find(uint32_t index, uint64_t address, size_t bytes) {
    MemberControl &member = segment_.member(index);
    if (!member.blocks_listed.load(std::memory_order_acquire)) return nullptr;
    for (uint32_t place = 0; place < most_blocks; ++place) {
        auto &entry = member.block[place];
        uint64_t offset = entry.offset.load(std::memory_order_acquire);
        if (!offset) continue;
        uint64_t begin = entry.address.load(std::memory_order_relaxed), size = entry.bytes.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        bool same = entry.offset.load(std::memory_order_relaxed) == offset;
        if (!same || address < begin || bytes > size || address - begin > size - bytes) continue;
        if (index == own_) return reinterpret_cast<std::byte *>(address);
        auto &views = views_[index];
        if (views.empty()) views.resize(most_blocks);
        View &view = views[place];
        if (view.offset != offset) {
            close(view);
            std::byte *memory = segment_.map(offset, size);
            if (!memory) return nullptr;
            view = {offset, memory, size};
        }
        return view.memory + (address - begin);
    }
    return nullptr;
}

}  // namespace lanyard
