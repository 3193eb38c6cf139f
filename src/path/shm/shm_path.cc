#include "path/shm/shm_path.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.h"

namespace lanyard {

namespace {

// Of one envelope: longer messages wait for their receive, as over the network, since one that comes before it is copied twice more.
constexpr uint32_t most_cells_of_frame = 4;

}  // namespace

ShmPath::ShmPath(Segment &segment, uint32_t own, std::vector<uint32_t> peers, bool direct_copies)
    : Path({.name = "shm",
            .max_eager = cells_of_frame(segment) * cell_bytes,
            .max_bulk = cell_bytes,
            .eager_limit = cells_of_frame(segment) * cell_bytes,
            .memory = this,
            .short_lane = this}),
      segment_(segment), own_(own), self_(segment.member(own)), blocks_(segment, own), cells_(segment, own),
      direct_copies_(segment, own, direct_copies), offers_(segment, own), gathered_(most_inlined) {
    for (uint32_t peer : peers) LANYARD_MUST(add_member(peer));
}

uint32_t ShmPath::cells_of_frame(const Segment &segment) { return std::min(most_cells_of_frame, segment.header().cells / 2); }

bool ShmPath::add_member(uint32_t peer) {
    auto index = static_cast<uint32_t>(peers_.size());
    if (index >= segment_.places() || !outlets_.append(segment_.member(index).sleep)) return false;
    if (peer >= index_of_peer_.size()) index_of_peer_.resize(peer + 1, not_here);
    index_of_peer_[peer] = index;
    peers_.push_back(peer);
    direct_copies_.add_member();
    offers_.add_member();
    return true;
}

bool ShmPath::open_outlet(uint32_t index) {
    Ring *ring = offers_.open(index);
    if (!ring) return false;
    outlets_[index].ring.open(*ring, own_);
    log(LogLevel::debug, "shm", "opened a ring of %zu KiB to peer %u", ring_bytes / 1024, peers_[index]);
    return true;
}

int ShmPath::accept_inlets(Sink &sink) {
    offers_.note_news();
    int news = 0;
    for (uint32_t i = 0; i < peers_.size(); ++i) {
        news += report_lost(i, sink);
        if (!offers_.is_offered_by(i)) continue;
        news += accept_inlet(i) ? 1 : report_lost(i, sink);
    }
    return news;
}

bool ShmPath::accept_inlet(uint32_t index) {
    Ring *ring = offers_.accept(index);
    if (!ring) return false;
    Inlet *inlet = inlets_.append();
    if (!inlet) {
        offers_.fail_to_accept(index);
        return false;
    }
    inlet->member = index;
    inlet->ring.open(*ring, index);
    inlet->place = static_cast<uint32_t>(awaited_.size());
    awaited_.push_back({inlet->ring.awaited_word(), inlet->ring.awaited_number()});
    outlets_[index].inlet = inlet;
    log(LogLevel::debug, "shm", "peer %u opened a ring to here", peers_[index]);
    return true;
}

int ShmPath::report_lost(uint32_t index, Sink &sink) {
    if (!offers_.becomes_lost(index)) return 0;
    sink.lost(peers_[index], offers_.why_lost(index));
    return 1;
}

Sent ShmPath::send(uint32_t peer, const Envelope &envelope, Payload payload) {
    uint32_t index = index_of_peer_[peer];
    Outlet &outlet = outlets_[index];
    if (payload.size > first_line_room || !outlet.ring.is_open()) [[unlikely]] return send_long(index, envelope, payload);
    if (!outlet.ring.room(1)) return Sent::full;
    size_t size = payload.size;
    payload.copy_short(outlet.ring.begin_line(envelope));
    outlet.ring.end_line(size);
    return Sent::done;
}

// Payload of several lines, or in cells; also the first frame to a peer.
Sent ShmPath::send_long(uint32_t index, const Envelope &envelope, Payload payload) {
    Outlet &outlet = outlets_[index];
    if (!outlet.ring.is_open() && !open_outlet(index)) return offers_.is_lost(index) ? Sent::done : Sent::full;
    size_t size = payload.size;
    if (size > most_inlined) return send_in_cells(outlet.ring, envelope, payload);
    uint32_t lines = lines_for(size);
    if (!outlet.ring.room(lines)) return Sent::full;
    RingLine &first = outlet.ring.line();
    payload.copy(first.bytes + sizeof(Envelope), std::min(size, first_line_room));
    for (uint32_t ahead = 1; ahead < lines; ++ahead) {
        payload.copy(outlet.ring.line(ahead).bytes, std::min(payload.size, next_line_room));
        outlet.ring.number_line(ahead);
    }
    std::memcpy(first.bytes, &envelope, sizeof envelope);
    outlet.ring.publish(RingFrame::inlined, size, lines);
    outlet.ring.wake_reader();
    return Sent::done;
}

// The first frame tells the size of the whole.
Sent ShmPath::send_in_cells(RingWriter &ring, const Envelope &envelope, Payload payload) {
    uint32_t taken[most_cells_of_frame];
    auto count = static_cast<uint32_t>((payload.size + cell_bytes - 1) / cell_bytes);
    if (!ring.room(count) || !cells_.take(taken, count)) return Sent::full;
    size_t told = payload.size;
    for (uint32_t i = 0; i < count; ++i) {
        size_t part = std::min(payload.size, cell_bytes);
        cells_.fill(taken[i], payload, part);
        RingLine &line = ring.line();
        std::memcpy(line.bytes, &envelope, sizeof envelope);
        CellReference{taken[i]}.write(line);
        ring.publish(RingFrame::in_cell, i == 0 ? told : part, 1);
    }
    ring.wake_reader();
    return Sent::done;
}

Sent ShmPath::send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t) {
    uint32_t index = index_of_peer_[peer];
    Outlet &outlet = outlets_[index];
    if (!outlet.ring.is_open() && !open_outlet(index)) return offers_.is_lost(index) ? Sent::done : Sent::full;
    uint32_t cell;
    if (!outlet.ring.room(1) || !cells_.take(&cell, 1)) return Sent::full;
    size_t size = payload.size;
    cells_.fill(cell, payload, size);
    RingLine &first = outlet.ring.line();
    std::memcpy(first.bytes, &header, sizeof header);
    CellReference{cell}.write(first);
    outlet.ring.publish(RingFrame::bulk, size, 1);
    outlet.ring.wake_reader();
    return Sent::done;
}

