// See packet.h.
#include "path/dgram/packet.h"

#include <cstring>

namespace lanyard::dgram {

namespace {

constexpr uint32_t introduces_bit = most_processes;  // the highest bit of the three bytes of `from`

bool may_have_rest(FrameKind kind) { return kind >= FrameKind::envelope && kind <= FrameKind::part; }

uint8_t rest_if(size_t size) { return size == rest ? rest_flag : 0; }

// The texts of the two forms differ in length, so a proof of one form is not valid for the other form.
template <size_t count>
uint64_t proof_of(const Secret &secret, const uint32_t (&numbers)[count]) {
    struct {
        char what[8] = {'d', 'a', 't', 'a', 'g', 'r', 'a', 'm'};
        uint32_t numbers[count];
    } text;
    std::memcpy(text.numbers, numbers, sizeof numbers);
    Proof proof = secret.prove(&text, sizeof text);
    uint64_t first;
    std::memcpy(&first, proof.data(), sizeof first);
    return first & proof_mask;
}

}  // namespace

uint64_t introducing_proof(const Secret &secret, uint32_t from, uint32_t to) {
    return proof_of(secret, {from, to});
}

uint64_t usual_proof(const Secret &secret, uint32_t from, uint32_t to, uint32_t from_epoch,
                     uint32_t to_epoch) {
    return proof_of(secret, {from, to, from_epoch, to_epoch});
}

bool read_sender(std::span<const std::byte> packet, uint32_t &from) {
    if (packet.size() < usual_header_bytes) return false;
    from = 0;
    std::memcpy(&from, packet.data() + 4, 3);
    from &= ~introduces_bit;
    return true;
}

bool read_header(const Crc32c &crc, std::span<const std::byte> packet, PacketHeader &header) {
    if (!read_sender(packet, header.from)) return false;
    uint32_t check;
    std::memcpy(&check, packet.data(), 4);
    if (check != crc(packet.data() + check_bytes, packet.size() - check_bytes)) return false;
    header.introduces = (static_cast<uint8_t>(packet[6]) & introduces_bit >> 16) != 0;
    if (packet.size() < header.bytes()) return false;
    header.proof = 0;
    std::memcpy(&header.proof, packet.data() + 7, 5);
    std::memcpy(&header.number, packet.data() + 12, 4);
    header.from_epoch = header.to_epoch = 0;
    if (!header.introduces) return true;
    std::memcpy(&header.from_epoch, packet.data() + 16, 4);
    std::memcpy(&header.to_epoch, packet.data() + 20, 4);
    return true;
}

void write_header(std::byte *packet, const PacketHeader &header) {
    uint32_t from = header.from | (header.introduces ? introduces_bit : 0);
    std::memcpy(packet + 4, &from, 3);
    std::memcpy(packet + 7, &header.proof, 5);
    std::memcpy(packet + 12, &header.number, 4);
    if (!header.introduces) return;
    std::memcpy(packet + 16, &header.from_epoch, 4);
    std::memcpy(packet + 20, &header.to_epoch, 4);
}

void seal(const Crc32c &crc, std::byte *packet, size_t size, const std::byte *tail, size_t tail_size) {
    uint32_t check = crc(packet + check_bytes, size - check_bytes);
    if (tail_size) check = crc(tail, tail_size, check);
    std::memcpy(packet, &check, 4);
}

bool FrameReader::next(Frame &frame) {
    if (left_.empty() || malformed_) return false;
    malformed_ = !read(frame);
    return !malformed_;
}

bool FrameReader::take(void *to, size_t bytes) {
    if (left_.size() < bytes) return false;
    std::memcpy(to, left_.data(), bytes);
    left_ = left_.subspan(bytes);
    return true;
}

bool FrameReader::take_sequence(Frame &frame) {
    frame.sequence = 0;
    return take(&frame.sequence, 3);
}

bool FrameReader::take_size(Frame &frame, bool is_rest) {
    uint16_t size;
    if (!is_rest && !take(size)) return false;
    frame.size = is_rest ? rest : size;
    return true;
}

bool FrameReader::take_payload(Frame &frame) {
    if (frame.size == rest) frame.size = left_.size();
    if (left_.size() < frame.size) return false;
    frame.payload = left_.data();
    left_ = left_.subspan(frame.size);
    return true;
}

bool FrameReader::take_bulk(Frame &frame) {
    frame.size = rest;
    return take(frame.bulk.receive_id) && take(frame.bulk.offset) && take_payload(frame) && frame.size > 0;
}

bool FrameReader::take_usual_bulk(Frame &frame, uint8_t byte) {
    frame.kind = FrameKind::bulk;
    frame.size = rest;
    frame.bulk = {};
    bool taken = take(&frame.bulk.receive_id, 3) && take(&frame.bulk.offset, byte & far_flag ? 5 : 3) &&
                 take_payload(frame) && frame.size > 0;
    frame.bulk.receive_id |= static_cast<uint64_t>(byte & id_bits) << 24;
    return taken;
}

bool FrameReader::take_acknowledgement(Acknowledgement &acknowledgement) {
    uint8_t count;
    if (!take(count) || !take(acknowledgement.delay_us) || !take(acknowledgement.cumulative) ||
        !take(acknowledgement.expected) || !take(acknowledgement.window))
        return false;
    acknowledgement.away_us = 0;
    if (count & away_flag && !take(acknowledgement.away_us)) return false;
    count &= static_cast<uint8_t>(~away_flag);
    if (count > most_ranges || !take(acknowledgement.ranges, count * range_bytes)) return false;
    acknowledgement.count = count;
    uint32_t end = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const Range &range = acknowledgement.ranges[i];
        // Two ranges that touch are always sent as one range.
        if (range.begin <= end || range.length == 0) return false;
        end = uint32_t{range.begin} + range.length;
    }
    return end <= most_span;
}

