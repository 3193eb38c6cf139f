// What a link reads: frames, from one buffer for all links, payload that is missing straight to its place.
#include <errno.h>

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "path/tcp/tcp_path.h"

namespace lanyard {

namespace {
constexpr size_t buffer_bytes = 64 * 1024;
// Read with a payload that has a place, and where the next payload will have one: the less of that is in the buffer the less is copied.
constexpr size_t bytes_behind_payload = 4096;
// Of long payload that comes slower than a chunk in slow_chunk_ns, a sleeper is told by the chunk: no packet of it wakes anybody up, and
// those who wait leave the processor to others.
constexpr size_t chunk_bytes = 64 * 1024, least_chunk_bytes = 16 * 1024;
constexpr uint64_t slow_chunk_ns = 50'000, shortest_look_ns = 10'000;
}  // namespace

int TcpPath::read_in(Link &link, int budget) {
    if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
    int work = 0;
    while (work < budget && !rest_of_ && link.socket >= 0 && !link.failed) {
        iovec parts[2];
        int count = 0;
        size_t missing = link.frame.payload.missing();
        if (missing) parts[count++] = {link.frame.payload.next(), missing};
        size_t behind = missing || link.frame.was_long ? bytes_behind_payload : buffer_bytes;
        parts[count++] = {buffer_.get(), behind};
        ssize_t result = sockets_.read(link.socket, parts, count);
        if (result <= 0) {
            if (result != -EAGAIN) fail(link);
            break;
        }
        auto bytes = static_cast<size_t>(result);
        link.last_came_ns = link.used_ns = now_ns_;
        ++work;  // a part of a frame is progress too
        size_t direct = std::min(bytes, missing);
        link.frame.payload.arrived(direct);
        rest_begin_ = 0;
        rest_end_ = bytes - direct;
        rest_of_ = &link;
        if (direct && direct == missing) work += frame_complete(link, link.frame.payload.payload());
        work += take_apart(link, budget - work);
        if (bytes < missing + behind) break;  // there was no more
    }
    if (link.frame.payload.is_open() || link.wake_at > 1) fit_waking_to_pace(link);
    answer_if_wanted(link);
    recount(link);
    return work;
}

// Some of a payload was read, or its end. What still comes wakes a sleeper by the chunk, and at its end.
void TcpPath::fit_waking_to_pace(Link &link) {
    const auto &frame = link.frame;
    size_t missing = frame.payload.missing(), come = frame.payload.come() - frame.come_at_once;
    uint64_t passed_ns = now_ns_ - frame.begun_ns;
    if (missing && come >= least_chunk_bytes && passed_ns >= shortest_look_ns) link.slow = passed_ns * chunk_bytes > slow_chunk_ns * come;
    size_t wake_at = link.slow && missing >= least_chunk_bytes ? std::min(missing, chunk_bytes) : 1;
    bool fits = wake_at == link.wake_at || (wake_at > 1 && link.wake_at > 1 && link.wake_at <= missing);
    if (fits || link.socket < 0 || link.failed) return;
    coming_slowly_ += (wake_at > 1) - (link.wake_at > 1);
    link.wake_at = wake_at;
    sockets_.wake_at(link.socket, wake_at);
}

// After frames were taken.
void TcpPath::answer_if_wanted(Link &link) {
    bool wanted = link.answer_wanted || link.untold_bytes >= limits_.answer_after;
    if (!wanted || link.socket < 0 || link.failed) return;
    append_answer(link, 0);
    write_out(link);
}

int TcpPath::take_rest(int budget) {
    if (!rest_of_) return 0;
    Link &link = *rest_of_;
    int work = take_apart(link, budget);
    answer_if_wanted(link);
    recount(link);
    return work;
}

// Takes frames out of the rest in the buffer; what is left when the budget is spent stays there.
int TcpPath::take_apart(Link &link, int budget) {
    auto &frame = link.frame;
    int work = 0;
    while (rest_of_ == &link && rest_begin_ < rest_end_) {
        if (work >= budget || (work > 0 && sink_->sated())) return work;
        const std::byte *at = buffer_.get() + rest_begin_;
        size_t left = rest_end_ - rest_begin_;
        if (frame.payload.is_open()) {
            size_t part = std::min(left, frame.payload.missing());
            frame.payload.add(at, part);
            rest_begin_ += part;
            if (frame.payload.missing() == 0) work += frame_complete(link, frame.payload.payload());
            continue;
        }
        size_t head_bytes = sizeof(FrameHeader);
        bool knows_kind = frame.head_come >= head_bytes;
        if (frame.head_come == 0 && left >= head_bytes) {  // most often it comes as a whole, and is taken at once
            std::memcpy(frame.head.bytes, at, head_bytes);
            knows_kind = true;
        }
        if (knows_kind) head_bytes += body_bytes(frame.head.header.kind) + check_bytes_;
        size_t part = std::min(left, head_bytes - frame.head_come);
        std::memcpy(frame.head.bytes + frame.head_come, at, part);
        frame.head_come += part;
        rest_begin_ += part;
        if (frame.head_come < sizeof(FrameHeader)) continue;
        const FrameHeader &header = frame.head.header;
        if (!sensible(header)) {
            if (crc_) damaged(link);
            else garbled(link, "a frame of no known form");
            break;
        }
        if (frame.head_come < sizeof(FrameHeader) + body_bytes(header.kind) + check_bytes_) continue;
        if (crc_ && !head_is_right(link)) {
            damaged(link);
            break;
        }
        left = rest_end_ - rest_begin_;
        if (left >= header.size) {
            const std::byte *payload = buffer_.get() + rest_begin_;
            rest_begin_ += header.size;
            if (header.size) frame.was_long = false;
            work += frame_complete(link, payload);
        } else {
            begin_payload(link, left);
        }
    }
    if (rest_of_ == &link) rest_of_ = nullptr;
    return work;
}

bool TcpPath::sensible(const FrameHeader &header) const {
    if (crc_ && header.reserved != kind_check(header)) return false;
    switch (header.kind) {
        case FrameKind::envelope: return header.size <= limits_.max_eager;
        case FrameKind::bulk: return header.size <= (crc_ ? most_checked_bulk : most_bulk);
        case FrameKind::acknowledge: return header.size == 0;
    }
    return false;
}

FrameCheck TcpPath::check_come(const Link &link) const {
    FrameCheck check;
    std::memcpy(&check, link.frame.head.bytes + sizeof(FrameHeader) + body_bytes(link.frame.head.header.kind), sizeof check);
    return check;
}

bool TcpPath::head_is_right(Link &link) {
    auto &frame = link.frame;
    frame.checksum = 0;
    frame.summed = 0;
    return crc_(frame.head.bytes, sizeof(FrameHeader) + body_bytes(frame.head.header.kind)) == check_come(link).head;
}

// How many of the `come` bytes at `payload`, of an envelope's, may be believed before the rest has come; -1: they are wrong.
ssize_t TcpPath::beginning_that_is_right(const Link &link, const std::byte *payload, size_t come) const {
    size_t beginning = std::min<size_t>(link.frame.head.header.size, most_beginning);
    if (come < beginning) return 0;
    return crc_(payload, beginning) == check_come(link).beginning ? static_cast<ssize_t>(beginning) : -1;
}

bool TcpPath::payload_is_right(const Link &link, const std::byte *payload) const {
    const auto &frame = link.frame;
    return crc_(payload + frame.summed, frame.head.header.size - frame.summed, frame.checksum) == check_come(link).payload;
}

// The payload comes in parts, `come` bytes of it are in the buffer: finds a place for it.
void TcpPath::begin_payload(Link &link, size_t come) {
    auto &frame = link.frame;
    const FrameHeader &header = frame.head.header;
    if (header.kind == FrameKind::envelope && !is_next(link, header)) return garbled(link, "an envelope that is not the next");
    size_t from = 0;
    if (header.kind == FrameKind::bulk) {
        frame.payload.begin(*sink_, link.peer, frame.head.bulk.bulk, header.size);
    } else {
        const Envelope envelope = frame.head.envelope.envelope;
        const std::byte *payload = buffer_.get() + rest_begin_;
        ssize_t believed = crc_ ? beginning_that_is_right(link, payload, come) : static_cast<ssize_t>(come);
        if (believed < 0) return damaged(link);
        from = frame.payload.begin(*sink_, link.peer, envelope, payload, static_cast<size_t>(believed), header.size);
        if (crc_) frame.checksum = crc_(payload, from);
        frame.summed = from;
        if (link.to_flush && !link.awaits_room) write_out(link);  // the answer to an offer, while its first bytes come
    }
    frame.was_long = true;
    frame.come_at_once = come;
    frame.begun_ns = now_ns_;
    rest_begin_ += from;
}

// A whole frame is here; 1, the frames done.
int TcpPath::frame_complete(Link &link, const std::byte *payload) {
    auto &frame = link.frame;
    const FrameHeader header = frame.head.header;
    std::unique_ptr<std::byte[]> room = frame.payload.end();  // which may hold the payload
    frame.head_come = 0;
    if (crc_ && !payload_is_right(link, payload)) {
        damaged(link);
        return 1;
    }
    uint64_t acknowledged = widened(header.acknowledged, link.next_number);
    if (acknowledged > link.next_number || !link.log.has_written(acknowledged)) {
        garbled(link, "an acknowledgement of what was never sent");
        return 1;
    }
    link.log.acknowledged(acknowledged);
    take_released(link);
    if (header.flags & answer_now) link.answer_wanted = true;
    link.resting = header.flags & at_rest;
    if (header.kind == FrameKind::envelope) {
        envelope_come(link, header, frame.head.envelope.envelope, payload);
    } else if (header.kind == FrameKind::bulk) {
        ++counts_.bulk_come;
        sink_->bulk(link.peer, frame.head.bulk.bulk, payload, header.size);
    }
    return 1;
}

bool TcpPath::is_next(const Link &link, const FrameHeader &header) const {
    return widened(header.sequence, link.expected) == link.expected;
}

void TcpPath::envelope_come(Link &link, const FrameHeader &header, const Envelope &carried, const std::byte *payload) {
    if (!is_next(link, header)) return garbled(link, "an envelope that is not the next");
    const Envelope envelope = carried;  // what the sink sends may change what is here
    ++link.expected;
    ++counts_.envelopes_come;
    link.untold_bytes += sizeof(EnvelopeFrame) + header.size;
    if (link.answer_due_ns == UINT64_MAX) {
        link.answer_due_ns = now_ns_ + limits_.answer_within_ns;
        tend_to(link, link.answer_due_ns);
    }
    sink_->envelope(link.peer, envelope, payload, header.size);
}

// Told of once: who has set LANYARD_CHECKSUM wants to know, and nothing else goes wrong.
void TcpPath::damaged(Link &link) {
    rest_of_ = nullptr;
    ++counts_.damaged;
    log(counts_.damaged == 1 ? LogLevel::warn : LogLevel::info, "tcp",
        "peer %u: what came was damaged on its way (a checksum is wrong, %llu so far); it is sent again on a new connection", link.peer,
        static_cast<unsigned long long>(counts_.damaged));
    fail(link);
}

void TcpPath::garbled(Link &link, const char *what) {
    log(LogLevel::warn, "tcp", "peer %u: %s; the connection is made anew", link.peer, what);
    rest_of_ = nullptr;
    ++counts_.garbled;
    fail(link);
}

}  // namespace lanyard
