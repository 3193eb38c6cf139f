// Defines the form of datagrams between two processes: a header, then frames up to the packet's end. Integers
// have their lowest byte first, and nothing is aligned (docs/internals/protocol-datagrams.md).
//
//                  0         4        7         12         16
//     usual        | check 4 | from 3 | proof 5 | number 4 | frames ...
//     introducing  | check 4 | from 3 | proof 5 | number 4 | from's epoch 4 | to's epoch 4 | frames ...
//
//   check      CRC32C of all bytes behind it
//   from       the sender's serial, job + number (base/processes.h). The serial identifies both, since the
//              jobs of a launcher share one count. The field's highest bit is set in the introducing form
//   proof      made with the job's secret, the same in every packet of this form and direction; keeps out
//              strangers and packets of other jobs. The introducing form proves (from, to). The usual form
//              also proves both epochs, so the packet need not name them: a process with another epoch for
//              itself or its peer computes another proof
//   number     2^31 plus the lower 31 bits of 1, 2, 3...; 0: the packet has no number, because all its
//              contents may be received twice, which is true only of `acknowledge` and `end`. (Since 2^31 is
//              added, a number whose lower bits are 0 can be used like any other)
//   epochs     of both sides of this flow; to's epoch is 0 until a packet of `to` has arrived at `from`
//
//     envelope     | 1 | sequence 3 | size 2 | envelope 32 | payload            a whole envelope
//     next         | 2 | size 2 | envelope 32 | payload                         a whole envelope, directly
//                                                                               after `envelope` or `next`
//     beginning    | 3 | sequence 3 | size 2 | total 4 | envelope 32 | payload  the first of `total` bytes
//     part         | 4 | sequence 3 | size 2 | offset 4 | payload               further bytes of it
//     bulk         | 0x40 + i | receive id 3 | offset 3 | payload               i: next six bits of the id
//                  | 0xc0 + i | receive id 3 | offset 5 | payload               if the offset is 2^24 or more
//                  | 5 | receive id 8 | offset 8 | payload                      with any other id or offset
//     acknowledge  | 6 | ranges 1 | delay 2 | cumulative 4 | expected 4 | window 4 | away 2 |
//                        ranges of (begin 2, length 2); `away` only if 0x80 is added to the number of ranges
//     move_on      | 7 | below 4                    packets before this number are not worth waiting for
//     probe        | 8 |                            answer now
//     end          | 9 | reason 1 | epoch 4
//
//   If 0x80 is added to kinds 1 to 4, the payload extends to the packet's end and `size` is left out. Bulk
//   never has a size.
//
// A packet with one envelope thus has 52 bytes beside its payload, and a packet full of bulk has 23. A packet
// contains only the lower bits of each number. The receiver takes the number that has these lower bits and is
// nearest to the number that it expects.
// This file defines only the form. Flow decides what is sent, and when. Thread rule: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/crc32c.h"
#include "net/packet_io.h"
#include "net/secret.h"
#include "path/envelope.h"
#include "path/path.h"

namespace lanyard::dgram {

constexpr size_t check_bytes = 4, usual_header_bytes = 16, introducing_header_bytes = 24;
constexpr uint32_t most_processes = uint32_t{1} << 23;  // the serials of processes are below this
constexpr uint64_t proof_mask = (uint64_t{1} << 40) - 1;
constexpr uint32_t numbered = uint32_t{1} << 31;
constexpr int number_bits = 31;

struct PacketHeader {
    uint32_t from;
    bool introduces;  // has the introducing form
    uint64_t proof;
    uint32_t number;                        // as it stands in the packet: number_field(), or 0
    uint32_t from_epoch = 0, to_epoch = 0;  // only in the introducing form

