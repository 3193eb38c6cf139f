#include "path/dgram/packet.h"

#include <cstring>

namespace lanyard::dgram {

bool read_header(const Crc32c &crc, std::span<const std::byte> packet, PacketHeader &header) {
    if (packet.size() < header_bytes) return false;
    uint32_t check;
    std::memcpy(&check, packet.data(), 4);
    if (check != crc(packet.data() + check_bytes, packet.size() - check_bytes)) return false;
    std::memcpy(&header.from, packet.data() + 4, 4);
    std::memcpy(&header.proof, packet.data() + 8, 8);
    std::memcpy(&header.from_epoch, packet.data() + 16, 4);
    std::memcpy(&header.to_epoch, packet.data() + 20, 4);
    header.number = 0;
    std::memcpy(&header.number, packet.data() + 24, 6);
    return true;
}

void write_header(std::byte *packet, const PacketHeader &header) {
    std::memcpy(packet + 4, &header.from, 4);
    std::memcpy(packet + 8, &header.proof, 8);
    std::memcpy(packet + 16, &header.from_epoch, 4);
    std::memcpy(packet + 20, &header.to_epoch, 4);
    std::memcpy(packet + 24, &header.number, 6);
}

void seal(const Crc32c &crc, std::byte *packet, size_t size, const std::byte *tail, size_t tail_size) {
    uint32_t check = crc(packet + check_bytes, size - check_bytes);
    if (tail_size) check = crc(tail, tail_size, check);
    std::memcpy(packet, &check, 4);
}

bool FrameReader::next(Frame &frame) {
    if (rest_.empty() || malformed_) return false;
    malformed_ = !read(frame);
    return !malformed_;
}

bool FrameReader::take(void *to, size_t bytes) {
    if (rest_.size() < bytes) return false;
    std::memcpy(to, rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
    return true;
}

bool FrameReader::take_sequence(Frame &frame) {
    frame.sequence = 0;
    return take(&frame.sequence, 3);
}

bool FrameReader::take_payload(Frame &frame, uint16_t size) {
    if (rest_.size() < size) return false;
    frame.payload = rest_.data();
    frame.size = size;
    rest_ = rest_.subspan(size);
    return true;
}

bool FrameReader::take_acknowledgement(Acknowledgement &acknowledgement) {
    uint8_t count;
    if (!take(count) || !take(acknowledgement.delay_us) || !take(acknowledgement.cumulative) || !take(acknowledgement.expected) ||
        !take(acknowledgement.window) || count > most_ranges || !take(acknowledgement.ranges, count * range_bytes))
        return false;
    acknowledgement.count = count;
    uint32_t end = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const Range &range = acknowledgement.ranges[i];
        if (range.begin <= end || range.length == 0) return false;  // one that touched the last would be part of it
        end = uint32_t{range.begin} + range.length;
    }
    return end <= most_span;
}

bool FrameReader::read(Frame &frame) {
    uint16_t size = 0;
    uint8_t zero;
    bool next_may_come = next_may_come_;
    next_may_come_ = false;
    take(frame.kind);
    switch (frame.kind) {
        case FrameKind::envelope:
            if (!take_sequence(frame) || !take(size) || !take(frame.envelope) || !take_payload(frame, size)) return false;
            break;
        case FrameKind::next:
            if (!next_may_come || !take(size) || !take(frame.envelope) || !take_payload(frame, size)) return false;
            frame.sequence = next_sequence_;
            break;
        case FrameKind::beginning:
            frame.offset = 0;
            return take_sequence(frame) && take(size) && take(frame.total) && take(frame.envelope) && size > 0 && size < frame.total &&
                   take_payload(frame, size);
        case FrameKind::part:
            return take_sequence(frame) && take(size) && take(frame.offset) && size > 0 && frame.offset > 0 && frame.offset <= UINT32_MAX - size &&
                   take_payload(frame, size);
        case FrameKind::bulk: return take(zero) && take(size) && take(frame.bulk) && size > 0 && take_payload(frame, size);
        case FrameKind::acknowledge: return take_acknowledgement(frame.acknowledgement);
        case FrameKind::settled: return take(zero) && take(size) && take(frame.below);
        case FrameKind::probe: return true;
        case FrameKind::end:
            return take(frame.reason) && take(size) && take(frame.epoch) && (frame.reason == EndReason::closed || frame.reason == EndReason::refused);
        default: return false;
    }
    frame.offset = 0;
    frame.total = size;
    next_sequence_ = (frame.sequence + 1) & sequence_mask;
    next_may_come_ = true;
    return true;
}

void FrameWriter::put(const void *bytes, size_t size) {
    LANYARD_MUST(size <= room());
    if (size) std::memcpy(at_, bytes, size);
    at_ += size;
}

void FrameWriter::put_head(FrameKind kind, uint32_t sequence, size_t size) {
    put(kind);
    put(&sequence, 3);
    put(static_cast<uint16_t>(size));
}

void FrameWriter::envelope(uint32_t sequence, const Envelope &envelope, size_t size) {
    put_head(FrameKind::envelope, sequence, size);
    put(envelope);
}

void FrameWriter::next(const Envelope &envelope, size_t size) {
    put(FrameKind::next);
    put(static_cast<uint16_t>(size));
    put(envelope);
}

void FrameWriter::beginning(uint32_t sequence, const Envelope &envelope, size_t size, uint32_t total) {
    put_head(FrameKind::beginning, sequence, size);
    put(total);
    put(envelope);
}

void FrameWriter::part(uint32_t sequence, size_t size, uint32_t offset) {
    put_head(FrameKind::part, sequence, size);
    put(offset);
}

void FrameWriter::bulk(const BulkHeader &header, size_t size) {
    put(FrameKind::bulk);
    put(uint8_t{0});
    put(static_cast<uint16_t>(size));
    put(header);
}

void FrameWriter::acknowledge(const Acknowledgement &acknowledgement) {
    put(FrameKind::acknowledge);
    put(static_cast<uint8_t>(acknowledgement.count));
    put(acknowledgement.delay_us);
    put(acknowledgement.cumulative);
    put(acknowledgement.expected);
    put(acknowledgement.window);
    put(acknowledgement.ranges, acknowledgement.count * range_bytes);
}

void FrameWriter::settled(uint64_t below) {
    put(FrameKind::settled);
    put(uint8_t{0});
    put(uint16_t{0});
    put(static_cast<uint32_t>(below));
}

void FrameWriter::probe() { put(FrameKind::probe); }

void FrameWriter::end(EndReason reason, uint32_t epoch) {
    put(FrameKind::end);
    put(reason);
    put(uint16_t{0});
    put(epoch);
}

}  // namespace lanyard::dgram
