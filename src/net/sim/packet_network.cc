// See packet_network.h.
#include "net/sim/packet_network.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>

namespace lanyard::sim {

PacketBehaviour PacketBehaviour::any(Random &random) {
    PacketBehaviour any;
    any.bytes_per_s = uint64_t{1'000'000} << random.below(11);
    any.delay_ns = uint64_t{1} << random.between(8, 22);
    any.jitter_ns = random.chance(50) ? 0 : random.below(any.delay_ns);
    any.lost_ppm =
        random.chance(40) ? 0 : static_cast<uint32_t>(random.below(random.chance(30) ? 300'000 : 30'000));
    any.doubled_ppm = random.chance(50) ? 0 : static_cast<uint32_t>(random.below(100'000));
    any.damaged_ppm = random.chance(50) ? 0 : static_cast<uint32_t>(random.below(50'000));
    any.held_up_ppm = random.chance(50) ? 0 : static_cast<uint32_t>(random.below(100'000));
    any.held_up_ns = 1 + random.below(4 * any.delay_ns);
    any.port_queue = static_cast<size_t>(random.between(4'000, random.chance(30) ? 20'000 : 500'000));
    any.card_queue = static_cast<size_t>(random.between(2'000, 300'000));
    any.largest = static_cast<size_t>(random.chance(60) ? 1472 : random.between(512, 9000));
    return any;
}

// The endpoint of one host.
class PacketNetwork::Endpoint final : public PacketIo {
public:
    Endpoint(PacketNetwork &network, uint32_t host) : network_(network), host_(host) {}

    std::string name() const override { return std::to_string(host_); }
    int64_t destination(std::string_view name) override {
        uint64_t host = std::strtoull(std::string(name).c_str(), nullptr, 10);
        return host < network_.endpoints_.size() ? static_cast<int64_t>(host) : -EINVAL;
    }
    size_t largest(uint64_t) const override { return network_.behaviour_.largest; }
    int send(const Outgoing *list, int count) override {
        for (int i = 0; i < count; ++i)
            if (!network_.launch(host_, list[i])) return i;
        return count;
    }
    int receive(Arrived *list, int most) override {
        for (; lent_ > 0; --lent_) network_.give_packet(arrived_[taken_++]);
        if (taken_ == arrived_.size()) {
            arrived_.clear();
            taken_ = 0;
        }
        size_t waiting = arrived_.size() - taken_;
        for (; lent_ < waiting && lent_ < static_cast<size_t>(most); ++lent_) {
            const std::vector<std::byte> &bytes = network_.packets_[arrived_[taken_ + lent_]].bytes;
            list[lent_] = {bytes.data(), bytes.size()};
        }
        return static_cast<int>(lent_);
    }
    int descriptor() const override { return -1; }
    uint64_t now_ns() override { return network_.now_ns_; }
    std::string describe() const override { return "simulated packets"; }

    void arrive(uint32_t packet) { arrived_.push_back(packet); }
    bool has_arrived() const { return arrived_.size() > taken_ + lent_; }

private:
    PacketNetwork &network_;
    const uint32_t host_;
    std::vector<uint32_t> arrived_;
    // How many packets of arrived_ have been taken back, and how many of those that follow are lent.
    size_t taken_ = 0, lent_ = 0;
};

PacketNetwork::PacketNetwork(uint64_t seed, const PacketBehaviour &behaviour, uint32_t hosts)
    : behaviour_(behaviour), random_(seed), uplinks_(hosts), ports_(hosts), cut_(size_t{hosts} * hosts) {
    for (uint32_t host = 0; host < hosts; ++host)
        endpoints_.push_back(std::make_unique<Endpoint>(*this, host));
}

PacketNetwork::~PacketNetwork() = default;

PacketIo &PacketNetwork::host(uint32_t number) { return *endpoints_[number]; }

bool PacketNetwork::has_arrived(uint32_t host) const { return endpoints_[host]->has_arrived(); }

uint32_t PacketNetwork::take_packet() {
    if (spare_.empty()) {
        packets_.emplace_back();
        return static_cast<uint32_t>(packets_.size() - 1);
    }
    uint32_t packet = spare_.back();
    spare_.pop_back();
    return packet;
}

void PacketNetwork::add_event(uint64_t time_ns, uint32_t packet, bool at_host) {
    events_.push_back({time_ns, next_order_++, packet, at_host});
    std::push_heap(events_.begin(), events_.end(), std::greater<>());
}

uint64_t PacketNetwork::waiting_bytes(const Line &line) const {
    if (line.free_ns <= now_ns_) return 0;
    return static_cast<uint64_t>(static_cast<double>(line.free_ns - now_ns_) * 1e-9 *
                                 static_cast<double>(behaviour_.bytes_per_s));
}

// Queues these bytes at the line. Returns the time at which the last of them will have left.
uint64_t PacketNetwork::pass(Line &line, size_t bytes) {
    auto takes_ns =
        static_cast<uint64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(behaviour_.bytes_per_s));
    return line.free_ns = std::max(line.free_ns, now_ns_) + takes_ns;
}

bool PacketNetwork::launch(uint32_t from, const PacketIo::Outgoing &out) {
    size_t bytes = 0;
    for (int i = 0; i < out.count; ++i) bytes += out.parts[i].iov_len;
    // A full card takes no packet, not even a packet that is too long.
    if (waiting_bytes(uplinks_[from]) >= behaviour_.card_queue) return false;
    if (bytes > behaviour_.largest) {
        ++counts_.too_long;
        return true;
    }
    uint32_t number = take_packet();
    Packet &packet = packets_[number];
    packet.from = from;
    packet.to = static_cast<uint32_t>(out.destination);
    packet.bytes.clear();
    for (int i = 0; i < out.count; ++i) {
        auto *part = static_cast<const std::byte *>(out.parts[i].iov_base);
        packet.bytes.insert(packet.bytes.end(), part, part + out.parts[i].iov_len);
    }
    ++counts_.sent;
    counts_.sent_bytes += bytes;
    add_event(pass(uplinks_[from], bytes + behaviour_.overhead) + behaviour_.delay_ns / 2, number, false);
    return true;
}

void PacketNetwork::reach_switch(uint32_t number) {
    Packet *packet = &packets_[number];
    if (cut_[packet->from * endpoints_.size() + packet->to]) {
        ++counts_.cut_off;
        return give_packet(number);
    }
    if (packet->bytes.size() > behaviour_.hole) {
        ++counts_.swallowed;
        return give_packet(number);
    }
    if (by_chance(behaviour_.lost_ppm)) {
        ++counts_.lost;
        return give_packet(number);
    }
    if (by_chance(behaviour_.doubled_ppm)) {
        ++counts_.doubled;
        uint32_t copy = take_packet();
        packet = &packets_[number];
        packets_[copy].from = packet->from;
        packets_[copy].to = packet->to;
        packets_[copy].bytes = packet->bytes;
        leave_switch(copy);
        packet = &packets_[number];
    }
    if (by_chance(behaviour_.damaged_ppm) && !packet->bytes.empty()) {
        ++counts_.damaged;
        if (random_.chance(20)) packet->bytes.resize(random_.below(packet->bytes.size()));
        else random_.pick(packet->bytes) ^= static_cast<std::byte>(1 << random_.below(8));
    }
    leave_switch(number);
}

void PacketNetwork::leave_switch(uint32_t number) {
    Packet &packet = packets_[number];
    Line &port = ports_[packet.to];
    size_t bytes = packet.bytes.size() + behaviour_.overhead;
    size_t waiting = waiting_bytes(port);
    if (waiting && waiting + bytes > behaviour_.port_queue) {
        ++counts_.overflowed;
        return give_packet(number);
    }
    uint64_t arrival_ns = pass(port, bytes) + behaviour_.delay_ns - behaviour_.delay_ns / 2;
    if (behaviour_.jitter_ns) arrival_ns += random_.below(behaviour_.jitter_ns);
    if (by_chance(behaviour_.held_up_ppm)) {
        ++counts_.held_up;
        arrival_ns += random_.below(behaviour_.held_up_ns);
    } else {
        arrival_ns = port.last_arrival_ns = std::max(arrival_ns, port.last_arrival_ns);
    }
    add_event(arrival_ns, number, true);
}

void PacketNetwork::advance(uint64_t to_ns) {
    while (next_ns() <= to_ns) {
        std::pop_heap(events_.begin(), events_.end(), std::greater<>());
        Event event = events_.back();
        events_.pop_back();
        now_ns_ = std::max(now_ns_, event.time_ns);
        if (event.at_host) {
            ++counts_.arrived;
            endpoints_[packets_[event.packet].to]->arrive(event.packet);
        } else {
            reach_switch(event.packet);
        }
    }
    now_ns_ = std::max(now_ns_, to_ns);
}

void PacketNetwork::cut(uint32_t a, uint32_t b, bool is_cut) {
    cut_[a * endpoints_.size() + b] = is_cut;
    cut_[b * endpoints_.size() + a] = is_cut;
}

void PacketNetwork::heal_all() { cut_.assign(cut_.size(), false); }

std::string PacketNetwork::describe() const {
    auto item = [](const char *what, uint64_t number) {
        return std::string(", ") + what + ' ' + std::to_string(number);
    };
    return "packets sent " + std::to_string(counts_.sent) + item("arrived", counts_.arrived) +
           item("lost", counts_.lost) + item("duplicated", counts_.doubled) +
           item("damaged", counts_.damaged) + item("held up", counts_.held_up) +
           item("overflowed", counts_.overflowed) + item("cut off", counts_.cut_off) +
           item("too long", counts_.too_long) + item("swallowed", counts_.swallowed);
}

}  // namespace lanyard::sim