    size_t bytes() const { return introduces ? introducing_header_bytes : usual_header_bytes; }
};
// The field `number` of a packet with this number.
constexpr uint32_t number_field(uint64_t number) { return numbered | static_cast<uint32_t>(number); }

enum class FrameKind : uint8_t {
    envelope = 1,
    next,
    beginning,
    part,
    bulk,
    acknowledge,
    move_on,
    probe,
    end
};
enum class EndReason : uint8_t { closed = 1, refused };

// Lengths of frames without their payload and without `size`, which is present only if another frame may
// follow.
constexpr size_t envelope_frame_bytes = 4 + sizeof(Envelope), next_frame_bytes = 1 + sizeof(Envelope),
                 size_bytes = 2;
constexpr size_t queued_frame_bytes = next_frame_bytes + size_bytes;  // of an envelope in a series
constexpr size_t beginning_frame_bytes = 8 + sizeof(Envelope), part_frame_bytes = 8;
constexpr uint64_t usual_receive_ids = uint64_t{1} << 30, near_offsets = uint64_t{1} << 24,
                   usual_offsets = uint64_t{1} << 40;
constexpr bool is_usual(const BulkHeader &bulk) {
    return bulk.receive_id < usual_receive_ids && bulk.offset < usual_offsets;
}
constexpr size_t bulk_frame_bytes(const BulkHeader &bulk) {
    return !is_usual(bulk) ? 17 : bulk.offset < near_offsets ? 7 : 9;
}
constexpr size_t acknowledge_frame_bytes = 16, away_bytes = 2, range_bytes = 4, move_on_frame_bytes = 5,
                 probe_frame_bytes = 1, end_frame_bytes = 6;
static_assert(usual_header_bytes + envelope_frame_bytes <= 52);
constexpr uint8_t rest_flag = 0x80;  // added to a kind if the payload is the rest of the packet
// Bits of the byte that bulk has in place of a kind. bulk_flag: the frame is bulk. far_flag: the offset is
// near_offsets or more. id_bits: bits of the receive id.
constexpr uint8_t bulk_flag = 0x40, far_flag = 0x80, id_bits = 0x3f;
constexpr size_t rest = SIZE_MAX;  // as the size of a payload: the payload extends to the packet's end

constexpr uint32_t sequence_mask = 0xffffff;
constexpr uint32_t most_ranges = 32;  // most ranges in an acknowledgement
constexpr uint8_t away_flag = 0x80;   // added to the number of ranges if `away` follows
constexpr uint64_t most_span = 4096;  // most numbers from the oldest packet not passed over to the newest
constexpr uint32_t no_limit = UINT32_MAX;  // value of `window` that sets no limit
constexpr size_t most_packet = 65'000;  // the shortest is least_packet (net/packet_io.h)

// A range of packets that have arrived. `begin` is counted from `cumulative`.
struct Range {
    uint16_t begin, length;
};

struct Acknowledgement {
    uint16_t delay_us = 0;    // time since the highest acknowledged packet was read
    uint16_t away_us = 0;     // the longest time for which that packet may have waited here to be read
    uint32_t cumulative = 0;  // all packets before this number have arrived or are passed over
    uint32_t expected = 0;    // all envelopes before this one have been delivered
    uint32_t window = 0;      // bytes of packets that may be in flight
    uint32_t count = 0;       // number of ranges, which are disjoint, lowest first
    Range ranges[most_ranges];
};

// One frame of a packet, as read; `payload` lies in the packet. Only the fields that belong to `kind` are
// set.
struct Frame {
    FrameKind kind;
    uint32_t sequence;  // of envelopes: the lower 24 bits, also for `next`
    uint32_t offset;    // of this payload within the envelope's whole payload
    uint32_t total;     // payload of the whole envelope; not set for `part`
    Envelope envelope;
    BulkHeader bulk;
    const std::byte *payload;
    size_t size;
    Acknowledgement acknowledgement;
    uint32_t below;  // of `move_on`
    EndReason reason;
    uint32_t epoch;  // of `end`
};

// These functions compute the proofs of the two forms.
uint64_t introducing_proof(const Secret &secret, uint32_t from, uint32_t to);
uint64_t usual_proof(const Secret &secret, uint32_t from, uint32_t to, uint32_t from_epoch,
                     uint32_t to_epoch);

// Reads only the sender of a packet. Returns false if the packet is too short to name one.
bool read_sender(std::span<const std::byte> packet, uint32_t &from);
// Has the packet a complete header and the right check? If so, sets `header`.
bool read_header(const Crc32c &crc, std::span<const std::byte> packet, PacketHeader &header);

// Reads the frames of a packet, one after the other.
class FrameReader {
public:
    explicit FrameReader(std::span<const std::byte> frames) : left_(frames) {}
    // Reads the next frame. Returns false at the packet's end, or if the packet is malformed.
    bool next(Frame &frame);
    bool malformed() const { return malformed_; }

private:
    bool read(Frame &frame);
    bool take(void *to, size_t bytes);
    template <class T>
    bool take(T &value) {
        return take(&value, sizeof value);
    }
    bool take_sequence(Frame &frame);
    bool take_acknowledgement(Acknowledgement &acknowledgement);
    bool take_size(Frame &frame, bool is_rest);
    bool take_payload(Frame &frame);
    bool take_bulk(Frame &frame);
    bool take_usual_bulk(Frame &frame, uint8_t byte);

