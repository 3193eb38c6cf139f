// The one bulk frame that a connection is writing, and how long the next may be. The connection does the
// writing.
// Thread rule: the owner of the engine.
#pragma once

#include <sys/uio.h>

#include <algorithm>

#include "path/reliable/held_payload.h"
#include "path/tcp/frame_form.h"

namespace lanyard {

class BulkWriter {
public:
    bool is_open() const { return open_; }
    // Has a part of it been written? Then nothing else may be written before its end.
    bool has_begun() const { return open_ && written_ > 0; }
    // The largest payload of the next frame, if its receiver has a place for it.
    size_t most() const { return most_; }

    // Begins a frame. Takes the payload, which must stay where it is until advance() completes the frame.
    void open(const FrameForm &form, const FrameHeader &header, const BulkHeader &bulk, Payload &payload,
              uint64_t token, uint64_t now_ns);
    // What is left to write. Returns the number of parts, at most two.
    int pieces(iovec *parts) const;
    // `bytes` bytes were written, of which the first belong to this frame as far as it lacked any. Returns
    // how many belong to it.
    size_t advance(size_t bytes) {
        size_t part = std::min(bytes, head_bytes_ + head_.frame.header.size - written_);
        written_ += part;
        return part;
    }
    bool is_written() const { return written_ == head_bytes_ + head_.frame.header.size; }
    // The frame has been written, or the connection has ended. Returns the token of its payload.
    uint64_t close() {
        open_ = false;
        return payload_.release();
    }
    // The frame has been written, in the time until now. The next may be longer, or should be shorter.
    void fit_to_pace(uint64_t now_ns);

private:
    CheckedBulk head_;
    size_t head_bytes_ = 0;  // with or without its check
    HeldPayload payload_;
    size_t written_ = 0;  // of head and payload
    uint64_t begun_ns_ = 0;
    size_t most_ = max_bulk_frame;
    bool open_ = false;
};

}  // namespace lanyard
