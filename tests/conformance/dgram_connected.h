// Connects datagram paths of several simulated processes in one real process: over the kernel's UDP on
// loopback, with or without injected packet faults, or over a simulated network.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "conformance/connected.h"
#include "net/harmed_packets.h"
#include "net/sim/packet_network.h"
#include "net/udp_packets.h"
#include "path/dgram/dgram_path.h"
#include "sim/known_secret.h"

namespace lanyard::conformance {

class DgramConnected : public Connected {
public:
    bool kill(uint32_t peer) override {
        dgrams_[peer]->close();
        return true;
    }

protected:
    DgramConnected() { repeats_bulk = true; }

    void connect(const std::vector<PacketIo *> &endpoints, uint64_t peer_timeout_ns) {
        DgramLimits limits;
        limits.flow.peer_timeout_ns = peer_timeout_ns;
        for (PacketIo *endpoint : endpoints) names_.push_back(endpoint->name());
        auto count = static_cast<uint32_t>(endpoints.size());
        processes_.emplace(count);
        for (uint32_t own = 0; own < count; ++own) {
            auto find = [this](uint32_t peer, std::string &name) {
                name = names_[peer];
                return Error();
            };
            ProcessName name{0, own};
            dgrams_.push_back(std::make_unique<DgramPath>(*endpoints[own], name, *processes_, 1 + own,
                                                          Crc32c::built_in(), limits, find));
            dgrams_.back()->set_secret(sim::known_secret());
            paths.push_back(dgrams_.back().get());
        }
    }

private:
    std::vector<std::string> names_;
    std::optional<Processes> processes_;
    std::vector<std::unique_ptr<DgramPath>> dgrams_;
};

// Uses endpoints that `open` creates. `harm` describes the faults to inject, if any.
class PacketsConnected : public DgramConnected {
public:
    PacketsConnected(uint32_t peers, const Harm &harm, std::unique_ptr<PacketIo> (*open)()) {
        std::vector<PacketIo *> all;
        for (uint32_t peer = 0; peer < peers; ++peer) {
            Harm own = harm;
            own.seed += peer;
            std::unique_ptr<PacketIo> packets = open();
            endpoints_.push_back(harm.any() ? std::make_unique<HarmedPackets>(std::move(packets), own)
                                            : std::move(packets));
            all.push_back(endpoints_.back().get());
        }
        connect(all, peer_timeout_ns);
    }

private:
    // This time-out is longer than any time for which the suite does not poll a peer. It is shorter than the
    // time after which the suite fails.
    static constexpr uint64_t peer_timeout_ns = 5'000'000'000;

    std::vector<std::unique_ptr<PacketIo>> endpoints_;
};

inline std::unique_ptr<PacketIo> open_udp_packets() {
    Address loopback;
    parse_address("127.0.0.1", loopback);
    auto udp = std::make_unique<UdpPackets>();
    LANYARD_MUST(!udp->open({loopback}, 0, 0));
    return udp;
}

// Uses a simulated network whose properties follow from the seed. Its time advances with every
// poll.
class SimPacketsConnected final : public DgramConnected {
public:
    SimPacketsConnected(uint32_t peers, uint64_t seed) : network_(seed, any(seed), peers) {
        std::vector<PacketIo *> all;
        for (uint32_t peer = 0; peer < peers; ++peer) all.push_back(&network_.host(peer));
        connect(all, 50'000'000'000);
    }
    uint64_t now_ns() override {
        network_.advance(network_.now_ns() + step_ns);
        return network_.now_ns();
    }

private:
    static constexpr uint64_t step_ns = 10'000;

    // Draws a network that is fast enough for the time limits of the suite.
    static sim::PacketBehaviour any(uint64_t seed) {
        sim::Random random(seed);
        sim::PacketBehaviour any = sim::PacketBehaviour::any(random);
        any.bytes_per_s = std::max<uint64_t>(any.bytes_per_s, 200'000'000);
        any.delay_ns = std::min<uint64_t>(any.delay_ns, 100'000);
        any.lost_ppm = std::min<uint32_t>(any.lost_ppm, 20'000);
        any.port_queue = any.card_queue = 200'000;
        return any;
    }

    sim::PacketNetwork network_;
};

}  // namespace lanyard::conformance