    std::span<const std::byte> left_;
    uint32_t next_sequence_ = 0;
    bool next_may_follow_ = false;
    bool malformed_ = false;
};

// Writes frames one after the other into memory that must have room for them.
class FrameWriter {
public:
    FrameWriter(std::byte *to, size_t room) : begin_(to), at_(to), end_(to + room) {}
    size_t size() const { return static_cast<size_t>(at_ - begin_); }
    size_t room() const { return static_cast<size_t>(end_ - at_); }
    // The place of the next byte.
    std::byte *at() const { return at_; }
    // Does the last frame extend to the packet's end? If so, no frame may follow.
    bool closed() const { return closed_; }

    // The next five functions write a frame without its payload. The caller adds the payload by copy(), or
    // sends it from elsewhere. The payload's length is `size`; `rest` means that the payload extends to the
    // packet's end. The payload of bulk always does.
    void envelope(uint32_t sequence, const Envelope &envelope, size_t size);
    void next(const Envelope &envelope, size_t size);
    void beginning(uint32_t sequence, const Envelope &envelope, size_t size, uint32_t total);
    void part(uint32_t sequence, size_t size, uint32_t offset);
    void bulk(const BulkHeader &header);
    void acknowledge(const Acknowledgement &acknowledgement);
    void move_on(uint64_t below);
    void probe();
    void end(EndReason reason, uint32_t epoch);

    void copy(const std::byte *bytes, size_t size) { put(bytes, size); }
    // Called when the caller has written `size` bytes itself.
    void skip(size_t size) { at_ += size; }

private:
    void put(const void *bytes, size_t size);
    template <class T>
    void put(T value) {
        put(&value, sizeof value);
    }
    void begin(uint64_t byte);
    void begin(FrameKind kind, uint8_t flag = 0);
    void put_size(size_t size);
    void put_sequence(uint32_t sequence) { put(&sequence, 3); }

    std::byte *begin_, *at_, *end_;
    bool closed_ = false;
};

// Writes the header at the packet's beginning. seal() sets the check when everything is in place.
void write_header(std::byte *packet, const PacketHeader &header);
// `tail`: the part of the packet that lies elsewhere.
void seal(const Crc32c &crc, std::byte *packet, size_t size, const std::byte *tail, size_t tail_size);

// The number nearest to `about` whose lower `bits` bits are `low`.
constexpr uint64_t widened(uint32_t low, uint64_t about, int bits = 32) {
    auto distance = static_cast<int32_t>((low - static_cast<uint32_t>(about)) << (32 - bits)) >> (32 - bits);
    return about + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

}  // namespace lanyard::dgram
