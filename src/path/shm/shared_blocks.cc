// See shared_blocks.h.
#include "path/shm/shared_blocks.h"

#include <algorithm>
#include <atomic>

#include "base/log.h"

namespace lanyard {

SharedBlocks::~SharedBlocks() {
    for (Page *page : pages_) Segment::unmap(reinterpret_cast<std::byte *>(page), sizeof(Page));
    for (Views &views : views_) {
        for (Page *page : views.pages) Segment::unmap(reinterpret_cast<std::byte *>(page), sizeof(Page));
        for (View &view : views.blocks)
            if (view.memory) Segment::unmap(view.memory, view.bytes);
    }
}

// Returns a free entry of the list. Adds a page if no entry is left; returns nullptr if there is no room for
// a page.
SharedBlocks::Entry *SharedBlocks::free_entry() {
    if (free_entries_.empty()) {
        uint64_t offset = segment_.append_area(sizeof(Page));
        Page *page = offset ? page_at(offset) : nullptr;
        if (!page) return nullptr;
        (pages_.empty() ? segment_.member(own_).blocks.first_page : pages_.back()->next)
            .store(offset, std::memory_order_release);
        pages_.push_back(page);
        for (size_t i = entries_of_page; i-- > 0;) free_entries_.push_back(&page->entries[i]);
    }
    Entry *entry = free_entries_.back();
    free_entries_.pop_back();
    return entry;
}

void SharedBlocks::list(Entry &entry, uint64_t offset) {
    std::atomic<uint64_t> &version = segment_.member(own_).blocks.version;
    uint64_t before = version.load(std::memory_order_relaxed);
    version.store(before + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    entry.offset.store(offset, std::memory_order_release);
    version.store(before + 2, std::memory_order_release);
}

void *SharedBlocks::allocate(size_t bytes, Segment::Need need) {
    std::scoped_lock lock(mutex_);
    bool is_short = bytes < long_bytes;
    if (is_short && short_ones_ == most_short) return nullptr;
    Entry *entry = free_entry();
    if (!entry) return nullptr;
    uint64_t offset = segment_.append_block(bytes, need);
    std::byte *memory = offset ? segment_.map(offset, bytes) : nullptr;
    if (!memory) {
        if (offset) segment_.empty(offset, bytes);
        free_entries_.push_back(entry);
        return nullptr;
    }
    entry->address.store(reinterpret_cast<uintptr_t>(memory), std::memory_order_relaxed);
    entry->bytes.store(bytes, std::memory_order_relaxed);
    list(*entry, offset);
    blocks_[memory] = entry;
    short_ones_ += is_short;
    log(LogLevel::debug, "shm", "a block of %zu bytes is shared with the processes of this node", bytes);
    return memory;
}

bool SharedBlocks::free(void *memory) {
    std::scoped_lock lock(mutex_);
    auto found = blocks_.find(memory);
    if (found == blocks_.end()) return false;
    Entry &entry = *found->second;
    uint64_t offset = entry.offset.load(std::memory_order_relaxed),
             bytes = entry.bytes.load(std::memory_order_relaxed);
    list(entry, 0);
    short_ones_ -= bytes < long_bytes;
    Segment::unmap(static_cast<std::byte *>(memory), bytes);
    segment_.empty(offset, bytes);
    free_entries_.push_back(&entry);
    blocks_.erase(found);
    return true;
}

// Copies the member's list to `views`. Blocks that are still listed stay mapped; other blocks are unmapped.
void SharedBlocks::read_list(const MemberControl &member, Views &views) {
    uint64_t version = member.blocks.version.load(std::memory_order_acquire);
    std::unordered_map<uint64_t, View> before;
    for (const View &view : views.blocks)
        if (view.memory) before.emplace(view.offset, view);
    views.blocks.clear();
    for (size_t i = 0;; ++i) {
        if (i == views.pages.size()) {
            const std::atomic<uint64_t> &next = i == 0 ? member.blocks.first_page : views.pages[i - 1]->next;
            uint64_t offset = next.load(std::memory_order_acquire);
            Page *page = offset ? page_at(offset) : nullptr;
            if (!page) break;
            views.pages.push_back(page);
        }
        for (const Entry &entry : views.pages[i]->entries) {
            uint64_t offset = entry.offset.load(std::memory_order_acquire);
            if (!offset) continue;
            View view{entry.address.load(std::memory_order_relaxed),
                      entry.bytes.load(std::memory_order_relaxed), offset, nullptr};
            std::atomic_thread_fence(std::memory_order_acquire);
            if (entry.offset.load(std::memory_order_relaxed) != offset) continue;
            if (auto found = before.find(offset); found != before.end()) {
                view.memory = found->second.memory;
                before.erase(found);
            }
            views.blocks.push_back(view);
        }
    }
    for (const auto &[offset, view] : before) {
        short_views_ -= view.bytes < long_bytes;
        Segment::unmap(view.memory, view.bytes);
    }
    std::sort(views.blocks.begin(), views.blocks.end(),
              [](const View &one, const View &other) { return one.address < other.address; });
    std::atomic_thread_fence(std::memory_order_acquire);
    bool whole = version % 2 == 0 && member.blocks.version.load(std::memory_order_relaxed) == version;
    views.version = whole ? version : 0;
}

std::byte *SharedBlocks::find(uint32_t index, uint64_t address, size_t bytes) {
    const MemberControl &member = segment_.member(index);
    uint64_t version = member.blocks.version.load(std::memory_order_acquire);
    if (version == 0) return nullptr;
    while (views_.size() <= index) views_.emplace_back();
    Views &views = views_[index];
    if (views.version != version) read_list(member, views);
    auto begins_behind = [](uint64_t at, const View &view) { return at < view.address; };
    auto behind = std::upper_bound(views.blocks.begin(), views.blocks.end(), address, begins_behind);
    if (behind == views.blocks.begin()) return nullptr;
    View &view = *std::prev(behind);
    if (bytes > view.bytes || address - view.address > view.bytes - bytes) return nullptr;
    if (index == own_) return reinterpret_cast<std::byte *>(address);
    if (!view.memory) {
        bool is_short = view.bytes < long_bytes;
        if (is_short && short_views_ == most_short_views) return nullptr;
        view.memory = segment_.map(view.offset, view.bytes);
        short_views_ += is_short && view.memory;
    }
    return view.memory ? view.memory + (address - view.address) : nullptr;
}

}  // namespace lanyard