bool ShmPath::peek(uint32_t peer, ShortFrame &frame) {
    const Inlet *inlet = outlets_[index_of_peer_[peer]].inlet;
    if (!inlet) return false;
    const RingReader &ring = inlet->ring;
    uint64_t word = ring.peek();
    if (word == 0) return false;
    frame = {frame_kind(word) == RingFrame::inlined ? ring.first() : nullptr, frame_payload(word)};
    return true;
}

void ShmPath::take(uint32_t peer, void *payload) {
    Inlet &inlet = *outlets_[index_of_peer_[peer]].inlet;
    size_t size = frame_payload(inlet.ring.peek());
    bool one_line = size <= first_line_room;
    if (one_line) copy_few(payload, inlet.ring.first() + sizeof(Envelope), size);
    else inlet.ring.gather(static_cast<std::byte *>(payload), size);
    bool told = inlet.ring.pass(one_line ? 1 : lines_for(size));
    awaited_[inlet.place] = {inlet.ring.awaited_word(), inlet.ring.awaited_number()};
    if (told) wake_if_asleep(segment_.member(inlet.member).sleep);
}

int ShmPath::poll(Sink &sink, int budget, uint64_t) {
    int work = 0;
    if (offers_.has_news()) work += accept_inlets(sink);
    size_t first = next_inlet_;
    int frames = drain_from(first, awaited_.size(), sink, budget);
    if (first && frames < budget) {
        next_inlet_ = 0;
        frames += drain_from(0, first, sink, budget - frames);
    }
    return work + frames;
}

// Only a hint, so it need not acquire; drain() looks properly. Four at a time, since with many idle peers the loop's own
// instructions are the cost: the lines polled stay in the first-level cache.
inline size_t ShmPath::next_with_frame(size_t first, size_t last) const {
    const Awaited *awaited = awaited_.data();
    auto arrived = [awaited](size_t inlet) {
        return static_cast<uint32_t>(awaited[inlet].word->load(std::memory_order_relaxed)) == awaited[inlet].number;
    };
    for (; first + 4 <= last; first += 4) {
        if (arrived(first)) return first;
        if (arrived(first + 1)) return first + 1;
        if (arrived(first + 2)) return first + 2;
        if (arrived(first + 3)) return first + 3;
    }
    while (first < last && !arrived(first)) ++first;
    return first;
}

