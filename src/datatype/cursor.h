// A position in the packed stream of a Buffer, and operations that move bytes there. Fragments, pipelining
// and replay all use it. It is cheap to create and copy, and for a contiguous buffer it never reads the
// layout. Not thread-safe.
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
    int64_t position() const { return position_; }  // bytes of the packed stream before this point
    int64_t remaining() const { return buffer_.bytes() - position_; }
    // Any position from 0 to the buffer's bytes, at no cost.
    void seek(int64_t position) { position_ = position; }

    // Copies the next bytes of the stream out of the buffer (pack) or into it (unpack), at most remaining(),
    // and advances. Returns the number of bytes copied.
    size_t pack(void *to, size_t bytes);
    size_t unpack(const void *from, size_t bytes);
    // Lists the next contiguous runs, at most `limit` runs and `bytes` bytes in sum. Advances past them and
    // returns how many there are. Adjacent runs are listed as one.
    int runs(iovec *to, int limit, size_t bytes);

private:
    Buffer buffer_;
    int64_t position_ = 0;
};

// Copies `from` to `to` up to the shorter of the two streams, whatever their layouts. The buffers must not
// overlap. Returns the bytes copied.
int64_t copy(const Buffer &from, const Buffer &to);

}  // namespace lanyard
