// See byte_pool.h.
#include "base/byte_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "base/no_memory.h"

namespace lanyard {

BytePool::~BytePool() {
    while (Chunk *chunk = chunks_.pop_front()) munmap(chunk, chunk_bytes);
    drop_kept();
}

namespace {

// The length of the block that is taken for `bytes`. The lengths are few, so that a kept block often fits.
size_t long_length(size_t bytes) {
    return (bytes + BytePool::page_bytes - 1) / BytePool::page_bytes * BytePool::page_bytes;
}

}  // namespace

std::byte *BytePool::take_long(size_t bytes) {
    if (bytes < worth_keeping) return new std::byte[bytes];
    size_t length = long_length(bytes);
    for (size_t i = kept_.size(); i-- > 0;) {
        if (kept_[i].length != length) continue;
        std::byte *block = kept_[i].block;
        kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
        kept_bytes_ -= length;
        return block;
    }
    return new std::byte[length];
}

void BytePool::give_long(std::byte *block, size_t bytes) {
    size_t length = long_length(bytes);
    if (bytes < worth_keeping || length > most_kept) {
        delete[] block;
        return;
    }
    // The blocks that were freed first make room, so that blocks of lengths no longer used do not fill the
    // pool.
    size_t dropped = 0;
    for (; kept_bytes_ + length > most_kept; ++dropped) {
        kept_bytes_ -= kept_[dropped].length;
        delete[] kept_[dropped].block;
    }
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(dropped));
    kept_.push_back({block, length});
    kept_bytes_ += length;
}

void BytePool::drop_kept() {
    for (const Kept &kept : kept_) delete[] kept.block;
    kept_.clear();
    kept_bytes_ = 0;
}

BytePool::Page &BytePool::begin_page(size_t length) {
    Page *page = empty_.pop_front();
    if (!page) {
        page = given_back_.pop_front();
        if (!page) page = new_page();
        page->held = true;
        ++held_;
    }
    ++used_;
    ++chunk_of(page).used;
    with_room_[length / step].push_front(*page);
    return *page;
}

void BytePool::end_page(Page &page) {
    if (page.hook.linked()) page.hook.unlink();
    page.free = page.made = 0;
    --used_;
    --chunk_of(&page).used;
    empty_.push_front(page);
}

// Returns a page that was never used.
BytePool::Page *BytePool::new_page() {
    Chunk *chunk = chunks_.front();
    if (!chunk || chunk->made == chunk_pages) chunk = &new_chunk();
    return new (&chunk->page[chunk->made++]) Page;
}

// Maps a chunk. A chunk begins at a multiple of its size, so that chunk_of() finds it from any address
// inside. Huge pages are switched off for chunks, because the system does not take part of a huge page back
// at once.
BytePool::Chunk &BytePool::new_chunk() {
    void *range = mmap(nullptr, 2 * chunk_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (range == MAP_FAILED) end_without_memory();
    auto *begin = static_cast<std::byte *>(range);
    size_t before = -reinterpret_cast<uintptr_t>(begin) & (chunk_bytes - 1);
    if (before) munmap(begin, before);
    munmap(begin + before + chunk_bytes, chunk_bytes - before);
    madvise(begin + before, chunk_bytes, MADV_NOHUGEPAGE);
    auto *chunk = new (begin + before) Chunk;
    chunks_.push_front(*chunk);
    return *chunk;
}

// Returns the empty pages of all chunks. Empty chunks are unmapped, except the oldest.
void BytePool::give_back() {
    for (Chunk *chunk = chunks_.front(), *next; chunk; chunk = next) {
        next = chunks_.after(*chunk);
        give_back(*chunk);
        if (chunk->used > 0 || !next) continue;
        for (size_t i = first_page; i < chunk->made; ++i) {
            held_ -= chunk->page[i].held;
            chunk->page[i].hook.unlink();
        }
        chunk->hook.unlink();
        munmap(chunk, chunk_bytes);
    }
}

// Returns the empty pages of one chunk, adjacent pages by one call. If the system's pages have another length
// than `page_bytes`, this function does nothing, because returning a page of the system could clear
// neighbouring pages in use. Then only empty chunks are returned.
void BytePool::give_back(Chunk &chunk) {
    if (static_cast<size_t>(sysconf(_SC_PAGESIZE)) != page_bytes) return;
    auto goes = [&](size_t i) { return chunk.page[i].held && chunk.page[i].used == 0; };
    for (size_t i = first_page; i < chunk.made; ++i) {
        size_t first = i;
        for (; i < chunk.made && goes(i); ++i) {
            Page &page = chunk.page[i];
            page.held = false;
            page.hook.unlink();
            given_back_.push_front(page);
        }
        if (i == first) continue;
        held_ -= i - first;
        madvise(bytes_of(chunk.page[first]), (i - first) * page_bytes, MADV_DONTNEED);
    }
}

}  // namespace lanyard
