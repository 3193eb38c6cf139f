// Several ways to copy a long block. Which of them is fastest depends on the processor, on the caches in
// which the block is, and on whether another processor reads the copy next. The loops differ in the width of
// loads and stores, in whether they fetch the source ahead, and in what becomes of the target's cache lines:
//   plain      they stay in this processor's caches, from which another processor has to fetch them
//   streaming  the stores bypass the caches; the target's lines are not read first
//   demoted    they are pushed from this processor's caches to the cache that all processors share
// All functions may be called by any thread.
// Tested by: tests/unit/base/copy_loops_test.cc.
#pragma once

#include <cstddef>
#include <span>

#include "base/copy.h"

namespace lanyard {

struct CopyLoop {
    const char *name;
    // The arguments are those of memcpy. A streaming loop makes its stores visible before any later store of
    // this thread, such as one that publishes the data.
    CopyFunction copy;
    bool keeps_cached;  // the target's lines stay in this processor's caches
};

// The loops that this processor can run. The first is memcpy.
std::span<const CopyLoop> copy_loops();

inline CopyFunction copy_by_memcpy() { return copy_loops().front().copy; }
// The loop "256 bits" if this processor can run it, otherwise memcpy.
CopyFunction copy_by_vectors();

// Copies into memory that the caller does not expect to be in a cache, by the streaming loop with the widest
// stores, or by memcpy if there is no such loop. A streaming loop leaves useful data in the caches.
void copy_streaming(void *to, const void *from, size_t bytes);

}  // namespace lanyard
