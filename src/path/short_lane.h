// An optional part of a path (path.h): short messages travel through memory that both sides map. The sender
// may write one itself, and a receiver may look for one by a memory read. A path that can do this also
// derives from ShortLane and names itself in its PathInfo. The defaults say that the path cannot, which is
// what a path without the interface says. Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanyard {

class RingWriter;  // path/short_ring.h

// A message that has arrived and has not been taken: the address of its envelope, and the size of its
// payload.
struct ShortFrame {
    const std::byte *envelope;
    size_t size;
};

class ShortLane {
public:
    // The ring into which the sender may write an envelope with at most inline_payload bytes, if there is
    // room, instead of calling Path::send(). It stays the same as long as the path lives. nullptr: there is
    // none.
    virtual RingWriter *ring_to(uint32_t /*peer*/) { return nullptr; }

    // The next three functions are for a caller that waits for one peer's next message and for nothing else.
    // Envelopes with at most max_shown() bytes are shown; 0: none, because looking would be more than a
    // memory read.
    virtual size_t max_shown() const { return 0; }
    // Has anything arrived? A longer envelope, or bulk, is not shown: frame.envelope is nullptr.
    virtual bool peek(uint32_t /*peer*/, ShortFrame & /*frame*/) { return false; }
    // Takes what peek() has shown and copies its payload. The caller may also leave it to poll().
    virtual void take(uint32_t /*peer*/, void * /*payload*/) {}

protected:
    ~ShortLane() = default;
};

// For a path without the interface.
class NoShortLane final : public ShortLane {};
inline NoShortLane no_short_lane;

}  // namespace lanyard