// By index: a frame's handler leads to no new inlets, but keeps no reference to the vector either.
inline int ShmPath::drain_from(size_t first, size_t last, Sink &sink, int budget) {
    int frames = 0;
    for (size_t i = first; (i = next_with_frame(i, last)) < last; ++i) {
        frames += drain(inlets_[i], sink, budget - frames);
        awaited_[i] = {inlets_[i].ring.awaited_word(), inlets_[i].ring.awaited_number()};
        if (frames < budget) continue;
        next_inlet_ = i + 1 < inlets_.size() ? i + 1 : 0;
        break;
    }
    return frames;
}

int ShmPath::drain(Inlet &inlet, Sink &sink, int budget) {
    int frames = 0;
    bool told = false;
    uint32_t peer = peers_[inlet.member];
    for (uint64_t word; frames < budget && (word = inlet.ring.peek()); ++frames) {
        RingFrame kind = frame_kind(word);
        size_t size = frame_payload(word);
        const std::byte *first = inlet.ring.first();
        if (kind == RingFrame::inlined) {
            const std::byte *payload = first + sizeof(Envelope);
            if (size > first_line_room) {
                inlet.ring.gather(gathered_.data(), size);
                payload = gathered_.data();
            }
            sink.envelope(peer, inlet.ring.envelope(), payload, size);
            told |= inlet.ring.pass(lines_for(size));
            continue;
        }
        uint32_t cell = CellReference::read(first).cell;
        const std::byte *payload = segment_.cell(inlet.member, cell);
        if (kind == RingFrame::bulk) {
            BulkHeader header;
            std::memcpy(&header, first, sizeof header);
            sink.bulk(peer, header, payload, size);
        } else if (size <= cell_bytes && !inlet.assembly.is_open()) {
            sink.envelope(peer, inlet.ring.envelope(), payload, size);
        } else {
            take_part(inlet, sink, payload, size);
        }
        Cells::give_back(segment_.member(inlet.member), cell);
        inlet.ring.pass(1);
        told = true;  // a cell is free again
    }
    if (told) wake_if_asleep(segment_.member(inlet.member).sleep);
    return frames;
}

// The next of an envelope's cells. `size`: its own bytes; with the first of them those of all.
void ShmPath::take_part(Inlet &inlet, Sink &sink, const std::byte *payload, size_t size) {
    uint32_t peer = peers_[inlet.member];
    size_t part = std::min(size, cell_bytes), from = 0;
    if (!inlet.assembly.is_open()) {
        inlet.envelope = inlet.ring.envelope();
        from = inlet.assembly.begin(sink, peer, inlet.envelope, payload, part, size);
    }
    inlet.assembly.add(payload + from, part - from);
    if (inlet.assembly.missing() == 0) inlet.assembly.deliver(sink, peer, inlet.envelope);
}

Error ShmPath::get(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes) {
    if (const std::byte *from = mapped(peer, remote_address, bytes)) {
        for (int run = 0; run < runs; from += local[run++].iov_len) std::memcpy(local[run].iov_base, from, local[run].iov_len);
        return {};
    }
    return direct_copies_.read(index_of_peer_[peer], local, runs, remote_address, bytes);
}

Error ShmPath::put(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes) {
    if (std::byte *to = mapped(peer, remote_address, bytes)) {
        for (int run = 0; run < runs; to += local[run++].iov_len) std::memcpy(to, local[run].iov_base, local[run].iov_len);
        return {};
    }
    return direct_copies_.write(index_of_peer_[peer], local, runs, remote_address, bytes);
}

std::string ShmPath::describe() const {
    return "shm: " + std::to_string(peers_.size()) + " processes on this node, rings of " + std::to_string(ring_bytes / 1024) + " KiB, " +
           std::to_string(segment_.header().cells) + " buffers of " + std::to_string(cell_bytes / 1024) + " KiB each, direct copies " +
           (direct_copies_.are_allowed() ? "where the kernel allows them" : "off (LANYARD_CMA)");
}

}  // namespace lanyard
