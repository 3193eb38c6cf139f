// Two processes exchange frames on an established connection (path/tcp/greeting.h). A frame has a header,
// most kinds have a body, and a payload may follow:
//
//     0        1        2                 4                 8                 12                16
//     | kind   | flags  | reserved        | size            | sequence        | acknowledged    |
//
//   envelope       body: Envelope (32 bytes), then `size` bytes of payload. `sequence`: the envelope's number
//                  on this link, from 0, modulo 2^32
//   bulk           body: BulkHeader (16 bytes), then `size` bytes of payload. Not numbered: what is lost is
//                  requested again (p2p)
//   acknowledge    no body, no payload
//
// In bulk and acknowledge frames, `sequence` is the number of the sender's next envelope; the receiver
// ignores it. `acknowledged`, in every frame: the sender of the frame has received all envelopes of the other
// side that have lower numbers (modulo 2^32). `flags`: answer_now requests that the other side sends a frame
// at once, even if it is only an `acknowledge`; idle_close, only in an `acknowledge`: the connection is
// closed after this frame because it is idle. `sequence` is then how many bytes of bulk frames, with their
// headers and checks, the sender of this frame has received on this connection (modulo 2^32). If the other
// side has sent more, bulk was lost.
//
// With LANYARD_CHECKSUM=on, every frame has a FrameCheck between body and payload. `reserved` is then
// kind_check(), which protects the kind, because the kind determines how many bytes of body to wait for.
// Every part is verified before it is used. The kind is verified when the header has arrived, and header and
// body are verified when the FrameCheck has arrived. If the sink is called for the place of an envelope's
// payload, it gets only first bytes that have been verified, perhaps none. The whole payload is verified when
// the frame is complete.
// Tested by: tests/unit/path/tcp/connection_test.cc, tests/sim/damage_test.cc, tests/fuzz/frames.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "path/path.h"

namespace lanyard {

enum class FrameKind : uint8_t { envelope = 1, bulk, acknowledge };

constexpr uint8_t answer_now = 1, idle_close = 2;

struct FrameHeader {
    FrameKind kind;
    uint8_t flags;
    uint16_t reserved;
    uint32_t size;
    uint32_t sequence;
    uint32_t acknowledged;
};
static_assert(sizeof(FrameHeader) == 16);

struct EnvelopeFrame {
    FrameHeader header;
    Envelope envelope;
};
struct BulkFrame {
    FrameHeader header;
    BulkHeader bulk;
};
static_assert(sizeof(EnvelopeFrame) == 48 && sizeof(BulkFrame) == 32);

// CRC32C of parts of a frame.
struct FrameCheck {
    uint32_t head;       // header and body
    uint32_t beginning;  // the first bytes of the payload, at most most_beginning
    uint32_t payload;    // the whole payload
};
static_assert(sizeof(FrameCheck) == 12);

constexpr size_t most_checked_bulk = 64 * KiB;  // payload of a bulk frame with checksums
constexpr size_t most_bulk = 4 * MiB;           // payload of a bulk frame without checksums

// A frame and its check as they are transmitted.
struct CheckedEnvelope {
    EnvelopeFrame frame;
    FrameCheck check;
};
struct CheckedBulk {
    BulkFrame frame;
    FrameCheck check;
};
struct CheckedAcknowledge {
    FrameHeader header;
    FrameCheck check;
};
static_assert(offsetof(CheckedEnvelope, check) == sizeof(EnvelopeFrame) &&
              offsetof(CheckedBulk, check) == sizeof(BulkFrame) &&
              offsetof(CheckedAcknowledge, check) == sizeof(FrameHeader));

constexpr uint16_t kind_check(const FrameHeader &header) {
    return static_cast<uint16_t>(
        ~(static_cast<unsigned>(header.kind) | static_cast<unsigned>(header.flags) << 8));
}

// The number of bytes between a frame's header and its check or, without checksums, its payload.
constexpr size_t body_bytes(FrameKind kind) {
    return kind == FrameKind::envelope ? sizeof(Envelope) : kind == FrameKind::bulk ? sizeof(BulkHeader) : 0;
}

// The number nearest to `about` whose lower half is `low`.
constexpr uint64_t widened(uint32_t low, uint64_t about) {
    auto distance = static_cast<int32_t>(low - static_cast<uint32_t>(about));
    return about + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

}  // namespace lanyard
