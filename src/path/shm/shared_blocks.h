// SharedBlocks hands out blocks of memory that all processes of a node can map. The blocks are parts of the
// node's file. They lie behind everything else in the file (segment.h). Only the available memory limits
// their number and length (but see Segment::Need). MPI_Alloc_mem uses these blocks. The process that
// requested a block lists it in the segment, and a peer maps the block when the peer first uses the block. A
// message from or to such memory is then copied once, without the kernel.
//
//   MemberControl::blocks   | version | first page |
//   page                    | offset of the next page | entry | entry | ...
//   entry                   | offset of the block, 0: free | address | bytes |
//
// A process writes only its own list. The list grows by pages, which are never given back. A block's offset
// in the file is never used again, so the offset identifies the block. A process may read a list while the
// list changes. It reads the offset of each entry twice, and skips the entry if the offset has changed. Every
// entry that a message needs is valid, because a program does not free memory while a message uses it
// (MPI-5.0 9.2). A reader keeps a copy of the list, sorted by address, and reads the list again when its
// version has changed. A copy that was read while the version was odd, or while the version changed, is used
// only once. Room is taken from the file system before a block is handed out. Enough room is left for the
// rings that may still be created.
// Thread rule: allocate() and free() by any thread; find() by the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "path/shm/segment.h"

namespace lanyard {

class SharedBlocks {
public:
    // Shorter blocks do not pay off: messages from and to them are eager. A block needs a mapping of its own
    // in each process that uses it, and mappings are limited (vm.max_map_count), so there are at most
    // most_short blocks of less than `long_bytes`.
    static constexpr size_t least_bytes = KiB, long_bytes = 64 * KiB, most_short = 1024;
    // The most short blocks of other members that this process maps.
    static constexpr size_t most_short_views = 8 * most_short;
    static constexpr size_t alignment = 4096;

    SharedBlocks(Segment &segment, uint32_t own) : segment_(segment), own_(own) {}
    ~SharedBlocks();
    SharedBlocks(const SharedBlocks &) = delete;
    SharedBlocks &operator=(const SharedBlocks &) = delete;

    // Returns zeroed memory that begins at a page boundary, or nullptr if there is no room for it or this
    // process has no addresses for it. The memory stays mapped until free(), also after the end of this
    // object.
    void *allocate(size_t bytes, Segment::Need need);
    // Frees a block of this process. Returns false if `memory` is no such block.
    bool free(void *memory);
    // Returns the address at which this process can use these bytes of a member; nullptr if they do not lie
    // in one of the member's blocks, or if this process cannot map that block.
    std::byte *find(uint32_t member, uint64_t address, size_t bytes);

private:
    struct Entry {
        std::atomic<uint64_t> offset, address, bytes;
    };
    static constexpr size_t entries_of_page = (4096 - sizeof(uint64_t)) / sizeof(Entry);
    struct Page {
        std::atomic<uint64_t> next;
        Entry entries[entries_of_page];
    };
    static_assert(sizeof(Page) <= 4096);

    // A block of another member, as it was listed.
    struct View {
        uint64_t address, bytes, offset;
        std::byte *memory;  // the block's address in this process; nullptr: not mapped yet
    };
    struct Views {
        std::vector<Page *> pages;
        std::vector<View> blocks;  // sorted by address
        uint64_t version = 0;      // of the list when it was read; 0: the list changed meanwhile
    };

    Entry *free_entry();
    void list(Entry &entry, uint64_t offset);
    Page *page_at(uint64_t offset) { return reinterpret_cast<Page *>(segment_.map(offset, sizeof(Page))); }
    void read_list(const MemberControl &member, Views &views);

    Segment &segment_;
    const uint32_t own_;
    std::mutex mutex_;  // protects this process's list, which is the next four members
    std::vector<Page *> pages_;
    std::vector<Entry *> free_entries_;
    std::unordered_map<void *, Entry *> blocks_;
    size_t short_ones_ = 0;    // blocks of less than long_bytes
    std::deque<Views> views_;  // indexed by member
    size_t short_views_ = 0;   // short blocks of other members that are mapped here
};

}  // namespace lanyard
