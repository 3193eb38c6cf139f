// Connects each kind of path (kinds.h).
#include "conformance/kinds.h"

#include "conformance/dgram_connected.h"
#include "conformance/example_path.h"
#include "conformance/link_connected.h"
#include "conformance/shm_connected.h"
#include "path/self/self_path.h"
#include "path/sim/sim_network.h"

namespace lanyard::conformance {
namespace {

class SelfConnected final : public Connected {
public:
    SelfConnected() : path_(0) { paths.push_back(&path_); }

private:
    SelfPath path_;
};

class ExampleConnected final : public Connected {
public:
    explicit ExampleConnected(uint32_t peers) {
        std::vector<std::vector<int>> sockets(peers, std::vector<int>(peers, -1));
        for (uint32_t i = 0; i < peers; ++i)
            for (uint32_t j = 0; j < i; ++j) {
                int pair[2];
                LANYARD_MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
                sockets[i][j] = pair[0];
                sockets[j][i] = pair[1];
            }
        for (uint32_t peer = 0; peer < peers; ++peer) {
            examples_.push_back(std::make_unique<ExamplePath>(sockets[peer]));
            paths.push_back(examples_.back().get());
        }
    }
    bool kill(uint32_t peer) override {
        examples_[peer]->close();
        return true;
    }

private:
    std::vector<std::unique_ptr<ExamplePath>> examples_;
};

// Uses a simulated network whose properties follow from the seed. There are no threads, so its time
// advances with every poll.
class SimConnected final : public Connected {
public:
    SimConnected(uint32_t peers, uint64_t seed)
        : baton_(seed), network_(baton_, sim::Behaviour::any(baton_.random()), peers) {
        for (uint32_t peer = 0; peer < peers; ++peer) paths.push_back(&network_.path(peer));
    }
    bool kill(uint32_t peer) override {
        network_.kill(peer);
        return true;
    }

private:
    sim::Baton baton_;
    sim::SimNetwork network_;
};

std::unique_ptr<Connected> connect_self(uint32_t, uint64_t) { return std::make_unique<SelfConnected>(); }
std::unique_ptr<Connected> connect_shm(uint32_t peers, uint64_t) {
    return std::make_unique<ShmConnected>(peers, true);
}
std::unique_ptr<Connected> connect_sim(uint32_t peers, uint64_t seed) {
    return std::make_unique<SimConnected>(peers, seed);
}
std::unique_ptr<Connected> connect_tcp(uint32_t peers, uint64_t) {
    return std::make_unique<TcpConnected>(peers);
}
std::unique_ptr<Connected> connect_sim_links(uint32_t peers, uint64_t seed) {
    return std::make_unique<SimLinkConnected>(peers, seed);
}
std::unique_ptr<Connected> connect_tcp_checked(uint32_t peers, uint64_t) {
    return std::make_unique<TcpConnected>(peers, true);
}
std::unique_ptr<Connected> connect_sim_links_checked(uint32_t peers, uint64_t seed) {
    return std::make_unique<SimLinkConnected>(peers, seed, true);
}
std::unique_ptr<Connected> connect_udp(uint32_t peers, uint64_t) {
    return std::make_unique<PacketsConnected>(peers, Harm{}, open_udp_packets);
}
std::unique_ptr<Connected> connect_udp_harmed(uint32_t peers, uint64_t seed) {
    Harm harm{.lost = 10'000, .doubled = 10'000, .overtaken = 10'000, .damaged = 1'000, .seed = seed};
    return std::make_unique<PacketsConnected>(peers, harm, open_udp_packets);
}
std::unique_ptr<Connected> connect_sim_packets(uint32_t peers, uint64_t seed) {
    return std::make_unique<SimPacketsConnected>(peers, seed);
}
std::unique_ptr<Connected> connect_example(uint32_t peers, uint64_t) {
    return std::make_unique<ExampleConnected>(peers);
}

}  // namespace

std::vector<Kind> all_kinds() {
    return {Kind{"self", connect_self},
            Kind{"shm", connect_shm},
            Kind{"tcp", connect_tcp},
            Kind{"sim", connect_sim},
            Kind{"sim_links", connect_sim_links},
            Kind{"tcp_checked", connect_tcp_checked},
            Kind{"sim_links_checked", connect_sim_links_checked},
            Kind{"udp", connect_udp},
            Kind{"udp_harmed", connect_udp_harmed},
            Kind{"sim_packets", connect_sim_packets},
            Kind{"example", connect_example}};
}

}  // namespace lanyard::conformance
