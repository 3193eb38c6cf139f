// Implements the simulated processes, and the comparison of all that arrives with all that was sent. See
// flow_world.h.
#include "sim/flow_world.h"

#include <algorithm>

#include "sim/known_secret.h"

namespace lanyard::sim {

using dgram::Flow;

namespace {

constexpr uint64_t most_steps = 1'000'000;  // the scenario fails after this many steps
// how long to wait before sending again if the card's queue is full
constexpr uint64_t full_again_ns = 5'000;

}  // namespace

uint64_t Conversation::Bulk::add(uint64_t begin, uint64_t end) {
    uint64_t again = 0, first = begin, last = end;
    auto at = received.upper_bound(begin);
    if (at != received.begin() && std::prev(at)->second >= begin) --at;
    for (; at != received.end() && at->first <= end; at = received.erase(at)) {
        uint64_t from = std::max(begin, at->first), until = std::min(end, at->second);
        if (until > from) again += until - from;
        first = std::min(first, at->first);
        last = std::max(last, at->second);
    }
    received[first] = last;
    return again;
}

class FlowWorld::Host final : public dgram::FlowOwner {
public:
    Host(FlowWorld &world, uint32_t number, uint32_t hosts, const dgram::FlowLimits &limits)
        : home(number, known_secret(), Crc32c::built_in(), limits, *this), world_(world), number_(number) {
        for (uint32_t peer = 0; peer < hosts; ++peer)
            flows.push_back(std::make_unique<Flow>(home, peer, 1 + number * 1000 + peer,
                                                   world.network_.behaviour().largest));
    }

    dgram::Logged logged(Flow &flow, uint64_t sequence) override {
        Conversation &conversation = to(flow);
        if (sequence < conversation.delivered || sequence >= conversation.log.size()) {
            world_.complain("an envelope is asked for that is not in the log");
            sequence = 0;
        }
        const SentMessage &message = conversation.log[sequence];
        return {&message.envelope, message.payload.data(), static_cast<uint32_t>(message.payload.size())};
    }
    const std::byte *bulk_bytes(Flow &flow, uint64_t token, uint64_t offset, std::byte *scratch,
                                size_t size) override {
        const Conversation::Bulk &bulk = to(flow).bulk[token];
        if (bulk.delivered) world_.complain("bulk is asked for that was delivered");
        if (!world_.copies_bulk_ || world_.random_.chance(50)) return bulk.bytes.data() + offset;
        std::copy_n(bulk.bytes.data() + offset, size, scratch);
        return scratch;
    }
    void delivered(Flow &flow, uint64_t below) override {
        Conversation &conversation = to(flow);
        if (below <= conversation.delivered || below > conversation.arrived)
            world_.complain("envelopes are said to be delivered that are not");
        conversation.delivered = below;
    }
    void bulk_delivered(Flow &flow, uint64_t token) override {
        Conversation::Bulk &bulk = to(flow).bulk[token];
        if (bulk.delivered || bulk.missing)
            world_.complain("bulk is said to be delivered that is not, or twice");
        bulk.delivered = true;
    }
    void envelope(Flow &flow, const dgram::Piece &piece, const std::byte *payload) override {
        Conversation &conversation = from(flow);
        if (conversation.arrived >= conversation.log.size())
            return world_.complain("an envelope arrived that nobody sent");
        const SentMessage &message = conversation.log[conversation.arrived];
        bool right = piece.at.sequence == conversation.arrived &&
                     piece.at.offset == conversation.arrived_of_next &&
                     piece.total == message.payload.size() && piece.at.offset + piece.size <= piece.total &&
                     std::equal(payload, payload + piece.size, message.payload.begin() + piece.at.offset);
        if (piece.first())
            right = right && std::memcmp(&piece.envelope, &message.envelope, sizeof(Envelope)) == 0;
        if (!right) return world_.complain("an envelope is not the next one that was sent");
        conversation.arrived_of_next += piece.size;
        if (conversation.arrived_of_next < message.payload.size()) return;
        conversation.arrived_of_next = 0;
        ++conversation.arrived;
    }
    void bulk(Flow &flow, const BulkHeader &header, const std::byte *payload, size_t size) override {
        Conversation &conversation = from(flow);
        uint64_t begin = header.offset - bulk_base;
        if (header.receive_id >= conversation.bulk.size() ||
            begin + size > conversation.bulk[header.receive_id].bytes.size())
            return world_.complain("bulk arrived that nobody sent");
        Conversation::Bulk &item = conversation.bulk[header.receive_id];
        if (std::memcmp(payload, item.bytes.data() + begin, size) != 0)
            return world_.complain("bulk arrived with other bytes");
        uint64_t again = item.add(begin, begin + size);
        conversation.arrived_twice += again;
        item.missing -= size - again;
    }
    dgram::PeerState peer_state(Flow &) override { return world_.peer_state_; }
    void ended(Flow &flow, dgram::FlowEnd how) override {
        Conversation &conversation = to(flow);
        if (conversation.ended++) world_.complain("a flow ended twice");
        conversation.how = how;
    }

