// Describes the form that all frames on a job's connections have: whether they carry checksums, and how long
// each kind may be. Computes the checksums of a frame that is sent, and verifies those of a received frame.
// Has no state beyond this form, and does no input or output.
// Tested by: tests/unit/path/tcp/connection_test.cc, tests/sim/damage_test.cc.
#pragma once

#include <sys/types.h>

#include <cstring>
#include <span>

#include "base/crc32c.h"
#include "path/tcp/frame.h"

namespace lanyard {

// What precedes the payload: header, body, and the check if there is one.
union FrameHead {
    FrameHeader header;
    EnvelopeFrame envelope;
    BulkFrame bulk;
    std::byte bytes[sizeof(CheckedEnvelope)];
};

class FrameForm {
public:
    // With `crc`, frames carry checksums; all processes of a job must have the same setting.
    explicit FrameForm(size_t max_eager, Crc32c crc = {})
        : crc_(crc), check_bytes_(crc ? sizeof(FrameCheck) : 0), max_eager_(max_eager),
          max_bulk_(crc ? most_checked_bulk : most_bulk) {}

    bool is_checked() const { return check_bytes_ > 0; }
    size_t check_bytes() const { return check_bytes_; }
    size_t head_bytes(FrameKind kind) const { return sizeof(FrameHeader) + body_bytes(kind) + check_bytes_; }

    // check_of() and sum() are for frames with checksums.
    // Returns the check of a frame whose payload is `first` followed by `rest`. Also sets the `reserved`
    // field of the header, whose other fields must have been set.
    FrameCheck check_of(FrameHeader &header, std::span<const std::byte> body,
                        std::span<const std::byte> first, std::span<const std::byte> rest) const;
    // The checksum of these bytes together with the bytes before them, whose checksum is `before`.
    uint32_t sum(const std::byte *data, size_t bytes, uint32_t before = 0) const {
        return crc_(data, bytes, before);
    }

    // Can this be the header of a frame? With checksums, also verifies the `reserved` field.
    bool is_sensible(const FrameHeader &header) const;
    // The remaining functions, too, are for frames with checksums.
    // Is the checksum of this head, which must be complete, right?
    bool is_right(const FrameHead &head) const {
        return crc_(head.bytes, sizeof(FrameHeader) + body_bytes(head.header.kind)) == check_in(head).head;
    }
    // Returns how many of the first `received` bytes of the payload may be used before the rest has arrived;
    // -1: the checksum of the payload's beginning is wrong.
    ssize_t believed(const FrameHead &head, const std::byte *payload, size_t received) const;
    // Is `sum` the checksum of the whole payload?
    bool is_payload_sum(const FrameHead &head, uint32_t sum) const { return check_in(head).payload == sum; }

private:
    static FrameCheck check_in(const FrameHead &head) {
        FrameCheck check;
        std::memcpy(&check, head.bytes + sizeof(FrameHeader) + body_bytes(head.header.kind), sizeof check);
        return check;
    }

    const Crc32c crc_;
    const size_t check_bytes_, max_eager_, max_bulk_;
};

}  // namespace lanyard
