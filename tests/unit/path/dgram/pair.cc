// Implements the two sides, which keep what they receive for the test to examine. See pair.h.
#include "pair.h"

#include <cstring>

namespace lanyard::dgram {

namespace {

Secret secret_of(char digit) {
    Secret secret;
    Secret::parse(std::string(64, digit), secret);
    return secret;
}

const std::byte *bytes_of(const std::string &text) {
    return reinterpret_cast<const std::byte *>(text.data());
}

}  // namespace

Side::Side(uint32_t own, uint32_t peer, uint32_t epoch, const FlowLimits &limits, char secret)
    : home(own, secret_of(secret), Crc32c::built_in(), limits, *this), flow(home, peer, epoch, largest) {}

void Side::send(const std::string &payload) {
    Envelope envelope{};
    envelope.context = log.size();
    log.emplace_back(envelope, payload);
    flow.log_grew(log.size());
}

void Side::send_bulk(uint64_t token, std::string bytes) {
    if (bulk_log.size() <= token) bulk_log.resize(token + 1);
    bulk_log[token] = std::move(bytes);
    flow.send_bulk({token, 0}, bulk_log[token].size(), token);
}

std::vector<PacketBytes> Side::packets(uint64_t now_ns) {
    std::vector<PacketBytes> all;
    std::vector<std::byte> buffer(largest);
    OutPacket out{};
    out.buffer = buffer.data();
    while (flow.compose(out, now_ns)) {
        PacketBytes packet(out.buffer, out.buffer + out.size);
        packet.insert(packet.end(), out.tail, out.tail + out.tail_size);
        all.push_back(std::move(packet));
    }
    return all;
}

PacketBytes Side::packet(uint64_t now_ns) {
    std::vector<PacketBytes> all = packets(now_ns);
    LANYARD_MUST(all.size() <= 1);
    return all.empty() ? PacketBytes() : all[0];
}

Logged Side::logged(Flow &, uint64_t sequence) {
    LANYARD_MUST(sequence >= delivered_below && sequence < log.size());
    const auto &[envelope, payload] = log[sequence];
    return {&envelope, bytes_of(payload), static_cast<uint32_t>(payload.size())};
}

const std::byte *Side::bulk_bytes(Flow &, uint64_t token, uint64_t offset, std::byte *, size_t size) {
    LANYARD_MUST(offset + size <= bulk_log[token].size());
    return bytes_of(bulk_log[token]) + offset;
}

void Side::envelope(Flow &, const Piece &piece, const std::byte *payload) {
    LANYARD_MUST(piece.at.sequence == arrived.size() && piece.at.offset == arriving.size());
    LANYARD_MUST(!piece.first() || piece.envelope.context == arrived.size());
    arriving.append(reinterpret_cast<const char *>(payload), piece.size);
    if (arriving.size() < piece.total) return;
    arrived.push_back(std::exchange(arriving, ""));
}

void Side::bulk(Flow &, const BulkHeader &header, const std::byte *payload, size_t size) {
    if (bulk_arrived.size() <= header.receive_id) bulk_arrived.resize(header.receive_id + 1);
    std::string &bytes = bulk_arrived[header.receive_id];
    if (bytes.size() < header.offset + size) bytes.resize(header.offset + size);
    std::memcpy(bytes.data() + header.offset, payload, size);
}

int exchange(Side &a, Side &b, uint64_t &now_ns, uint64_t until_ns, uint64_t step_ns) {
    int count = 0;
    for (; now_ns < until_ns; now_ns += step_ns)
        for (bool moved = true; moved;) {
            moved = false;
            for (auto [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}})
                for (const PacketBytes &packet : from->packets(now_ns)) {
                    to->give(packet, now_ns);
                    moved = true;
                    ++count;
                }
        }
    return count;
}

std::vector<Frame> frames_of(const PacketBytes &packet) {
    std::vector<Frame> frames;
    if (packet.empty()) return frames;
    FrameReader reader(std::span<const std::byte>(packet).subspan(header_of(packet).bytes()));
    Frame frame;
    while (reader.next(frame)) frames.push_back(frame);
    LANYARD_MUST(!reader.malformed());
    return frames;
}

PacketHeader header_of(const PacketBytes &packet) {
    PacketHeader header;
    LANYARD_MUST(read_header(Crc32c::built_in(), packet, header));
    return header;
}

uint64_t number_of(const PacketBytes &packet) { return header_of(packet).number & ~numbered; }

bool has(const PacketBytes &packet, FrameKind kind) {
    for (const Frame &frame : frames_of(packet))
        if (frame.kind == kind) return true;
    return false;
}

}  // namespace lanyard::dgram
