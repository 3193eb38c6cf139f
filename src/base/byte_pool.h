// Memory for what is had in great number for a short time, such as copies of payload: blocks of any length, apart from the heap. What the heap had at
// its peak stays with the process, as anything that lies behind it holds it, and is the program's to give back; of this pool, pages in which
// nothing lies go back when shrink() is called.
//
// Pages have blocks of one length each, a multiple of `step`. They lie in chunks of memory from the system, which begin with what is known of their
// pages. So nothing lies before a block, and a page that holds nothing need not be touched. What was given back last is taken first, and of
// pages with room the one in which a block was freed last: those in which little lies become empty, and little is in the cache. Of pages that hold
// nothing one that the process has still is taken first.
// What is longer than `longest` comes from the heap, where so long blocks leave few gaps. But the heap may give a block of many pages back to the
// system at once, and who sends one after the other would pay for their faults each time: so of those from `worth_keeping` on some stay here until
// shrink(), for the next of that length. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/list.h"

namespace lanyard {

class BytePool {
public:
    static constexpr size_t step = 32, longest = 1024;
    static constexpr size_t page_bytes = 4096, chunk_bytes = size_t{1} << 20;
    static constexpr size_t worth_keeping = 16 * 1024, most_kept = size_t{1} << 20;  // bytes of a long block; of all that are kept

    BytePool() = default;
    ~BytePool();
    BytePool(const BytePool &) = delete;
    BytePool &operator=(const BytePool &) = delete;

    // Not cleared; for any object.
    std::byte *take(size_t bytes) {
        if (bytes > longest) return take_long(bytes);
        size_t length = length_of(bytes);
        Page *page = with_room_[length / step].front();
        if (!page) page = &begin_page(length);
        uint16_t at = page->free;
        std::byte *block = bytes_of(*page) + at;
        if (at == page->made) page->made = page->free = static_cast<uint16_t>(at + length);
        else std::memcpy(&page->free, block, sizeof page->free);
        ++page->used;
        if (page->free + length > page_bytes) page->hook.unlink();
        return block;
    }
    // What take() gave for so many bytes.
    void give(std::byte *block, size_t bytes) {
        if (bytes > longest) return give_long(block, bytes);
        size_t length = length_of(bytes);
        Page &page = page_of(block);
        bool was_full = page.free + length > page_bytes;
        std::memcpy(block, &page.free, sizeof page.free);
        page.free = static_cast<uint16_t>(reinterpret_cast<uintptr_t>(block) % page_bytes);
        if (--page.used == 0) end_page(page);
        else if (was_full) with_room_[length / step].push_front(page);
    }
    // Gives the pages that hold nothing back to the system, and kept blocks to the heap.
    void shrink() {
        if (!empty_.empty()) give_back();
        drop_kept();
    }
    // Of pages that the process has, but for what is known of them; of those in which something lies; of long blocks that are kept.
    size_t held_bytes() const { return held_ * page_bytes; }
    size_t used_bytes() const { return used_ * page_bytes; }
    size_t kept_bytes() const { return kept_bytes_; }

private:
    // `free`: where the next block is to be taken, which was freed and names the one after it, or, being `made`, is the first that nobody has had
    // yet; without room for a block there, the page is full.
    struct Page {
        Hook hook;  // among those with room, or that hold nothing
        uint16_t free = 0, made = 0;
        uint16_t used = 0;  // blocks
        bool held = false;  // the process has it, so far as it was touched
    };
    using Pages = List<Page, &Page::hook>;
    static constexpr size_t chunk_pages = chunk_bytes / page_bytes;
    static constexpr size_t first_page = (chunk_pages * sizeof(Page) + 64 + page_bytes - 1) / page_bytes;  // before that lies the chunk itself
    struct Chunk {
        Hook hook;
        size_t made = first_page, used = 0;  // pages that were ever used; that hold something
        union {
            Page page[chunk_pages];  // made when they are needed, so that no more of this is touched
        };

        Chunk() {}
    };
    static_assert(sizeof(Chunk) <= first_page * page_bytes);

    static size_t length_of(size_t bytes) { return bytes ? (bytes + step - 1) / step * step : step; }
    static Chunk &chunk_of(const void *inside) {
        return *reinterpret_cast<Chunk *>(reinterpret_cast<uintptr_t>(inside) & ~uintptr_t{chunk_bytes - 1});
    }
    static Page &page_of(const std::byte *block) {
        return chunk_of(block).page[reinterpret_cast<uintptr_t>(block) % chunk_bytes / page_bytes];
    }
    static std::byte *bytes_of(const Page &page) {
        Chunk &chunk = chunk_of(&page);
        return reinterpret_cast<std::byte *>(&chunk) + static_cast<size_t>(&page - chunk.page) * page_bytes;
    }
    // A long block that nobody has.
    struct Kept {
        std::byte *block;
        size_t length;
    };
    std::byte *take_long(size_t bytes);
    void give_long(std::byte *block, size_t bytes);
    void drop_kept();
    Page &begin_page(size_t length);
    void end_page(Page &page);
    void give_back();
    void give_back(Chunk &chunk);
    Page *new_page();
    Chunk &new_chunk();

    Pages with_room_[longest / step + 1];  // by length
    Pages empty_, given_back_;             // that hold nothing
    List<Chunk, &Chunk::hook> chunks_;     // the newest first
    size_t held_ = 0, used_ = 0;           // pages
    std::vector<Kept> kept_;
    size_t kept_bytes_ = 0;
};

}  // namespace lanyard
