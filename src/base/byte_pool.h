// A BytePool provides memory, separate from the heap, for blocks that exist in great number for a short time,
// such as copies of payload. The heap stays as large as it ever was: any block that lies behind freed memory
// holds that memory in the process, and only the program may trim the heap. This pool returns its empty pages
// when shrink() is called.
//
// Each page has blocks of one length, a multiple of `step`. Pages lie in chunks of memory from the system. A
// chunk begins with the records of its pages, so that no header lies before a block and an empty page need
// not be touched. Within a page, the block freed last is taken first. Among the pages with room, the page
// that was begun or was full most recently is used first. So pages with few blocks become empty, and few
// pages are in the cache. Among empty pages, those that have not been returned to the system are used first.
//
// Blocks longer than `longest` are taken from the heap, where they leave few gaps. But the heap may return a
// block of many pages to the system as soon as the block is freed. A process that sends one message of that
// length after another would pay for the page faults each time. So the pool keeps freed blocks of at least
// `worth_keeping` bytes, up to `most_kept` bytes in all, for the next use of that length, until shrink(). The
// block that was freed first is given up first.
//
// Thread rule: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/bytes.h"
#include "base/list.h"

namespace lanyard {

class BytePool {
public:
    static constexpr size_t step = 32, longest = 1024;
    static constexpr size_t page_bytes = 4096, chunk_bytes = size_t{1} << 20;
    // The length from which a freed block is kept, and the most bytes of all kept blocks.
    static constexpr size_t worth_keeping = 16 * KiB, most_kept = MiB;

    BytePool() = default;
    ~BytePool();
    BytePool(const BytePool &) = delete;
    BytePool &operator=(const BytePool &) = delete;

    // A block of uninitialised memory, aligned for any object. give() takes it back.
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
    // Frees a block that take() has returned for the same `bytes`.
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
    // Returns the empty pages to the system and the kept blocks to the heap.
    void shrink() {
        if (!empty_.empty()) give_back();
        drop_kept();
    }
    // held_bytes(): the bytes of all pages that are in use or not yet returned to the system, without their
    // records. used_bytes(): the bytes of the pages that are not empty. kept_bytes(): the bytes of the kept
    // long blocks.
    size_t held_bytes() const { return held_ * page_bytes; }
    size_t used_bytes() const { return used_ * page_bytes; }
    size_t kept_bytes() const { return kept_bytes_; }

private:
    // `free` is the offset at which the next block will be taken. At this offset lies either a freed block,
    // which contains the next value of `free`, or memory that was never used, which begins at `made`. The
    // page is full if no block fits between `free` and the page's end.
    struct Page {
        Hook hook;  // in the list of pages with room, or of empty pages
        uint16_t free = 0, made = 0;
        uint16_t used = 0;  // blocks in use
        bool held = false;  // used since its memory was last returned to the system
    };
    using Pages = List<Page, &Page::hook>;
    static constexpr size_t chunk_pages = chunk_bytes / page_bytes;
    // The pages before this one contain the Chunk itself.
    static constexpr size_t first_page = (chunk_pages * sizeof(Page) + 64 + page_bytes - 1) / page_bytes;
    struct Chunk {
        Hook hook;
        size_t made = first_page, used = 0;  // pages ever used; pages that are not empty
        union {
            Page page[chunk_pages];  // each constructed when needed, so that the rest is not touched
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
    // A long block that is not in use.
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
    Pages empty_, given_back_;             // empty pages: not yet returned to the system; returned
    List<Chunk, &Chunk::hook> chunks_;     // the newest first
    size_t held_ = 0, used_ = 0;           // numbers of pages
    std::vector<Kept> kept_;
    size_t kept_bytes_ = 0;
};

}  // namespace lanyard
