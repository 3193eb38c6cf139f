// A Cursor is a position in the packed stream of a Buffer (the data of its elements in sequence, without
// gaps). Its operations copy bytes from or to this position. Sending in fragments, pipelining and sending
// again all use cursors. A cursor is cheap to create and copy. The cursor of a contiguous buffer never reads
// the layout. Not thread-safe.
// Tested by: tests/unit/datatype/layout_test.cc.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "datatype/datatype.h"

namespace lanyard {

class Cursor {
public:
    Cursor() = default;
    explicit Cursor(const Buffer &buffer, int64_t position = 0) : buffer_(buffer) { seek(position); }

    const Buffer &buffer() const { return buffer_; }
    int64_t position() const { return position_; }  // the bytes of the stream before the cursor
    int64_t remaining() const { return buffer_.bytes() - position_; }
    // Moves the cursor to any position from 0 to the buffer's bytes, at no cost.
    void seek(int64_t position) { position_ = position; }

    // Copy the next bytes of the stream out of the buffer (pack) or into it (unpack), and advance. Return the
    // number of bytes copied: `bytes`, or remaining() if that is less.
    size_t pack(void *to, size_t bytes);
    size_t unpack(const void *from, size_t bytes);
    // Lists the next contiguous runs of the stream: at most `limit` runs, with at most `bytes` bytes in all.
    // Advances past these runs and returns their number. Adjacent runs are listed as one.
    int runs(iovec *to, int limit, size_t bytes);

private:
    Buffer buffer_;
    int64_t position_ = 0;
};

// Copies the data of `from` to `to`, whatever the two layouts, up to the end of the shorter stream. The
// buffers must not overlap. Returns the number of bytes copied.
int64_t copy(const Buffer &from, const Buffer &to);

}  // namespace lanyard
