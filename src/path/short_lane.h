// An optional interface of paths (path.h). It is for paths whose short messages travel through memory that
// both sides map. The sender may write a short message there itself, and the receiver may look for a message
// by a memory read. Such a path also derives from ShortLane and stores its own address in
// PathInfo::short_lane. Each function has a default, which states that the path cannot do what the function
// is for. The other paths use only these defaults (NoShortLane).
// Thread rule: the owner of the engine.
// Tested by: tests/unit/path/shm/shm_path_test.cc, tests/unit/p2p/shortcuts_test.cc.
// Tested by: tests/unit/p2p/channel_test.cc.
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
    // The ring to that peer. If the ring has room, the sender may write an envelope with at most
    // inline_payload bytes of payload into it instead of calling Path::send(). The ring stays the same as
    // long as the path lives, and has no room once the peer is lost. nullptr: there is no ring.
    virtual RingWriter *ring_to(uint32_t /*peer*/) { return nullptr; }

    // The next three functions are for a caller that waits for one peer's next message and for nothing else.
    // peek() shows envelopes with at most max_shown() bytes of payload. 0: peek() shows no envelopes, because
    // on this path it takes more than a memory read to look for them.
    virtual size_t max_shown() const { return 0; }
    // Has anything arrived? If so, describes the next frame in `frame`. If this frame is bulk, or an envelope
    // with more than max_shown() bytes of payload, frame.envelope is nullptr.
    virtual bool peek(uint32_t /*peer*/, ShortFrame & /*frame*/) { return false; }
    // Takes the message that peek() has shown and copies its payload (ShortFrame::size bytes). The caller may
    // leave the message to poll() instead.
    virtual void take(uint32_t /*peer*/, void * /*payload*/) {}

protected:
    ~ShortLane() = default;
};

// Used by paths without the interface.
class NoShortLane final : public ShortLane {};
inline NoShortLane no_short_lane;

}  // namespace lanyard
