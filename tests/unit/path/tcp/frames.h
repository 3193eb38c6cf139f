// Makes frames by hand, as bytes of a connection. Also has a user of the reader that records what it is
// given.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "path/tcp/connection.h"
#include "unit/path/tcp/scripted_sockets.h"

namespace lanyard {

inline Crc32c loaded_crc() { return Crc32c::built_in(); }

inline Bytes pattern(size_t size, uint64_t key) {
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(key * 131 + i * 7 + (i >> 8));
    return bytes;
}

inline void append(Bytes &to, const void *from, size_t size) {
    auto *bytes = static_cast<const std::byte *>(from);
    to.insert(to.end(), bytes, bytes + size);
}

// A frame of any kind. `body` is its Envelope or BulkHeader, or empty.
inline Bytes frame_bytes(const FrameForm &form, FrameHeader header, std::span<const std::byte> body,
                         const Bytes &payload) {
    header.size = static_cast<uint32_t>(payload.size());
    FrameCheck check{};
    if (form.is_checked()) check = form.check_of(header, body, payload, {});
    Bytes all;
    append(all, &header, sizeof header);
    append(all, body.data(), body.size());
    if (form.is_checked()) append(all, &check, sizeof check);
    append(all, payload.data(), payload.size());
    return all;
}

inline Bytes envelope_frame(const FrameForm &form, uint64_t sequence, const Bytes &payload,
                            uint64_t acknowledged = 0, uint8_t flags = 0) {
    Envelope envelope{};
    envelope.length = payload.size();
    envelope.context = sequence;
    FrameHeader header{FrameKind::envelope,
                       flags,
                       0,
                       0,
                       static_cast<uint32_t>(sequence),
                       static_cast<uint32_t>(acknowledged)};
    return frame_bytes(form, header, std::as_bytes(std::span(&envelope, 1)), payload);
}

inline Bytes bulk_frame(const FrameForm &form, const BulkHeader &bulk, const Bytes &payload) {
    return frame_bytes(form, {FrameKind::bulk, 0, 0, 0, 0, 0}, std::as_bytes(std::span(&bulk, 1)), payload);
}

inline Bytes acknowledge_frame(const FrameForm &form, uint64_t sequence, uint64_t acknowledged,
                               uint8_t flags = 0) {
    return frame_bytes(form,
                       {FrameKind::acknowledge, flags, 0, 0, static_cast<uint32_t>(sequence),
                        static_cast<uint32_t>(acknowledged)},
                       {}, {});
}

// The content of a frame, for comparisons.
struct SeenFrame {
    FrameKind kind;
    uint32_t sequence, acknowledged;
    uint64_t receive_id, offset;
    Bytes payload;

    bool operator==(const SeenFrame &) const = default;
};

// If `gives_places`, provides a place for payload that arrives in parts.
class RoomSink final : public Sink {
public:
    void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override {}
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override {}
    void lost(uint32_t, Error reason) override { reason.discard(); }
    void sent(uint64_t) override {}
    std::byte *place(uint32_t, const BulkHeader &, size_t size) override {
        if (gives_places) bytes.assign(size, std::byte{0xcc});
        return gives_places ? bytes.data() : nullptr;
    }
    std::byte *begin(uint32_t, const Envelope &, const std::byte *payload, size_t received, size_t size,
                     size_t &from) override {
        if (!gives_places) return nullptr;
        bytes.assign(size, std::byte{0xcc});
        from = std::min(received, skips);  // the bytes that the sink has already taken
        kept.assign(payload, payload + from);
        return bytes.data();
    }

    bool gives_places = false;
    size_t skips = 0;
    Bytes bytes, kept;
};

class Noting {
public:
    explicit Noting(int budget = 1 << 20) : left(budget) {}

    int budget() const { return left; }
    void spend() {}
    bool has_enough(int so_far) const { return left <= 0 || so_far >= enough; }
    bool begin(const FrameHead &head, const std::byte *payload, size_t received, Assembly &assembly) {
        ++places;
        if (refuses) return false;
        if (head.header.kind == FrameKind::bulk) assembly.begin(room, 0, head.bulk.bulk, head.header.size);
        else assembly.begin(room, 0, head.envelope.envelope, payload, received, head.header.size);
        return true;
    }
    bool complete(const FrameHead &head, const std::byte *payload) {
        --left;
        SeenFrame seen{head.header.kind, head.header.sequence, head.header.acknowledged, 0, 0, {}};
        if (seen.kind == FrameKind::bulk)
            seen.receive_id = head.bulk.bulk.receive_id, seen.offset = head.bulk.bulk.offset;
        seen.payload.assign(payload, payload + head.header.size);
        if (payload == room.bytes.data()) std::copy(room.kept.begin(), room.kept.end(), seen.payload.begin());
        room.kept.clear();
        frames.push_back(std::move(seen));
        return !refuses;
    }
    void fault(FrameReader::Fault what) {
        faults.push_back(what);
        if (connection) connection->fail();
    }

    Connection *connection = nullptr;  // the connection that fails with a faulty frame
    int left, places = 0, enough = 1 << 20;
    bool refuses = false;
    RoomSink room;
    std::vector<SeenFrame> frames;
    std::vector<FrameReader::Fault> faults;
};

}  // namespace lanyard
