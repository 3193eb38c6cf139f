// Copies between a block of the program's memory and packed bytes, with a fast case for contiguous blocks.
// Thread rule: any thread; pure functions.
// Tested by: tests/unit/coll/shm/posts_test.cc.
#pragma once

#include <cstddef>

#include "base/copy.h"
#include "datatype/cursor.h"

namespace lanyard {

inline void pack_block(const Buffer &from, std::byte *to, int64_t bytes, int64_t position = 0) {
    if (bytes == 0) return;
    if (from.contiguous()) copy_bytes(to, from.base + position, static_cast<size_t>(bytes));
    else Cursor(from, position).pack(to, static_cast<size_t>(bytes));
}

inline void unpack_block(const std::byte *from, const Buffer &to, int64_t bytes, int64_t position = 0) {
    if (bytes == 0) return;
    if (to.contiguous()) copy_bytes(to.base + position, from, static_cast<size_t>(bytes));
    else Cursor(to, position).unpack(from, static_cast<size_t>(bytes));
}

}  // namespace lanyard
