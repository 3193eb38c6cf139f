// Hosts are connected by several networks, but between some pairs of hosts most networks carry nothing
// (path/dgram/peer_routes.cc). Every message must arrive, and the route that a host uses in the end must
// reach the other host.
#include <gtest/gtest.h>

#include <memory>

#include "sim/dgram_hosts.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

using Networks = std::vector<std::unique_ptr<PacketNetwork>>;

// Combines the endpoints of one host in all networks into one endpoint. The number of a destination is host
// * (number of networks) + network. The name of a host is a list of such numbers: "7,4,5".
class SeveralNetworks final : public PacketIo {
public:
    SeveralNetworks(Networks &networks, uint32_t own) : networks_(networks), own_(own) {}

    std::string name() const override { return ""; }
    int64_t destination(std::string_view name) override { return static_cast<int64_t>(routes(name).front()); }
    std::vector<uint64_t> routes(std::string_view name) override {
        std::vector<uint64_t> routes;
        for (std::string_view left = name; !left.empty();) {
            std::string one(left.substr(0, left.find(',')));
            left.remove_prefix(std::min(left.size(), one.size() + 1));
            routes.push_back(std::stoull(one));
        }
        return routes;
    }
    int64_t origin(const Arrived &packet) override {
        uint32_t sender = 0;
        EXPECT_TRUE(dgram::Flow::sender_of({packet.data, packet.size}, sender));
        if (packet.note == not_noted) return -1;
        return static_cast<int64_t>(sender * networks_.size() + packet.note);
    }
    bool note_origins(bool on) override {
        notes_ = on;
        return true;
    }
    std::string ends(uint64_t destination) const override {
        return std::to_string(destination % networks_.size());
    }
    size_t largest(uint64_t) const override { return networks_[0]->behaviour().largest; }
    int send(const Outgoing *list, int count) override {
        for (int i = 0; i < count; ++i) {
            Outgoing packet = list[i];
            packet.destination /= networks_.size();
            if (networks_[list[i].destination % networks_.size()]->host(own_).send(&packet, 1) == 0) return i;
        }
        return count;
    }
    int receive(Arrived *list, int most) override {
        for (size_t tried = 0; tried < networks_.size(); ++tried) {
            next_ = (next_ + 1) % networks_.size();
            int count = networks_[next_]->host(own_).receive(list, most);
            for (int i = 0; i < count; ++i) list[i].note = notes_ ? static_cast<uint32_t>(next_) : not_noted;
            if (count > 0) return count;
        }
        return 0;
    }
    int descriptor() const override { return -1; }
    uint64_t now_ns() override { return networks_[0]->now_ns(); }
    std::string describe() const override { return ""; }

private:
    static constexpr uint32_t not_noted = UINT32_MAX;

    Networks &networks_;
    const uint32_t own_;
    size_t next_ = 0;
    bool notes_ = false;
};

