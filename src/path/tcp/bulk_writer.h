// Holds the bulk frame that a connection is writing, of which there is at most one, and decides how long the
// next one may be. The connection itself writes the bytes.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/path/tcp/connection_test.cc, tests/sim/pace_test.cc.
#pragma once

#include <sys/uio.h>

#include <algorithm>

#include "path/reliable/held_payload.h"
#include "path/tcp/frame_form.h"

namespace lanyard {

class BulkWriter {
public:
    bool is_open() const { return open_; }
    // Has a part of the frame been written? If so, nothing else may be written before the frame's end.
    bool has_begun() const { return open_ && written_ > 0; }
    // The largest payload of the next frame without checksums. A frame may be this long only if the receiver
    // has a place for it (Sink::place).
    size_t most() const { return most_; }

    // Begins a frame. Contiguous payload must stay where it is until the frame is closed; other payload is
    // packed here.
    void open(const FrameForm &form, const FrameHeader &header, const BulkHeader &bulk, Payload &payload,
              uint64_t token, uint64_t now_ns);
    // Stores in `parts` what is left to write of the frame. Returns the number of parts, at most two.
    int pieces(iovec *parts) const;
    // Called after `bytes` bytes were written to the connection. The first of these bytes belong to this
    // frame, up to the frame's end. Returns how many bytes belong to the frame.
    size_t advance(size_t bytes) {
        size_t part = std::min(bytes, head_bytes_ + head_.frame.header.size - written_);
        written_ += part;
        return part;
    }
    bool is_written() const { return written_ == head_bytes_ + head_.frame.header.size; }
    // Ends the frame, because it has been written or the connection has ended. Returns the token of the
    // payload.
    uint64_t close() {
        open_ = false;
        return payload_.release();
    }
    // Called when the frame has been written. Adapts most() to the time that this took since open().
    void fit_to_pace(uint64_t now_ns);

private:
    CheckedBulk head_;
    size_t head_bytes_ = 0;  // of head_, including its check if there is one
    HeldPayload payload_;
    size_t written_ = 0;  // bytes written of head and payload
    uint64_t begun_ns_ = 0;
    size_t most_ = max_bulk_frame;
    bool open_ = false;
};

}  // namespace lanyard
