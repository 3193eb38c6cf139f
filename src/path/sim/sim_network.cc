// See sim_network.h.
#include "path/sim/sim_network.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lanyard::sim {

Behaviour Behaviour::any(Random &random) {
    Behaviour any;
    any.usual_delay_ns = random.chance(20) ? 1 : uint64_t{1} << random.below(14);
    any.long_delay_ns = uint64_t{1} << random.between(10, 20);
    any.long_delay_percent = static_cast<int>(random.below(random.chance(30) ? 40 : 4));
    any.max_eager = inline_payload + random.below(random.chance(20) ? 100 : 20'000);
    any.max_bulk = 1 + random.below(random.chance(20) ? 50 : 30'000);
    any.queue_frames = static_cast<uint32_t>(random.between(1, random.chance(30) ? 3 : 40));
    any.stall_percent = static_cast<int>(random.below(random.chance(30) ? 40 : 5));
    any.pending_percent = static_cast<int>(random.below(101));
    any.touches_memory = random.chance(40);
    any.refuse_percent = random.chance(50) ? static_cast<int>(random.below(60)) : 0;
    any.bulk_follows = random.chance(50);
    any.preempt_percent = static_cast<int>(random.below(60));
    return any;
}

SimNetwork::SimNetwork(Baton &baton, const Behaviour &behaviour, uint32_t peers)
    : baton_(baton), behaviour_(behaviour), peers_(peers), lines_(static_cast<size_t>(peers) * peers) {
    for (uint32_t own = 0; own < peers; ++own) paths_.push_back(std::make_unique<SimPath>(*this, own));
}

uint64_t SimNetwork::delay_ns() {
    Random &random = baton_.random();
    uint64_t most =
        random.chance(behaviour_.long_delay_percent) ? behaviour_.long_delay_ns : behaviour_.usual_delay_ns;
    return random.below(most + 1);
}

// May one more frame be sent from `from` to `to`? If not, notifies the sender as soon as another attempt is
// worthwhile.
bool SimNetwork::room(uint32_t from, uint32_t to) {
    Line &line = this->line(from, to);
    if (line.stalled_until_ns > baton_.now_ns()) return false;
    if (line.frames >= behaviour_.queue_frames) {
        line.wants_room = true;
        return false;
    }
    if (!baton_.random().chance(behaviour_.stall_percent)) return true;
    line.stalled_until_ns = baton_.now_ns() + 1 + delay_ns();
    baton_.notify_at(line.stalled_until_ns, peers_[from].thread);
    return false;
}

void SimNetwork::launch(Frame frame) {
    Peer &to = peers_[frame.to];
    uint64_t arrival_ns = baton_.now_ns() + delay_ns();
    Line &line = this->line(frame.from, frame.to);
    if (!frame.is_bulk) arrival_ns = line.last_arrival_ns = std::max(arrival_ns, line.last_arrival_ns + 1);
    else if (behaviour_.bulk_follows) arrival_ns = std::max(arrival_ns, line.last_arrival_ns + 1);
    baton_.notify_at(arrival_ns, to.thread);
    to.arriving.emplace(arrival_ns, std::move(frame));
}

int SimNetwork::report_lost(uint32_t own, Sink &sink, int budget) {
    Peer &peer = peers_[own];
    int work = 0;
    for (; work < budget && !peer.to_report.empty(); ++work) {
        uint32_t lost = peer.to_report.back();
        peer.to_report.pop_back();
        sink.lost(lost, Error(ErrorClass::proc_aborted, "the simulated process has ended"));
    }
    return work;
}

int SimNetwork::depart(uint32_t own, Sink &sink) {
    Peer &peer = peers_[own];
    int work = 0;
    for (size_t i = 0; i < peer.leaving.size();) {
        if (peer.leaving[i].time_ns > baton_.now_ns()) {
            ++i;
            continue;
        }
        Departure leaving = std::move(peer.leaving[i]);
        peer.leaving.erase(peer.leaving.begin() + static_cast<std::ptrdiff_t>(i));
        const std::vector<std::byte> &payload = leaving.frame.payload;
        // The caller must not have changed the payload while its send was pending.
        LANYARD_MUST(!leaving.buffer || std::memcmp(leaving.buffer, payload.data(), payload.size()) == 0);
        bool goes = !peer.dead && !peers_[leaving.frame.to].dead;
        if (!goes && !peer.dead) --in_flight_;  // kill() has counted off what the ended process sent
        if (goes) launch(std::move(leaving.frame));
        baton_.progress();
        sink.sent(leaving.token);
        ++work;
        i = 0;  // the handler may have sent more
    }
    return work;
}

int SimNetwork::arrive(uint32_t own, Sink &sink, int budget) {
    Peer &peer = peers_[own];
    int work = 0;
    while (work < budget && !peer.arriving.empty() && peer.arriving.begin()->first <= baton_.now_ns()) {
        Frame frame = std::move(peer.arriving.begin()->second);
        peer.arriving.erase(peer.arriving.begin());
        Line &line = this->line(frame.from, own);
        --line.frames;
        --in_flight_;
        if (line.wants_room) baton_.notify(peers_[frame.from].thread);
        line.wants_room = false;
        baton_.progress();
        if (frame.is_bulk) sink.bulk(frame.from, frame.header, frame.payload.data(), frame.payload.size());
        else sink.envelope(frame.from, frame.envelope, frame.payload.data(), frame.payload.size());
        ++work;
    }
    return work;
}

void SimNetwork::kill(uint32_t number) {
    if (std::exchange(peers_[number].dead, true)) return;
    in_flight_ -= peers_[number].leaving.size();
    auto of_it = [&](const Frame &frame) { return frame.from == number || frame.to == number; };
    for (uint32_t own = 0; own < peers_.size(); ++own) {
        Peer &peer = peers_[own];
        for (auto place = peer.arriving.begin(); place != peer.arriving.end();) {
            if (of_it(place->second)) {
                --in_flight_;
                place = peer.arriving.erase(place);
            } else {
                ++place;
            }
        }
        if (own == number || !peer.reported.insert(number).second) continue;
        peer.to_report.push_back(number);
        baton_.notify(peer.thread);
    }
}

Error SimNetwork::refused(const char *what) {
    if (!baton_.random().chance(behaviour_.refuse_percent)) return {};
    return Error(ErrorClass::other, std::string(what) + ": refused by the simulated network");
}

SimPath::SimPath(SimNetwork &network, uint32_t own)
    : Path({.name = "sim",
            .max_eager = network.behaviour_.max_eager,
            .max_bulk = network.behaviour_.max_bulk,
            .bulk_follows = network.behaviour_.bulk_follows,
            .memory = this}),
      network_(network), own_(own) {}

bool SimPath::reaches(uint32_t peer) const { return peer < network_.peers_.size(); }
bool SimPath::touches(uint32_t) { return network_.behaviour_.touches_memory; }

Sent SimPath::send(uint32_t peer, const Envelope &envelope, Payload payload) {
    LANYARD_MUST(payload.size <= info.max_eager);
    if (network_.peers_[peer].dead || network_.peers_[own_].dead) return Sent::done;
    if (!network_.room(own_, peer)) return Sent::full;
    SimNetwork::Frame frame{own_, peer, false, envelope, {}, std::vector<std::byte>(payload.size)};
    payload.copy(frame.payload.data(), payload.size);
    ++network_.line(own_, peer).frames;
    ++network_.in_flight_;
    network_.launch(std::move(frame));
    return Sent::done;
}

Sent SimPath::send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) {
    LANYARD_MUST(payload.size <= info.max_bulk);
    if (network_.peers_[peer].dead || network_.peers_[own_].dead) return Sent::done;
    if (!network_.room(own_, peer)) return Sent::full;
    SimNetwork::Frame frame{own_, peer, true, {}, header, std::vector<std::byte>(payload.size)};
    const std::byte *buffer = payload.data;
    payload.copy(frame.payload.data(), frame.payload.size());
    ++network_.line(own_, peer).frames;
    ++network_.in_flight_;
    if (!network_.baton_.random().chance(network_.behaviour_.pending_percent)) {
        network_.launch(std::move(frame));
        return Sent::done;
    }
    SimNetwork::Peer &self = network_.peers_[own_];
    uint64_t time_ns = network_.baton_.now_ns() + network_.delay_ns();
    network_.baton_.notify_at(time_ns, self.thread);
    self.leaving.push_back({time_ns, token, buffer, std::move(frame)});
    return Sent::pending;
}

Error SimPath::get(uint32_t, const iovec *local, int runs, uint64_t remote_address, size_t) {
    if (Error error = network_.refused("get")) return error;
    auto *from = reinterpret_cast<const std::byte *>(remote_address);
    for (int i = 0; i < runs; ++i) {
        std::memcpy(local[i].iov_base, from, local[i].iov_len);
        from += local[i].iov_len;
    }
    return {};
}

Error SimPath::put(uint32_t, const iovec *local, int runs, uint64_t remote_address, size_t) {
    if (Error error = network_.refused("put")) return error;
    auto *to = reinterpret_cast<std::byte *>(remote_address);
    for (int i = 0; i < runs; ++i) {
        std::memcpy(to, local[i].iov_base, local[i].iov_len);
        to += local[i].iov_len;
    }
    return {};
}

std::atomic<uint64_t> *SimPath::shared_word(uint32_t owner, uint32_t index) {
    return network_.behaviour_.touches_memory ? &network_.peers_[owner].words[index] : nullptr;
}

int SimPath::poll(Sink &sink, int budget, uint64_t) {
    Baton &baton = network_.baton_;
    if (baton.random().chance(network_.behaviour_.preempt_percent)) baton.pass();
    else baton.tick();
    int work = network_.report_lost(own_, sink, budget);
    work += network_.depart(own_, sink);
    return work + network_.arrive(own_, sink, budget - std::min(work, budget));
}

std::string SimPath::describe() const {
    return "sim: " + std::to_string(network_.peers_.size()) + " simulated processes";
}

}  // namespace lanyard::sim
