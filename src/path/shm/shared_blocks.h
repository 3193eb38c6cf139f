// Memory that MPI_Alloc_mem hands out where processes share a node: blocks of the node's file, behind what all of them map from the start. The
// process that asked for a block lists it in its part of the segment, and a peer maps it when it first touches it. Then a message from or to
// such memory is copied once without the kernel.
//
// A block's place in the file is never used again, so it names the block: whoever reads a list while it changes sees an offset that has changed,
// or one whose block is still there, as memory is not freed while a message uses it (MPI-5.0 9.2). Room is taken from the file system before a
// block is handed out, and some is left for the rings and areas that may still be made.
// Thread rule: allocate() and free() by any thread; find() by the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "path/shm/segment.h"

namespace lanyard {

class SharedBlocks {
public:
    // Shorter ones are not worth it: their messages are copied twice, or are eager.
    static constexpr size_t least_bytes = 64 * 1024;
    static constexpr size_t alignment = 4096;

    SharedBlocks(Segment &segment, uint32_t own) : segment_(segment), own_(own), views_(segment.members()) {}
    ~SharedBlocks();
    SharedBlocks(const SharedBlocks &) = delete;
    SharedBlocks &operator=(const SharedBlocks &) = delete;

    // Zeroed memory that begins with a page; nullptr where there is no room for it, or it would be more than most_block_bytes.
    void *allocate(size_t bytes);
    // Of this process. False: it is no such block.
    bool free(void *memory);
    // Where these bytes of a member are here; nullptr where they are not in one of its blocks.
    std::byte *find(uint32_t member, uint64_t address, size_t bytes);

private:
    struct View {
        uint64_t offset = 0;
        std::byte *memory = nullptr;
        size_t bytes = 0;
    };
    static void close(View &view);

    Segment &segment_;
    uint32_t own_;
    std::mutex mutex_;                       // of this process's list
    std::vector<std::vector<View>> views_;  // of each member's blocks, by their places in its list
};

}  // namespace lanyard
