// See shm_path.h.
#include "path/shm/shm_path.h"

#include "base/copy.h"
#include "base/log.h"

namespace lanyard {

ShmPath::ShmPath(Segment &segment, uint32_t own, const std::vector<uint32_t> &peers, bool direct_copies)
    : Path({.name = "shm",
            .max_eager = Outlet::max_payload(segment),
            .max_bulk = cell_bytes,
            .eager_limit = Outlet::max_payload(segment),
            .memory = this,
            .short_lane = this}),
      segment_(segment), own_(own), blocks_(segment, own), cells_(segment, own),
      direct_copies_(segment, own, direct_copies), offers_(segment, own) {
    for (uint32_t peer : peers) LANYARD_MUST(add_member(peer));
}

bool ShmPath::add_member(uint32_t peer) {
    auto index = static_cast<uint32_t>(peers_.size());
    if (index >= segment_.places() || !rings_.append(segment_.member(index).sleep)) return false;
    if (peer >= index_of_peer_.size()) index_of_peer_.resize(peer + 1, not_here);
    index_of_peer_[peer] = index;
    peers_.push_back(peer);
    direct_copies_.add_member();
    offers_.add_member();
    return true;
}

Sent ShmPath::send(uint32_t peer, const Envelope &envelope, Payload payload) {
    uint32_t index = index_of_peer_[peer];
    Outlet &out = rings_[index].out;
    if (payload.size > first_line_room || !out.is_open()) [[unlikely]]
        return send_long(index, envelope, payload);
    return out.send_line(envelope, payload);
}

// Sends an envelope whose payload does not fit one line, or an envelope to a peer to which no ring is open.
Sent ShmPath::send_long(uint32_t index, const Envelope &envelope, Payload payload) {
    Outlet &out = rings_[index].out;
    if (!out.is_open() && !open_outlet(index)) return without_outlet(index);
    return out.send(envelope, payload, cells_);
}

Sent ShmPath::send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t) {
    uint32_t index = index_of_peer_[peer];
    Outlet &out = rings_[index].out;
    if (!out.is_open() && !open_outlet(index)) return without_outlet(index);
    return out.send_bulk(header, payload, cells_);
}

bool ShmPath::open_outlet(uint32_t index) {
    Ring *ring = offers_.open(index);
    if (!ring) return false;
    rings_[index].out.open(*ring, own_);
    log(LogLevel::debug, "shm", "opened a ring of %zu KiB to peer %u", ring_bytes / 1024, peers_[index]);
    return true;
}

bool ShmPath::peek(uint32_t peer, ShortFrame &frame) {
    const Inlet *in = rings_[index_of_peer_[peer]].in;
    return in && in->peek(frame);
}

void ShmPath::take(uint32_t peer, void *payload) { inlets_.take(*rings_[index_of_peer_[peer]].in, payload); }

int ShmPath::poll(Sink &sink, int budget, uint64_t) {
    int work = 0;
    if (offers_.has_news()) [[unlikely]] work = accept_inlets(sink);
    return work + inlets_.poll(sink, budget);
}

int ShmPath::accept_inlets(Sink &sink) {
    offers_.note_news();
    int news = 0;
    for (uint32_t i = 0; i < peers_.size(); ++i) {
        news += report_lost(i, sink);
        if (Ring *ring = offers_.unread(i)) {
            Outlet::take_back_cells(*ring, own_, cells_);
            ++news;
        }
        if (!offers_.is_offered_by(i)) continue;
        news += accept_inlet(i) ? 1 : report_lost(i, sink);
    }
    return news;
}

bool ShmPath::accept_inlet(uint32_t index) {
    Ring *ring = offers_.accept(index);
    if (!ring) return false;
    rings_[index].in = inlets_.open(*ring, segment_, index, peers_[index]);
    if (!rings_[index].in) {
        offers_.fail_to_accept(index);
        return false;
    }
    log(LogLevel::debug, "shm", "peer %u opened a ring to here", peers_[index]);
    return true;
}

int ShmPath::report_lost(uint32_t index, Sink &sink) {
    if (!offers_.becomes_lost(index)) return 0;
    rings_[index].out.close();
    sink.lost(peers_[index], offers_.why_lost(index));
    return 1;
}

Error ShmPath::get(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes) {
    if (const std::byte *from = mapped(peer, remote_address, bytes)) {
        for (int run = 0; run < runs; from += local[run++].iov_len)
            copy_bytes(local[run].iov_base, from, local[run].iov_len);
        return {};
    }
    return direct_copies_.read(index_of_peer_[peer], local, runs, remote_address, bytes);
}

Error ShmPath::put(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes) {
    if (std::byte *to = mapped(peer, remote_address, bytes)) {
        for (int run = 0; run < runs; to += local[run++].iov_len)
            copy_bytes(to, local[run].iov_base, local[run].iov_len);
        return {};
    }
    return direct_copies_.write(index_of_peer_[peer], local, runs, remote_address, bytes);
}

std::string ShmPath::describe() const {
    return "shm: " + std::to_string(peers_.size()) + " processes on this node, rings of " +
           std::to_string(ring_bytes / 1024) + " KiB, " + std::to_string(segment_.header().cells) +
           " buffers of " + std::to_string(cell_bytes / 1024) + " KiB each, direct copies " +
           (direct_copies_.are_allowed() ? "where the kernel allows them" : "off (LANYARD_CMA)");
}

}  // namespace lanyard