bool FrameReader::read(Frame &frame) {
    uint8_t byte = 0;
    bool next_may_follow = next_may_follow_;
    next_may_follow_ = false;
    take(byte);
    if (byte & bulk_flag) return take_usual_bulk(frame, byte);
    bool is_rest = byte & rest_flag;
    frame.kind = static_cast<FrameKind>(byte & ~rest_flag);
    if (is_rest && !may_have_rest(frame.kind)) return false;
    switch (frame.kind) {
        case FrameKind::envelope:
            if (!take_sequence(frame) || !take_size(frame, is_rest) || !take(frame.envelope) ||
                !take_payload(frame))
                return false;
            break;
        case FrameKind::next:
            if (!next_may_follow || !take_size(frame, is_rest) || !take(frame.envelope) ||
                !take_payload(frame))
                return false;
            frame.sequence = next_sequence_;
            break;
        case FrameKind::beginning:
            frame.offset = 0;
            return take_sequence(frame) && take_size(frame, is_rest) && take(frame.total) &&
                   take(frame.envelope) && take_payload(frame) && frame.size > 0 && frame.size < frame.total;
        case FrameKind::part:
            return take_sequence(frame) && take_size(frame, is_rest) && take(frame.offset) &&
                   take_payload(frame) && frame.size > 0 && frame.offset > 0 &&
                   frame.offset <= UINT32_MAX - frame.size;
        case FrameKind::bulk: return take_bulk(frame);
        case FrameKind::acknowledge: return take_acknowledgement(frame.acknowledgement);
        case FrameKind::move_on:
            return take(frame.below);
        case FrameKind::probe: return true;
        case FrameKind::end:
            return take(frame.reason) && take(frame.epoch) &&
                   (frame.reason == EndReason::closed || frame.reason == EndReason::refused);
        default: return false;
    }
    frame.offset = 0;
    frame.total = static_cast<uint32_t>(frame.size);
    next_sequence_ = (frame.sequence + 1) & sequence_mask;
    next_may_follow_ = true;
    return true;
}

void FrameWriter::put(const void *bytes, size_t size) {
    LANYARD_MUST(size <= room());
    if (size) std::memcpy(at_, bytes, size);
    at_ += size;
}

void FrameWriter::begin(uint64_t byte) {
    LANYARD_MUST(!closed_);
    put(static_cast<uint8_t>(byte));
}

void FrameWriter::begin(FrameKind kind, uint8_t flag) { begin(static_cast<uint8_t>(kind) | flag); }

void FrameWriter::put_size(size_t size) {
    closed_ = size == rest;
    if (!closed_) put(static_cast<uint16_t>(size));
}

void FrameWriter::envelope(uint32_t sequence, const Envelope &envelope, size_t size) {
    begin(FrameKind::envelope, rest_if(size));
    put_sequence(sequence);
    put_size(size);
    put(envelope);
}

void FrameWriter::next(const Envelope &envelope, size_t size) {
    begin(FrameKind::next, rest_if(size));
    put_size(size);
    put(envelope);
}

void FrameWriter::beginning(uint32_t sequence, const Envelope &envelope, size_t size, uint32_t total) {
    begin(FrameKind::beginning, rest_if(size));
    put_sequence(sequence);
    put_size(size);
    put(total);
    put(envelope);
}

void FrameWriter::part(uint32_t sequence, size_t size, uint32_t offset) {
    begin(FrameKind::part, rest_if(size));
    put_sequence(sequence);
    put_size(size);
    put(offset);
}

void FrameWriter::bulk(const BulkHeader &header) {
    bool usual = is_usual(header), is_far = header.offset >= near_offsets;
    if (usual) begin(bulk_flag | (is_far ? far_flag : 0) | header.receive_id >> 24);
    else begin(FrameKind::bulk);
    put(&header.receive_id, usual ? 3 : 8);
    put(&header.offset, !usual ? 8 : is_far ? 5 : 3);
    closed_ = true;
}

void FrameWriter::acknowledge(const Acknowledgement &acknowledgement) {
    begin(FrameKind::acknowledge);
    put(static_cast<uint8_t>(acknowledgement.count | (acknowledgement.away_us ? away_flag : 0)));
    put(acknowledgement.delay_us);
    put(acknowledgement.cumulative);
    put(acknowledgement.expected);
    put(acknowledgement.window);
    if (acknowledgement.away_us) put(acknowledgement.away_us);
    put(acknowledgement.ranges, acknowledgement.count * range_bytes);
}

void FrameWriter::move_on(uint64_t below) {
    begin(FrameKind::move_on);
    put(static_cast<uint32_t>(below));
}

void FrameWriter::probe() { begin(FrameKind::probe); }

void FrameWriter::end(EndReason reason, uint32_t epoch) {
    begin(FrameKind::end);
    put(reason);
    put(epoch);
}

}  // namespace lanyard::dgram
