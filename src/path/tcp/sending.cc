// What a link writes: its log, and between frames of that the bulk frame that is open.
#include <errno.h>

#include <algorithm>
#include <cstring>

#include "path/tcp/tcp_path.h"

namespace lanyard {

namespace {
constexpr int most_pieces = 16;
// Nothing else goes before the end of a bulk frame that has begun, but the longer it is the fewer calls read it, and the longer each of
// them copies while the sender writes on. So frames are as long as a connection takes in about this time.
constexpr uint64_t quick_frame_ns = 250'000, slow_frame_ns = 1'000'000;

template <class Body>
std::span<const std::byte> bytes_of(const Body &body) {
    return std::as_bytes(std::span(&body, 1));
}
}  // namespace

// Is there a connection? If not, one is wanted from now on.
bool TcpPath::ready_to_send(Link &link) {
    link.used_ns = now_ns_;
    if (link.socket >= 0) return !link.failed;
    if (!link.parted_ns) {
        link.parted_ns = sockets_.now_ns();
        tend_to(link, link.parted_ns + next_patience_ns(link));
    }
    connector_.want(link.peer);
    return false;
}

// Of a frame that goes next: it also tells the peer what has come from it.
FrameHeader TcpPath::header(Link &link, FrameKind kind, size_t size) {
    link.untold_bytes = 0;
    link.answer_wanted = false;
    link.answer_due_ns = UINT64_MAX;
    return {.kind = kind,
            .flags = 0,
            .reserved = 0,
            .size = static_cast<uint32_t>(size),
            .sequence = static_cast<uint32_t>(link.next_number),
            .acknowledged = static_cast<uint32_t>(link.expected)};
}

// Of a frame with this payload: `first`, then `rest`.
FrameCheck TcpPath::check_of(FrameHeader &header, std::span<const std::byte> body, std::span<const std::byte> first,
                              std::span<const std::byte> rest) const {
    header.reserved = kind_check(header);
    FrameCheck check;
    check.head = crc_(body.data(), body.size(), crc_(&header, sizeof header));
    auto beginning = first.first(std::min(first.size(), most_beginning));
    auto beginning_of_rest = rest.first(std::min(rest.size(), most_beginning - beginning.size()));
    check.beginning = crc_(beginning_of_rest.data(), beginning_of_rest.size(), crc_(beginning.data(), beginning.size()));
    check.payload = crc_(rest.data(), rest.size(), crc_(first.data(), first.size()));
    return check;
}

void TcpPath::append_answer(Link &link, uint8_t flags) {
    FrameHeader frame = header(link, FrameKind::acknowledge, 0);
    frame.flags = flags;
    FrameCheck check{};
    if (crc_) check = check_of(frame, {}, {}, {});
    std::byte *place = link.log.append(sizeof frame + check_bytes_);
    std::memcpy(place, &frame, sizeof frame);
    if (crc_) std::memcpy(place + sizeof frame, &check, sizeof check);
    ++counts_.acknowledgements;
}

Sent TcpPath::send(uint32_t peer, const Envelope &envelope, Payload payload) {
    Link &link = this->link(peer);
    if (link.lost) return Sent::done;
    bool connected = ready_to_send(link);
    if (link.log.bytes() >= limits_.log_limit) return Sent::full;
    CheckedEnvelope head;
    head.frame = {header(link, FrameKind::envelope, payload.size), envelope};
    bool checked = crc_ && payload.data;
    if (checked) head.check = check_of(head.frame.header, bytes_of(head.frame.envelope), {payload.data, payload.size}, {});
    size_t written = 0, size = payload.size;
    if (connected && payload.data && payload.size >= limits_.write_first_from) written = write_first(link, head, payload);
    std::byte *place = link.log.append(sizeof head.frame + check_bytes_ + size), *copy = place + sizeof head.frame + check_bytes_;
    if (size) payload.copy(copy, size);
    if (crc_ && !checked) head.check = check_of(head.frame.header, bytes_of(head.frame.envelope), {copy, size}, {});
    std::memcpy(place, &head.frame, sizeof head.frame);
    if (crc_) std::memcpy(place + sizeof head.frame, &head.check, sizeof head.check);
    if (written) link.log.written(written);
    ++link.next_number;
    ++counts_.envelopes_sent;
    link.answer_asked = false;
    if (connected) flush(link);
    recount(link);
    return Sent::done;
}

// Where nothing else is to be written before it: how many bytes of the frame have gone.
size_t TcpPath::write_first(Link &link, const CheckedEnvelope &head, const Payload &payload) {
    if (link.awaits_room || link.log.unwritten() > 0 || link.bulk.open) return 0;
    iovec parts[] = {{const_cast<CheckedEnvelope *>(&head), sizeof head.frame + check_bytes_}, {const_cast<std::byte *>(payload.data), payload.size}};
    ssize_t bytes = sockets_.write(link.socket, parts, 2);
    if (bytes < 0 && bytes != -EAGAIN) fail(link);
    return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

Sent TcpPath::send_kept(uint32_t peer, const Envelope &envelope, const KeptPayload &payload) {
    Link &link = this->link(peer);
    if (link.lost) return Sent::done;
    bool connected = ready_to_send(link);
    if (link.log.bytes() >= limits_.log_limit) return Sent::full;
    size_t bytes = payload.head_size + payload.size;
    EnvelopeFrame frame{header(link, FrameKind::envelope, bytes), envelope};
    FrameCheck check{};
    if (crc_) check = check_of(frame.header, bytes_of(frame.envelope), {payload.head, payload.head_size}, {payload.data, payload.size});
    std::byte *place = link.log.append_kept(sizeof frame + check_bytes_ + bytes, payload.data, payload.size, payload.token);
    std::memcpy(place, &frame, sizeof frame);
    if (crc_) std::memcpy(place + sizeof frame, &check, sizeof check);
    if (payload.head_size) std::memcpy(place + sizeof frame + check_bytes_, payload.head, payload.head_size);
    if (!link.keeps) keeping_.push_back(&link);
    link.keeps = true;
    ++link.next_number;
    ++counts_.envelopes_sent;
    link.answer_asked = false;
    if (connected) flush(link);
    recount(link);
    return Sent::pending;
}

// Where the owner has nothing better to do: payload that was written and is not yet acknowledged is copied, so that its send is over.
void TcpPath::copy_kept() {
    for (size_t i = 0; i < keeping_.size();) {
        Link &link = *keeping_[i];
        bool all_written = link.socket >= 0 && link.log.unwritten() == 0 && link.log.bytes() < limits_.log_limit;
        if (all_written && link.log.awaited_bytes() <= limits_.copy_kept_up_to) {
            link.log.copy_kept();
            take_released(link);
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

void TcpPath::take_released(Link &link) {
    size_t before = sent_.size();
    link.log.take_released(sent_);
    if (sent_.size() > before) tend_at_ns_ = 0;
}

// What poll() makes this process say goes out together at its end.
void TcpPath::flush(Link &link) {
    if (!sink_) {
        if (!link.awaits_room) write_out(link);
        return;
    }
    if (link.to_flush) return;
    link.to_flush = true;
    to_flush_.push_back(&link);
}

void TcpPath::flush_all() {
    for (size_t i = 0; i < to_flush_.size(); ++i) {
        Link &link = *to_flush_[i];
        link.to_flush = false;
        if (link.socket >= 0 && !link.awaits_room) write_out(link);
        recount(link);
    }
    to_flush_.clear();
}

Sent TcpPath::send_bulk(uint32_t peer, const BulkHeader &bulk, Payload payload, uint64_t token) {
    Link &link = this->link(peer);
    if (link.lost) return Sent::done;
    if (!ready_to_send(link) || link.bulk.open) return Sent::full;
    auto &open = link.bulk;
    open.head.frame = {header(link, FrameKind::bulk, payload.size), bulk};
    open.head_bytes = sizeof open.head.frame + check_bytes_;
    open.payload = payload.data;
    size_t size = payload.size;
    if (!payload.data && payload.size) {
        open.packed = std::make_unique_for_overwrite<std::byte[]>(payload.size);
        payload.copy(open.packed.get(), payload.size);
        open.payload = open.packed.get();
    }
    if (crc_) open.head.check = check_of(open.head.frame.header, bytes_of(open.head.frame.bulk), {open.payload, size}, {});
    open.token = token;
    open.written = 0;
    open.begun_ns = sockets_.now_ns();
    open.open = true;
    ++counts_.bulk_sent;
    if (!link.awaits_room) write_out(link);
    recount(link);
    if (!open.open) {
        sent_.pop_back();  // `done` says it
        return Sent::done;
    }
    return Sent::pending;
}

void TcpPath::await_room(Link &link, bool wanted) {
    if (link.awaits_room == wanted) return;
    link.awaits_room = wanted;
    sockets_.watch(link.socket, link.peer, wanted);
}

// Writes until nothing is left or the socket takes no more. A bulk frame that has begun goes on first; one that has not goes last.
void TcpPath::write_out(Link &link) {
    auto &bulk = link.bulk;
    while (link.socket >= 0 && !link.failed) {
        iovec parts[most_pieces + 2];
        int count = 0;
        auto add_bulk = [&] {
            if (bulk.written < bulk.head_bytes)
                parts[count++] = {reinterpret_cast<char *>(&bulk.head) + bulk.written, bulk.head_bytes - bulk.written};
            size_t done = bulk.written > bulk.head_bytes ? bulk.written - bulk.head_bytes : 0, size = bulk.head.frame.header.size;
            if (done < size) parts[count++] = {const_cast<std::byte *>(bulk.payload) + done, size - done};
        };
        bool bulk_goes_on = bulk.open && bulk.written > 0;
        if (bulk_goes_on) add_bulk();
        int pieces = link.log.pieces(parts + count, most_pieces);
        count += pieces;
        if (bulk.open && !bulk_goes_on && pieces < most_pieces) add_bulk();
        if (count == 0) return await_room(link, false);
        ssize_t bytes = sockets_.write(link.socket, parts, count);
        if (bytes == -EAGAIN) return await_room(link, true);
        if (bytes < 0) return fail(link);
        written(link, static_cast<size_t>(bytes));
        if (limits_.weigh_from > 0 && link.bulk_flowed >= limits_.weigh_from) weigh(link);
    }
}

// A bulk frame is written. Only one that was as long as it might be says something.
void TcpPath::fit_bulk_to_pace(Link &link) {
    auto &bulk = link.bulk;
    if (bulk.head.frame.header.size < bulk.most) return;
    uint64_t took_ns = sockets_.now_ns() - bulk.begun_ns;
    if (took_ns < quick_frame_ns) bulk.most = std::min(bulk.most * 2, most_bulk);
    else if (took_ns > slow_frame_ns) bulk.most = std::max(bulk.most / 2, max_bulk_frame);
}

// In the order in which write_out() offered it.
void TcpPath::written(Link &link, size_t bytes) {
    auto &bulk = link.bulk;
    auto of_bulk = [&] {
        size_t part = std::min(bytes, bulk.bytes() - bulk.written);
        bulk.written += part;
        link.bulk_flowed += part;
        bytes -= part;
        if (bulk.written < bulk.bytes()) return;
        bulk.open = false;
        bulk.packed.reset();
        fit_bulk_to_pace(link);
        sent_.push_back(bulk.token);
        tend_at_ns_ = 0;
    };
    if (bulk.open && bulk.written > 0) of_bulk();
    size_t of_log = std::min(bytes, link.log.unwritten());
    if (of_log) link.log.written(of_log);
    bytes -= of_log;
    if (bulk.open && bytes > 0) of_bulk();
}

}  // namespace lanyard