struct RoutedHosts {
    RoutedHosts(Random &random, uint32_t hosts, size_t routes)
        : count(hosts), processes(hosts), cut(routes * hosts * hosts) {
        PacketBehaviour behaviour;
        behaviour.delay_ns = random.below(2'000'000);
        behaviour.lost_ppm = static_cast<uint32_t>(random.below(100'000));
        behaviour.doubled_ppm = behaviour.held_up_ppm = static_cast<uint32_t>(random.below(50'000));
        for (size_t route = 0; route < routes; ++route)
            networks.push_back(std::make_unique<PacketNetwork>(random.next(), behaviour, count));
        for (uint32_t a = 0; a < count; ++a)
            for (uint32_t b = 0; b < a; ++b) close_some(random, a, b);
        for (uint32_t own = 0; own < count; ++own) {
            auto find = [this, seed = random.next()](uint32_t peer, std::string &name) {
                name = in_some_order(seed + peer, peer);
                return Error();
            };
            endpoints.push_back(std::make_unique<SeveralNetworks>(networks, own));
            ProcessName name{0, own};
            paths.push_back(std::make_unique<DgramPath>(*endpoints.back(), name, processes, 1 + own,
                                                        Crc32c::built_in(), DgramLimits(), find));
            paths.back()->set_secret(known_secret());
        }
        heard.resize(count);
    }
    // Closes some networks between the two hosts, and always leaves one open.
    void close_some(Random &random, uint32_t a, uint32_t b) {
        size_t whole = random.below(networks.size());
        for (size_t route = 0; route < networks.size(); ++route) {
            if (route == whole || random.chance(40)) continue;
            networks[route]->cut(a, b);
            is_cut(route, a, b) = is_cut(route, b, a) = true;
        }
    }
    // Returns the name of a peer, with the networks in a random order, because the order of preference may
    // differ from host to host.
    std::string in_some_order(uint64_t seed, uint32_t peer) const {
        std::string name;
        for (size_t i = 0; i < networks.size(); ++i)
            name += (i ? "," : "") + std::to_string(peer * networks.size() + (seed + i) % networks.size());
        return name;
    }
    std::vector<bool>::reference is_cut(size_t route, uint32_t from, uint32_t to) {
        return cut[(route * count + from) * count + to];
    }
    void send(uint32_t from, uint32_t to) {
        std::byte payload[100] = {};
        ASSERT_EQ(paths[from]->send(to, Envelope{}, {payload, sizeof payload}), Sent::done);
    }
    void run(uint64_t for_ns) {
        for (uint64_t end = networks[0]->now_ns() + for_ns; networks[0]->now_ns() < end;) {
            uint64_t next = networks[0]->now_ns() + 250'000;
            for (auto &network : networks) network->advance(next);
            for (size_t own = 0; own < paths.size(); ++own) paths[own]->poll(heard[own], 64, next);
        }
    }

    const uint32_t count;
    Processes processes;
    std::vector<bool> cut;  // true if the network carries nothing from one host to another; indexed by
                            // network, sender and receiver
    Networks networks;
    std::vector<std::unique_ptr<SeveralNetworks>> endpoints;
    std::vector<std::unique_ptr<DgramPath>> paths;
    std::vector<Heard> heard;
};

TEST(Routes, ThatLeadThereAreFoundWhateverElseThereIs) {
    for_seeds(10, 15, [&](uint64_t seed) {
        Random random(seed);
        RoutedHosts hosts(random, static_cast<uint32_t>(random.between(2, 5)), random.between(2, 4));
        std::vector<int> sent(hosts.count);  // number of messages sent to each host
        bool all_send = random.chance(50);
        for (int round = 0; round < 20; ++round) {
            for (uint32_t from = 0; from < hosts.count; ++from)
                for (uint32_t to = 0; to < hosts.count; ++to) {
                    if (from == to || (!all_send && from > to)) continue;
                    hosts.send(from, to);
                    ++sent[to];
                }
            hosts.run(random.below(200'000'000));
        }
        hosts.run(10'000'000'000);
        for (uint32_t own = 0; own < hosts.count; ++own) {
            EXPECT_EQ(hosts.heard[own].envelopes, sent[own]);
            EXPECT_TRUE(hosts.paths[own]->all_acknowledged() && hosts.heard[own].losses.empty());
            for (uint32_t peer = 0; peer < hosts.count; ++peer) {
                if (peer == own) continue;
                size_t route = std::stoul(hosts.paths[own]->ends(peer));
                EXPECT_FALSE(hosts.is_cut(route, own, peer)) << own << " to " << peer << " by " << route;
            }
        }
        if (testing::Test::HasFailure()) ADD_FAILURE() << "Repeat with LANYARD_TEST_SEED=" << seed;
        return !testing::Test::HasFailure();
    });
}

// If the peer answers the first packet, nothing may be sent twice.
TEST(Routes, NothingGoesTwiceWhereTheFirstIsGood) {
    Random random(first_seed());
    RoutedHosts hosts(random, 2, 3);
    for (auto &network : hosts.networks) {
        network->heal_all();
        network->behaviour() = PacketBehaviour();
    }
    hosts.send(0, 1);
    hosts.send(1, 0);
    hosts.run(1'000'000'000);
    EXPECT_EQ(hosts.heard[0].envelopes + hosts.heard[1].envelopes, 2);
    EXPECT_EQ(hosts.paths[0]->counts().copies + hosts.paths[1]->counts().copies, 0u);
}

}  // namespace
}  // namespace lanyard::sim
