// See dgram_path.h.
#include "path/dgram/dgram_path.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/copy.h"
#include "base/events.h"

namespace lanyard {

namespace {
constexpr uint64_t ask_every_ns = 1'000'000;  // how often all_acknowledged() requests acknowledgements
// After this number of polls that found something while this process was awake, the endpoint need not report
// packets.
constexpr uint32_t arrivals_to_ask = 16;
// A peer that has received no answer usually requests it again within this time after its last packet.
constexpr uint64_t asked_within_ns = 50'000'000;
// While there is more to read, no packet is given up. This lasts for at most this time.
constexpr uint64_t longest_flood_ns = 10'000'000;
}

using dgram::Flow;
using dgram::FlowEnd;
using dgram::OutPacket;
using dgram::Piece;

// Holds packets that are composed and leave together. They lie one after the other, so that only as much
// memory is touched as they are long.
struct DgramPath::Outbox {
    static constexpr int most = 64;
    static constexpr size_t room_bytes = 2 * dgram::most_packet;

    bool has_room() const { return count < most && room_bytes - used >= dgram::most_packet; }
    // Drops the packets to this peer, which are the last ones.
    void drop(const Peer &of) {
        while (count > 0 && peer[count - 1] == &of) --count;
    }

    std::unique_ptr<std::byte[]> room{new std::byte[room_bytes]};
    size_t used = 0;
    OutPacket packet[most];
    Peer *peer[most];
    iovec part[most][2];
    PacketIo::Outgoing outgoing[most];
    int count = 0;
};

DgramPath::DgramPath(PacketIo &io, ProcessName own, const Processes &processes, uint32_t epoch,
                     const Crc32c &crc, const DgramLimits &limits, FindName find)
    : NetworkPath({.name = "dgram",
                   .max_eager = limits.max_eager,
                   .max_bulk = max_bulk_frame,
                   .eager_limit = 64 * KiB,
                   .batches = true,
                   .most_at_once = limits.most_at_once(),
                   .descriptor = io.descriptor()}),
      io_(io), processes_(processes), own_(processes.find(own)), epoch_(epoch), limits_(limits),
      home_(static_cast<uint32_t>(own.serial()), Secret(), crc, limits_.flow, *this), find_(std::move(find)),
      peers_(processes.count()), batching_(limits_), outbox_(new Outbox), now_ns_(io.now_ns()),
      seeks_routes_(io.note_origins(true)) {
    grow();
    if (seeks_routes_) note_origins(true);
}

DgramPath::~DgramPath() {
    for (Published<Peer> &peer : peers_)
        if (peer) peer->log.drop(peer->log.end(), log_pool_);
}

// Returns the peer; creates it at first contact. Returns nullptr if the peer has failed or has no usable
// name, which is reported. Returns nullptr, and leaves peers_ without an entry, if the name cannot be found
// yet.
DgramPath::Peer *DgramPath::contact(uint32_t number) {
    Published<Peer> &peer = peers_[number];
    if (!peer) {
        std::string name;
        Error error = find_(number, name);
        if (error && error.code() == static_cast<int>(ErrorClass::pending)) {
            error.discard();
            return nullptr;
        }
        int64_t destination = error ? -1 : io_.destination(name);
        size_t largest = destination < 0
                             ? least_packet
                             : std::min(io_.largest(static_cast<uint64_t>(destination)), dgram::most_packet);
        peer = std::make_unique<Peer>(home_, number, epoch_, static_cast<uint64_t>(destination), largest);
        ++known_;
        if (destination >= 0 && io_.within_host(peer->destination)) peer->flow.set_near();
        else if (name.find(',') != std::string::npos) peer->route = RouteState::sought_among_several;
        if (!seeks_routes_) peer->route = RouteState::known;
        if (destination < 0) {
            peer->lost = true;
            reports_.lost(number,
                          error ? error.take().sentence
                                : "has no address that this process can send datagrams to (" + name + ")");
        } else if (trouble_) {
            cut_off_ = trouble_;
        }
    }
    return peer->lost ? nullptr : peer.get();
}

// Lists a peer to which something may have to be sent.
void DgramPath::list(Peer &peer) {
    if (!std::exchange(peer.due, true)) due_.push_back(peer.flow.peer());
    if (peer.place != not_active) return;
    peer.place = static_cast<uint32_t>(active_.size());
    active_.push_back(peer.flow.peer());
}

// Updates next_ns_ by the peer's timers. If nothing is under way, removes the peer from the active ones.
void DgramPath::look_again(Peer &peer) {
    if (peer.flow.active() && !peer.flow.over()) {
        next_ns_ = std::min(next_ns_, peer.flow.deadline_ns());
        return;
    }
    if (peer.place == not_active) return;
    peers_[active_.back()]->place = peer.place;
    active_[std::exchange(peer.place, not_active)] = active_.back();
    active_.pop_back();
}

Sent DgramPath::send(uint32_t number, const Envelope &envelope, Payload payload) {
    Peer *peer = contact(number);
    if (!peer) return without_contact(number);
    if (!peer->log.empty() && peer->log.bytes() + payload.size > limits_.log_limit) return Sent::full;
    ++counts_.envelopes_sent;
    size_t bytes = payload.size;
    peer->log.append(envelope, payload, log_pool_);
    ++undelivered_;
    peer->flow.log_grew(peer->log.end());
    list(*peer);
    if (sink_ || batching_.keeps(peer->series, bytes, home_.oversubscribed)) to_write_ = true;
    else write_out();
    return Sent::done;
}

void DgramPath::begin_series(bool more_follows) {
    batching_.allow(more_follows);
    if (to_write_) write_out();
}

Sent DgramPath::send_bulk(uint32_t number, const BulkHeader &header, Payload payload, uint64_t token) {
    Peer *peer = contact(number);
    if (!peer) return without_contact(number);
    if (payload.size == 0) return Sent::done;
    if (peer->bulk_under_way == limits_.most_bulk) return Sent::full;
    ++peer->bulk_under_way;
    size_t size = payload.size;
    peer->flow.send_bulk(header, size, bulk_.take(number, payload, token));
    list(*peer);
    if (sink_) to_write_ = true;
    else write_out();
    return Sent::pending;
}

dgram::Logged DgramPath::logged(Flow &flow, uint64_t sequence) {
    const dgram::EnvelopeLog::Entry &entry = peers_[flow.peer()]->log.at(sequence);
    return {&entry.envelope, entry.payload(), entry.size};
}

const std::byte *DgramPath::bulk_bytes(Flow &, uint64_t slot, uint64_t offset, std::byte *, size_t) {
    ++counts_.bulk_sent;
    return bulk_.data(slot) + offset;
}

void DgramPath::delivered(Flow &flow, uint64_t below) {
    dgram::EnvelopeLog &log = peers_[flow.peer()]->log;
    undelivered_ -= below - log.begin();
    log.drop(below, log_pool_);
}

void DgramPath::bulk_delivered(Flow &flow, uint64_t slot) {
    reports_.sent(bulk_.release(slot));
    --peers_[flow.peer()]->bulk_under_way;
}

void DgramPath::envelope(Flow &flow, const Piece &piece, const std::byte *payload) {
    if (piece.first() && piece.size == piece.total) {
        ++told_;
        ++counts_.envelopes_received;
        return sink_->envelope(flow.peer(), piece.envelope, payload, piece.size);
    }
    std::unique_ptr<Arriving> &arriving = peers_[flow.peer()]->arriving;
    size_t from = 0;
    if (piece.first()) {
        arriving.reset(new Arriving{piece.envelope, {}});
        from =
            arriving->assembly.begin(*sink_, flow.peer(), piece.envelope, payload, piece.size, piece.total);
        ++assembling_;
    }
    LANYARD_MUST(arriving && arriving->assembly.received() == piece.at.offset + from);
    arriving->assembly.add(payload + from, piece.size - from);
    if (arriving->assembly.missing() > 0) return;
    std::unique_ptr<Arriving> whole = std::move(arriving);
    --assembling_;
    ++told_;
    ++counts_.envelopes_received;
    whole->assembly.deliver(*sink_, flow.peer(), whole->envelope);
}

void DgramPath::bulk(Flow &flow, const BulkHeader &header, const std::byte *payload, size_t size) {
    std::byte *place = sink_->place(flow.peer(), header, size);
    if (place) copy_bytes(place, payload, size);
    ++told_;
    ++counts_.bulk_received;
    sink_->bulk(flow.peer(), header, place ? place : payload, size);
}

void DgramPath::silent(Flow &flow, bool now) {
    if (event_wanted(Event::peer_silent)) tell_event(Event::peer_silent, 0, {flow.peer(), now});
}

void DgramPath::ended(Flow &flow, FlowEnd how) {
    Peer &peer = *peers_[flow.peer()];
    peer.lost = true;
    assembling_ -= peer.arriving != nullptr;
    peer.arriving.reset();
    if (liveness_) liveness_->heard(flow.peer());
    std::vector<Envelope> undelivered;
    for (uint64_t at = peer.log.begin(); at < peer.log.end(); ++at)
        undelivered.push_back(peer.log.at(at).envelope);
    undelivered_ -= peer.log.end() - peer.log.begin();
    peer.log.drop(peer.log.end(), log_pool_);
    // The flow no longer reads the payload.
    bulk_.for_each_of(flow.peer(), [&](size_t slot) { bulk_delivered(flow, slot); });
    if (!leaving_ || how != FlowEnd::closed)
        reports_.lost(flow.peer(), why(peer, how), std::move(undelivered));
}

void DgramPath::take_packet(const PacketIo::Arrived &received) {
    std::span<const std::byte> packet(received.data, received.size);
    uint32_t serial;
    uint32_t number = Flow::sender_of(packet, serial) ? processes_.find(serial) : nobody;
    if (!reaches(number) || (!peers_[number] && !Flow::is_proven(home_, packet)))
        return home_.count_astray(packet);
    Peer *peer = contact(number);
    if (!peer) return;
    if (peer->flow.received(packet, now_ns_) != Flow::Outcome::dropped) {
        if (peer->route != RouteState::known) learn_route(*peer, received);
        quiet_at_ns_ = now_ns_ + asked_within_ns;
        peer->quarters = 0;
        if (liveness_) liveness_->heard(number);
    }
    if (peer->flow.active()) list(*peer);
}

int DgramPath::take_packets(int budget) {
    PacketIo::Arrived received[Outbox::most];
    int packets = 0;
    bool looked_behind = true;
    more_ = true;
    while (told_ < budget) {
        int count = io_.receive(received, std::min(budget - told_, Outbox::most));
        if (count <= 0) {
            if (count < 0) note_trouble(-count);
            more_ = false;
            break;
        }
        now_ns_ = io_.now_ns();  // packets may have been sent after the engine last read the clock
        PacketIo::Behind behind = io_.behind();
        for (int i = 0; i < count; ++i) take_packet(received[i]);
        packets += count;
        if (behind != PacketIo::Behind::perhaps) {
            more_ = false;
            looked_behind = behind == PacketIo::Behind::nothing;
            break;
        }
    }
    if (notes_origins_ && now_ns_ >= note_origins_until_ns_) note_origins(false);
    bool empty = !more_ && looked_behind;
    if (empty || now_ns_ - heard_all_ns_ >= longest_flood_ns) home_.heard_all(heard_all_ns_ = now_ns_, empty);
    if (packets > 0 && !home_.oversubscribed && ++wakeful_polls_ == arrivals_to_ask) io_.watch(false);
    return packets;
}

// Composes the packets to one peer. Returns false if the outbox is full. If the flow ends meanwhile, what its
// packets point to exists no more.
bool DgramPath::fill_from(Peer &peer) {
    Outbox &out = *outbox_;
    peer.flow.set_largest(io_.largest(peer.destination));  // the limit may have become lower
    while (out.has_room()) {
        OutPacket &packet = out.packet[out.count];
        packet.buffer = &out.room[out.used];
        if (!peer.flow.compose(packet, now_ns_)) {
            if (peer.lost) out.drop(peer);
            return true;
        }
        out.used += packet.size;
        iovec *part = out.part[out.count];
        part[0] = {packet.buffer, packet.size};
        part[1] = {const_cast<std::byte *>(packet.tail), packet.tail_size};
        out.outgoing[out.count] = {peer.destination, part, packet.tail_size ? 2 : 1};
        out.peer[out.count++] = &peer;
        if (packet.last) return true;
    }
    return false;
}

// Sends the packets in the outbox. Returns false if the endpoint has no room for all of them.
bool DgramPath::send_filled() {
    Outbox &out = *outbox_;
    if (out.count == 0) return true;
    int sent = io_.send(out.outgoing, out.count);
    if (sent < 0) note_trouble(-std::exchange(sent, 0));
    for (int i = out.count; i-- > sent;) out.peer[i]->flow.take_back(out.packet[i], now_ns_);
    for (int i = 0; i < sent; ++i)
        if (out.peer[i]->route == RouteState::sought_among_several)
            send_by_other_routes(*out.peer[i], out.outgoing[i]);
    bool all = sent == out.count;
    out.count = 0;
    out.used = 0;
    return all;
}

// Sends to the peers in due_. Sends to all active peers if a timer of any peer has expired (inside poll()),
// or if the endpoint was full. A different peer is then first each time, so that no peer is starved.
void DgramPath::write_out() {
    now_ns_ = io_.now_ns();
    if (full_ || (sink_ && now_ns_ >= next_ns_)) {
        due_ = active_;
        std::rotate(due_.begin(),
                    due_.begin() + static_cast<std::ptrdiff_t>(++turn_ % std::max<size_t>(1, due_.size())),
                    due_.end());
        next_ns_ = no_deadline;
    }
    full_ = to_write_ = postponed_ = false;
    batching_.left();
    for (uint32_t number : due_)
        while (!full_ && !fill_from(*peers_[number])) full_ = !send_filled();
    if (!full_) full_ = !send_filled();
    for (uint32_t number : due_) {
        peers_[number]->due = false;
        look_again(*peers_[number]);
    }
    due_.clear();
}

// Sends a probe to each peer that has been silent for a long time and with which nothing is under way.
void DgramPath::look_after_peers() {
    uint64_t quarter_ns = limits_.flow.peer_timeout_ns / 4;
    look_at_ns_ = now_ns_ + quarter_ns;
    if (liveness_) liveness_->tend();
    for (Published<Peer> &peer : peers_) {
        if (!peer || peer->lost || leaving_ || peer->flow.active() ||
            peer->flow.heard_ns() + quarter_ns > now_ns_)
            continue;
        peer->flow.ask();
        list(*peer);
        to_write_ = true;
    }
}

int DgramPath::poll(Sink &sink, int budget, uint64_t now_ns) {
    sink_ = &sink;
    now_ns_ = now_ns;
    told_ = 0;
    if (cut_off_) end_all();
    int work = reports_.tell(sink);
    told_ += work;
    if (now_ns >= look_at_ns_) look_after_peers();
    if (now_ns >= quiet_at_ns_) trim_memory();
    int packets = take_packets(budget);
    bool looks = std::exchange(postponed_, false) || packets > 0;
    if (packets > 0 && may_wait()) {
        postpone();
        looks = false;
    }
    if (looks || to_write_ || full_ || now_ns >= next_ns_) write_out();
    batching_.end_series();
    sink_ = nullptr;
    return std::max(work + packets, told_);
}

// May the answer wait? Yes, if something has arrived, from one peer only, for which the program may be
// waiting. The answer then travels with what the program sends next, or is sent later.
bool DgramPath::may_wait() const {
    return !home_.oversubscribed && told_ > 0 && due_.size() == 1 && peers_[due_[0]]->flow.may_wait(now_ns_);
}

// Postpones write_out() for the one peer that is due, and with it the update of the peer's timers. The next
// poll does both, and it follows at the latest when an answer is due.
void DgramPath::postpone() {
    postponed_ = true;
    next_ns_ = std::min(next_ns_, now_ns_ + limits_.flow.answer.delay_ns);
}

// Called when nothing has arrived for a while. Returns unused memory to the system. If this happened sooner,
// the memory would be needed again at once, at the cost of a fault for each page.
void DgramPath::trim_memory() {
    quiet_at_ns_ = no_deadline;
    log_pool_.shrink();
    home_.give_back();
    sink_->trim_memory();
}

void DgramPath::prepare_to_sleep(bool) {
    wakeful_polls_ = 0;
    io_.watch(true);
}

bool DgramPath::all_acknowledged() {
    if (all_delivered()) return true;
    uint64_t now_ns = io_.now_ns();
    if (now_ns < ask_at_ns_) return false;
    ask_at_ns_ = now_ns + ask_every_ns;
    for (uint32_t number : active_)
        if (!peers_[number]->log.empty()) peers_[number]->flow.ask();
    next_ns_ = 0;
    return false;
}

void DgramPath::ask(uint32_t number) {
    Peer *peer = contact(number);
    if (!peer) return;
    peer->flow.ask();
    list(*peer);
    if (sink_) to_write_ = true;
    else write_out();
}

void DgramPath::answer_all() {
    for (uint32_t number : active_) {
        peers_[number]->flow.answer();
        list(*peers_[number]);
    }
    write_out();
}

PathActivity DgramPath::activity() const {
    bool io_pending =
        full_ || more_ || to_write_ || cut_off_ || !reports_.empty() || bulk_.count() > 0 || assembling_ > 0;
    // `unacknowledged` is also true while a peer may wait for an answer that was lost. Such a peer requests
    // the answer again and again, and needs nothing else from this process.
    return {.io_pending = io_pending, .unacknowledged = !all_delivered() || quiet_at_ns_ != no_deadline};
}

uint64_t DgramPath::deadline_ns() const {
    if (more_ || cut_off_ || !reports_.empty()) return 0;
    return known_ > 0 ? std::min({next_ns_, look_at_ns_, quiet_at_ns_}) : next_ns_;
}

dgram::PeerCounts DgramPath::counts_of(uint32_t number) const {
    const Peer *peer = peers_[number].seen();
    return peer ? peer->flow.counts() : dgram::PeerCounts();
}

DgramPath::RoundTrips DgramPath::round_trips() const {
    RoundTrips all;
    uint64_t sum_ns = 0, peers = 0;
    for (uint32_t number = 0; number < peers_.size(); ++number) {
        dgram::PeerCounts peer = counts_of(number);
        if (peer.round_trip_ns == 0) continue;
        ++peers;
        sum_ns += peer.round_trip_ns;
        all.least_ns =
            peers == 1 ? peer.least_round_trip_ns : std::min(all.least_ns, peer.least_round_trip_ns);
    }
    if (peers) all.mean_ns = sum_ns / peers;
    return all;
}

std::string DgramPath::describe() const { return "dgram: " + io_.describe(); }

void DgramPath::close() {
    for (Published<Peer> &peer : peers_)
        if (peer && !peer->lost) {
            peer->flow.close();
            list(*peer);
        }
    write_out();
    if (liveness_) liveness_->close();
}

}  // namespace lanyard
