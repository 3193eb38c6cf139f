// An optional part of a path (path.h): short messages travel through memory that both sides see, so that the
// sender may write one itself and a receiver may look for one by a memory read. A path that can do this
// derives from ShortLane too and names itself in its PathInfo. What it does not override says no, as every
// path without the interface does. Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanyard {

class RingWriter;  // path/short_ring.h

// A message that has arrived and is not taken yet: its envelope, where it lies, and the bytes of its payload.
struct ShortFrame {
    const std::byte *envelope;
    size_t size;
};

class ShortLane {
public:
    // The ring into which the sender of an envelope with at most inline_payload bytes may write it, if there
    // is room, instead of calling Path::send(); the same as long as the path lives. nullptr: there is none.
    virtual RingWriter *ring_to(uint32_t /*peer*/) { return nullptr; }

    // The three for a caller that waits for one peer's next message and for nothing else.
    // Envelopes with at most so many bytes are shown; 0: none, as looking would be more than a memory read.
    virtual size_t max_shown() const { return 0; }
    // Is anything there? Of a longer envelope, or of bulk, nothing is shown: frame.envelope is nullptr.
    virtual bool peek(uint32_t /*peer*/, ShortFrame & /*frame*/) { return false; }
    // Takes what was shown, with its payload. It may be left to poll() as well.
    virtual void take(uint32_t /*peer*/, void * /*payload*/) {}

protected:
    ~ShortLane() = default;
};

// Of a path without the interface.
class NoShortLane final : public ShortLane {};
inline NoShortLane no_short_lane;

}  // namespace lanyard
