// See link_writer.h.
#include "path/tcp/link_writer.h"

#include <algorithm>
#include <cstring>

namespace lanyard {

namespace {
template <class Body>
std::span<const std::byte> bytes_of(const Body &body) {
    return std::as_bytes(std::span(&body, 1));
}
}  // namespace

void LinkWriter::want(Link &link) {
    if (!link.parted_ns) links_.miss(link, links_.sockets.now_ns());
    connector_.want(link.peer);
}

// The header of the frame that is sent next. The header also acknowledges what has arrived.
FrameHeader LinkWriter::header(Link &link, FrameKind kind, size_t size) {
    link.incoming.told();
    return {.kind = kind,
            .flags = 0,
            .reserved = 0,
            .size = static_cast<uint32_t>(size),
            .sequence = static_cast<uint32_t>(link.next_number),
            .acknowledged = static_cast<uint32_t>(link.incoming.expected())};
}

void LinkWriter::answer(Link &link, uint8_t flags) {
    CheckedAcknowledge frame{header(link, FrameKind::acknowledge, 0), {}};
    frame.header.flags = flags;
    if (links_.form.is_checked()) frame.check = links_.form.check_of(frame.header, {}, {}, {});
    size_t bytes = links_.form.head_bytes(FrameKind::acknowledge);
    std::memcpy(link.log.append(bytes), &frame, bytes);
    ++links_.counts.acknowledgements;
    write_out(link);
    links_.recount(link);
}

// The frame bypasses the log: its `sequence` is no number of an envelope, and it must never be written to
// another connection.
bool LinkWriter::say_idle_close(Link &link) {
    CheckedAcknowledge frame{header(link, FrameKind::acknowledge, 0), {}};
    frame.header.flags = idle_close;
    frame.header.sequence = static_cast<uint32_t>(link.connection.bulk_received());
    if (links_.form.is_checked()) frame.check = links_.form.check_of(frame.header, {}, {}, {});
    iovec whole{&frame, links_.form.head_bytes(FrameKind::acknowledge)};
    size_t written = link.connection.write_first(links_.sockets, link.log, &whole, 1);
    if (written == whole.iov_len) {
        ++links_.counts.acknowledgements;
        return true;
    }
    // Nothing can be written behind a part of a frame.
    if (written > 0 || link.connection.has_failed()) links_.fail(link);
    return false;
}

// Called when an envelope has been put into the log.
inline void LinkWriter::sent(Link &link, bool connected) {
    ++link.next_number;
    ++links_.counts.envelopes_sent;
    link.answer_asked = false;
    if (connected && !links_.sink) {
        if (!link.connection.awaits_room()) write_out(link);
    } else if (connected && !link.to_flush) {
        link.to_flush = true;
        to_flush_.push_back(&link);
    }
    links_.recount(link);
}

Sent LinkWriter::send(Link &link, const Envelope &envelope, Payload &&payload) {
    const FrameForm &form = links_.form;
    bool connected = is_connected(link);
    if (link.log.bytes() >= links_.limits.log_limit) return Sent::full;
    CheckedEnvelope head;
    head.frame = {header(link, FrameKind::envelope, payload.size), envelope};
    bool checked = form.is_checked() && payload.data;
    if (checked)
        head.check =
            form.check_of(head.frame.header, bytes_of(head.frame.envelope), {payload.data, payload.size}, {});
    size_t written = 0, size = payload.size;
    if (connected && payload.data && payload.size >= links_.limits.write_first_from)
        written = write_first(link, head, payload);
    size_t head_bytes = sizeof head.frame + form.check_bytes();
    std::byte *place = link.log.append(head_bytes + size), *copy = place + head_bytes;
    if (size) payload.copy(copy, size);
    if (form.is_checked() && !checked)
        head.check = form.check_of(head.frame.header, bytes_of(head.frame.envelope), {copy, size}, {});
    std::memcpy(place, &head.frame, sizeof head.frame);
    if (form.is_checked()) std::memcpy(place + sizeof head.frame, &head.check, sizeof head.check);
    if (written) link.log.written(written);
    sent(link, connected);
    return Sent::done;
}

// Writes the frame at once, if nothing else must be written before it. Returns how many bytes of the frame
// were written.
size_t LinkWriter::write_first(Link &link, const CheckedEnvelope &head, const Payload &payload) {
    iovec parts[] = {{const_cast<CheckedEnvelope *>(&head), sizeof head.frame + links_.form.check_bytes()},
                     {const_cast<std::byte *>(payload.data), payload.size}};
    size_t bytes = link.connection.write_first(links_.sockets, link.log, parts, 2);
    if (link.connection.has_failed()) links_.fail(link);
    return bytes;
}

Sent LinkWriter::send_kept(Link &link, const Envelope &envelope, const KeptPayload &payload) {
    const FrameForm &form = links_.form;
    bool connected = is_connected(link);
    if (link.log.bytes() >= links_.limits.log_limit) return Sent::full;
    size_t bytes = payload.head_size + payload.size;
    EnvelopeFrame frame{header(link, FrameKind::envelope, bytes), envelope};
    FrameCheck check{};
    if (form.is_checked())
        check = form.check_of(frame.header, bytes_of(frame.envelope), {payload.head, payload.head_size},
                              {payload.data, payload.size});
    std::byte *place = link.log.append_kept(sizeof frame + form.check_bytes() + bytes, payload.data,
                                            payload.size, payload.token, payload.name);
    std::memcpy(place, &frame, sizeof frame);
    if (form.is_checked()) std::memcpy(place + sizeof frame, &check, sizeof check);
    if (payload.head_size)
        std::memcpy(place + sizeof frame + form.check_bytes(), payload.head, payload.head_size);
    if (!link.keeps) keeping_.push_back(&link);
    link.keeps = true;
    sent(link, connected);
    return Sent::pending;
}

void LinkWriter::copy_kept() {
    for (size_t i = 0; i < keeping_.size();) {
        Link &link = *keeping_[i];
        bool all_written = link.connection.is_open() && link.log.unwritten() == 0 &&
                           link.log.bytes() < links_.limits.log_limit;
        if (all_written && link.log.awaited_bytes() <= links_.limits.copy_kept_up_to) {
            link.log.copy_kept();
            link.log.take_released(links_.reports.tokens());
        }
        if (link.log.awaited_bytes() > 0) {
            ++i;
            continue;
        }
        link.keeps = false;
        keeping_[i] = keeping_.back();
        keeping_.pop_back();
    }
}

void LinkWriter::flush_all() {
    for (size_t i = 0; i < to_flush_.size(); ++i) {
        Link &link = *to_flush_[i];
        link.to_flush = false;
        if (link.connection.is_open() && !link.connection.awaits_room()) write_out(link);
        links_.recount(link);
    }
    to_flush_.clear();
}

Sent LinkWriter::send_bulk(Link &link, const BulkHeader &bulk, Payload &&payload, uint64_t token) {
    Connection &connection = link.connection;
    if (!is_connected(link) || connection.bulk.is_open()) return Sent::full;
    connection.bulk.open(links_.form, header(link, FrameKind::bulk, payload.size), bulk, payload, token,
                         links_.sockets.now_ns());
    ++links_.counts.bulk_sent;
    if (!connection.awaits_room()) write_out(link);
    links_.recount(link);
    if (connection.bulk.is_open()) return Sent::pending;
    links_.reports.retract_sent();  // `done` already states that the payload is no longer needed
    return Sent::done;
}

void LinkWriter::write_out(Link &link) {
    Connection &connection = link.connection;
    Connection::Wrote wrote;
    do {
        wrote = connection.write_some(links_.sockets, link.log, links_.reports.tokens());
        if (wrote != Connection::Wrote::nothing && routes_.is_to_be_weighed(connection.bulk_bytes()))
            routes_.weigh(link.peer, link.route, connection.socket(), links_.open < links_.limits.most_open);
    } while (wrote == Connection::Wrote::some);
    if (connection.has_failed()) links_.fail(link);
}

}  // namespace lanyard
