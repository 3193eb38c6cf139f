// A position in the packed stream of a Buffer, and the ways to move bytes there: fragments, pipelining and replay all
// use this one thing. Cheap to make and copy (a contiguous buffer never looks at the layout). Not thread-safe.
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
    // Any position from 0 to the buffer's bytes; costs nothing.
    void seek(int64_t position) { position_ = position; }

    // Copies the next bytes of the stream out of the buffer (pack) or into it (unpack) and advances; at most remaining().
    // Returns the bytes copied.
    size_t pack(void *to, size_t bytes);
    size_t unpack(const void *from, size_t bytes);
    // The next contiguous runs, at most `limit` of them and `bytes` bytes in sum; advances past them; returns how many.
    // Runs that touch are given as one.
    int runs(iovec *to, int limit, size_t bytes);

private:
    Buffer buffer_;
    int64_t position_ = 0;
};

// Copies `from` to `to` up to the shorter of the two streams, whatever their layouts (they do not overlap); the bytes copied.
int64_t copy(const Buffer &from, const Buffer &to);

}  // namespace lanyard