    // The offset of the first byte of every bulk, chosen so that offsets soon exceed 32 bits.
    static constexpr uint64_t bulk_base = (uint64_t{1} << 32) - 10'000;

    dgram::FlowHome home;
    std::vector<std::unique_ptr<Flow>> flows;
    uint64_t deadline_ns = UINT64_MAX;
    // look_every_ns is 0 if the host polls whenever something arrives
    uint64_t look_every_ns = 0, look_at_ns = 0;
    // some of the packets that arrived, which serve() lets arrive again
    std::vector<std::vector<std::byte>> heard;

    uint32_t number() const { return number_; }

private:
    Conversation &to(Flow &flow) { return world_.conversation(number_, flow.peer()); }
    Conversation &from(Flow &flow) { return world_.conversation(flow.peer(), number_); }

    FlowWorld &world_;
    const uint32_t number_;
};

FlowWorld::FlowWorld(uint64_t seed, const PacketBehaviour &behaviour, uint32_t hosts,
                     const dgram::FlowLimits &limits)
    : network_(seed, behaviour, hosts), random_(seed ^ 0xf10e), conversations_(size_t{hosts} * hosts) {
    for (uint32_t number = 0; number < hosts; ++number)
        hosts_.push_back(std::make_unique<Host>(*this, number, hosts, limits));
}

FlowWorld::~FlowWorld() = default;

void FlowWorld::complain(const std::string &what) {
    if (complaint_.empty()) complaint_ = what + " at " + std::to_string(now_ns()) + " ns";
}

// Returns a random part of one long list of random bytes. The list is at least 10,007 bytes longer than the
// part. (The number 10,007 is not near a power of two.)
std::vector<std::byte> FlowWorld::any_bytes(size_t size) {
    while (bytes_.size() < size + 10'007) {
        uint64_t word = random_.next();
        auto *bytes = reinterpret_cast<const std::byte *>(&word);
        bytes_.insert(bytes_.end(), bytes, bytes + sizeof word);
    }
    auto begin = bytes_.begin() + static_cast<ptrdiff_t>(random_.below(bytes_.size() - size));
    return {begin, begin + static_cast<ptrdiff_t>(size)};
}

Flow &FlowWorld::flow(uint32_t own, uint32_t peer) { return *hosts_[own]->flows[peer]; }

void FlowWorld::wake(Host &host) { host.deadline_ns = 0; }

void FlowWorld::look_every(uint32_t number, uint64_t ns) {
    Host &host = *hosts_[number];
    host.look_every_ns = ns;
    host.look_at_ns = now_ns() + random_.below(ns) + 1;
}

// When the host is served next if nothing arrives for it.
uint64_t FlowWorld::served_at_ns(const Host &host) const {
    return host.look_every_ns ? host.look_at_ns : host.deadline_ns;
}

void FlowWorld::send(uint32_t from, uint32_t to, size_t size) {
    Conversation &conversation = this->conversation(from, to);
    SentMessage message{};
    message.envelope.context = conversation.log.size() * 77;
    message.envelope.length = size;
    message.payload = any_bytes(size);
    conversation.log.push_back(std::move(message));
    flow(from, to).log_grew(conversation.log.size());
    wake(*hosts_[from]);
}

void FlowWorld::send_bulk(uint32_t from, uint32_t to, size_t size) {
    std::vector<Conversation::Bulk> &list = conversation(from, to).bulk;
    list.push_back({any_bytes(size), {}, size});
    uint64_t id = list.size() - 1;
    flow(from, to).send_bulk({id, Host::bulk_base}, size, id);
    wake(*hosts_[from]);
}

// Handles the packets that have arrived and, at random, an earlier one again. Then sends all
// packets that may leave.
void FlowWorld::serve(Host &host) {
    PacketIo &io = network_.host(host.number());
    auto hear = [&](std::span<const std::byte> packet) {
        uint32_t sender;
        if (Flow::sender_of(packet, sender) && sender < hosts_.size() && sender != host.number())
            host.flows[sender]->received(packet, now_ns());
        else ++astray_;
    };
    PacketIo::Arrived arrived[16];
    for (int count; (count = io.receive(arrived, 16)) > 0;)
        for (int i = 0; i < count; ++i) {
            std::span packet(arrived[i].data, arrived[i].size);
            if (disturb_percent_ && !packet.empty() && random_.chance(20))
                host.heard.emplace_back(packet.begin(), packet.end());
            hear(packet);
        }
    host.home.heard_all(now_ns());
    if (host.look_every_ns) host.look_at_ns = now_ns() + host.look_every_ns;
    if (random_.chance(disturb_percent_) && !host.heard.empty() && disturbances_left_-- > 0) {
        std::vector<std::byte> packet = random_.pick(host.heard);
        if (random_.chance(50))
            for (int i = 0; i < 3; ++i) random_.pick(packet) = static_cast<std::byte>(random_.next());
        hear(packet);
    }
    host.deadline_ns = UINT64_MAX;
    std::byte buffer[dgram::most_packet];
    dgram::OutPacket out{};
    out.buffer = buffer;
    // Each host begins with the peer after its own number, so that not all of them begin with the
    // same peer.
    for (size_t turn = 1; turn <= host.flows.size(); ++turn) {
        Flow *flow = host.flows[(host.number() + turn) % host.flows.size()].get();
        while (flow->compose(out, now_ns())) {
            iovec parts[2] = {{out.buffer, out.size}, {const_cast<std::byte *>(out.tail), out.tail_size}};
            PacketIo::Outgoing going{flow->peer(), parts, out.tail_size ? 2 : 1};
            if (io.send(&going, 1) == 1) continue;
            flow->take_back(out, now_ns());
            host.deadline_ns = std::min(host.deadline_ns, now_ns() + full_again_ns);
            break;
        }
        if (flow->deadline_ns() > now_ns())
            host.deadline_ns = std::min(host.deadline_ns, flow->deadline_ns());
        else host.deadline_ns = std::min(host.deadline_ns, now_ns() + full_again_ns);
    }
}

// Advances to the next moment at which something happens. Returns false at `limit_ns`, or if something is
// wrong.
bool FlowWorld::step(uint64_t limit_ns) {
    if (++steps_ > most_steps) complain("much has happened, but all is not delivered");
    uint64_t next_ns = network_.next_ns();
    for (auto &host : hosts_) next_ns = std::min(next_ns, served_at_ns(*host));
    network_.advance(std::max(now_ns(), std::min(next_ns, limit_ns)));
    if (next_ns > limit_ns) return false;
    for (auto &host : hosts_)
        if ((network_.has_arrived(host->number()) && !host->look_every_ns) || served_at_ns(*host) <= now_ns())
            serve(*host);
    return complaint_.empty();
}

bool FlowWorld::run_until(uint64_t ns) {
    while (step(ns)) {
    }
    return complaint_.empty();
}

bool FlowWorld::is_idle() {
    for (auto &host : hosts_)
        for (auto &flow : host->flows)
            if (flow->active()) return false;
    return true;
}

bool FlowWorld::run_until_idle(uint64_t limit_ns) {
    while (!is_idle())
        if (!step(limit_ns)) {
            complain("not all was delivered, or not all memory given back, in time");
            return false;
        }
    for (const Conversation &conversation : conversations_) {
        bool all = conversation.delivered == conversation.log.size();
        for (const Conversation::Bulk &bulk : conversation.bulk) all = all && bulk.delivered;
        if (!all && !conversation.ended) complain("the flows rest, but not all was delivered");
    }
    return complaint_.empty();
}

bool FlowWorld::run_until_bulk_arrived(uint32_t to, uint64_t limit_ns) {
    auto missing = [&] {
        for (uint32_t from = 0; from < hosts_.size(); ++from)
            for (const Conversation::Bulk &bulk : conversation(from, to).bulk)
                if (bulk.missing) return true;
        return false;
    };
    while (missing())
        if (!step(limit_ns)) return false;
    return complaint_.empty();
}

dgram::FlowCounts FlowWorld::counts() const {
    dgram::FlowCounts sum;
    using Count = dgram::FlowCounts::Count;
    constexpr size_t counts = sizeof sum / sizeof(Count);
    for (const auto &host : hosts_)
        for (size_t i = 0; i < counts; ++i)
            reinterpret_cast<Count *>(&sum)[i] += reinterpret_cast<const Count *>(&host->home.counts)[i];
    return sum;
}

std::string FlowWorld::describe() {
    std::string text = complaint_ + "\n" + network_.describe() + "\n";
    for (uint32_t from = 0; from < hosts_.size(); ++from)
        for (uint32_t to = 0; to < hosts_.size(); ++to) {
            const Conversation &had = conversation(from, to);
            size_t missing = 0;
            for (const auto &bulk : had.bulk) missing += bulk.missing;
            const Flow &flow = this->flow(from, to);
            if (!flow.active() && had.log.empty() && had.bulk.empty()) continue;
            text += std::to_string(from) + " to " + std::to_string(to) + ": " +
                    std::to_string(had.log.size()) + " envelopes, arrived " + std::to_string(had.arrived) +
                    ", delivered " + std::to_string(had.delivered) + ", bulk missing " +
                    std::to_string(missing) + ", window " + std::to_string(flow.congestion().window()) +
                    ", round trip " + std::to_string(flow.trip().smoothed_ns()) +
                    (flow.active() ? " ns, active, deadline " + std::to_string(flow.deadline_ns())
                                   : " ns, idle") +
                    (had.ended ? ", ended by " + std::to_string(static_cast<int>(had.how)) : "") + '\n';
        }
    dgram::FlowCounts all = counts();
    text += "lost by order " + std::to_string(all.lost_by_order) + ", by time " +
            std::to_string(all.lost_by_time) + ", probes " + std::to_string(all.probes) + ", too early " +
            std::to_string(all.given_up_too_early) + ", copies " + std::to_string(all.copies) + ", beyond " +
            std::to_string(all.beyond) + ", no room " + std::to_string(all.no_room) + ", damaged " +
            std::to_string(all.damaged) + ", stale " + std::to_string(all.stale) + ", malformed " +
            std::to_string(all.malformed) + ", packets out " + std::to_string(all.packets_out) +
            ", alone acknowledging " + std::to_string(all.acknowledgements_out) + '\n';
    return text;
}

}  // namespace lanyard::sim
