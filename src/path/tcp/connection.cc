// See connection.h.
#include "path/tcp/connection.h"

#include <algorithm>

namespace lanyard {

namespace {
constexpr int most_pieces = 16;
}

size_t WakePace::fit(size_t missing, size_t received, uint64_t passed_ns, size_t now_at) {
    if (missing && received >= least_chunk_bytes && passed_ns >= shortest_look_ns)
        slow_ = passed_ns * chunk_bytes > slow_chunk_ns * received;
    size_t wake_at = slow_ && missing >= least_chunk_bytes ? std::min(missing, chunk_bytes) : 1;
    bool fits = wake_at > 1 && now_at > 1 && now_at <= missing;
    return fits ? now_at : wake_at;
}

void Connection::open(Sockets &sockets, int socket) {
    socket_ = socket;
    bulk_bytes_ = bulk_received_ = 0;
    silence.connected();
    watch(sockets);
}

void Connection::close(Sockets &sockets, std::vector<uint64_t> &tokens) {
    sockets.close(socket_);
    socket_ = -1;
    failed_ = awaits_room_ = false;
    wake_at_ = 1;
    if (bulk.is_open()) tokens.push_back(bulk.close());
    frames.clear();
}

void Connection::await_room(Sockets &sockets, bool wanted) {
    if (awaits_room_ == wanted) return;
    awaits_room_ = wanted;
    watch(sockets);
}

// Called when a part of a payload was read. If the payload arrives slowly, its rest wakes a sleeper once for
// each chunk, and at the payload's end (WakePace).
void Connection::fit_waking_to_pace(Sockets &sockets, uint64_t now_ns) {
    size_t wake_at =
        pace_.fit(frames.missing(), frames.received_since_begun(), now_ns - frames.begun_ns(), wake_at_);
    if (wake_at == wake_at_ || !is_usable()) return;
    wake_at_ = wake_at;
    sockets.wake_at(socket_, wake_at);
}

Connection::Wrote Connection::write_some(Sockets &sockets, OutgoingLog &log, std::vector<uint64_t> &tokens) {
    if (!is_usable()) return Wrote::nothing;
    iovec parts[most_pieces + 2];
    bool bulk_goes_on = bulk.has_begun();
    int count = bulk_goes_on ? bulk.pieces(parts) : 0;
    int pieces = log.pieces(parts + count, most_pieces);
    count += pieces;
    if (bulk.is_open() && !bulk_goes_on && pieces < most_pieces) count += bulk.pieces(parts + count);
    ssize_t result = count ? sockets.write(socket_, parts, count) : -EAGAIN;
    if (result < 0) {
        if (result == -EAGAIN) await_room(sockets, count > 0);
        else fail();
        return Wrote::nothing;
    }
    auto bytes = static_cast<size_t>(result);
    if (bulk_goes_on) bytes -= wrote_bulk(sockets, bytes, tokens);
    size_t of_log = std::min(bytes, log.unwritten());
    if (of_log) log.written(of_log);
    bytes -= of_log;
    if (bulk.is_open() && bytes > 0) wrote_bulk(sockets, bytes, tokens);
    if (log.unwritten() > 0 || bulk.is_open()) return Wrote::some;
    await_room(sockets, false);
    return Wrote::all;
}

// Returns how many of the bytes belonged to the bulk frame.
size_t Connection::wrote_bulk(Sockets &sockets, size_t bytes, std::vector<uint64_t> &tokens) {
    size_t part = bulk.advance(bytes);
    bulk_bytes_ += part;
    if (bulk.is_written()) {
        bulk.fit_to_pace(sockets.now_ns());
        tokens.push_back(bulk.close());
    }
    return part;
}

size_t Connection::write_first(Sockets &sockets, const OutgoingLog &log, const iovec *parts, int count) {
    if (awaits_room_ || log.unwritten() > 0 || bulk.is_open()) return 0;
    ssize_t bytes = sockets.write(socket_, parts, count);
    if (bytes < 0 && bytes != -EAGAIN) fail();
    return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

}  // namespace lanyard
