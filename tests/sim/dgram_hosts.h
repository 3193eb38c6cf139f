// Creates datagram paths (path/dgram/dgram_path.h) of several hosts on one simulated network, for tests that
// do not depend on the content of envelopes.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "net/sim/packet_network.h"
#include "path/dgram/dgram_path.h"
#include "sim/known_secret.h"

namespace lanyard::sim {

// Counts the envelopes that arrive, and notes what else the path reports.
struct Heard final : Sink {
    void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override { ++envelopes; }
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override {}
    void sent(uint64_t) override {}
    void lost(uint32_t, Error error) override { losses.push_back(error.take().sentence); }
    void trim_memory() override { ++trims; }

    int envelopes = 0, trims = 0;
    std::vector<std::string> losses;
};

struct DgramHosts {
    DgramHosts(uint64_t seed, const PacketBehaviour &behaviour, uint32_t count)
        : network(seed, behaviour, count), processes(count) {
        auto find = [](uint32_t peer, std::string &name) {
            name = std::to_string(peer);
            return Error();
        };
        for (uint32_t own = 0; own < count; ++own) {
            ProcessName name{0, own};
            paths.push_back(std::make_unique<DgramPath>(network.host(own), name, processes, 1 + own,
                                                        Crc32c::built_in(), DgramLimits(), find));
            paths.back()->set_secret(known_secret());
        }
        heard.resize(count);
    }
    void poll_all() {
        for (size_t own = 0; own < paths.size(); ++own) paths[own]->poll(heard[own], 64, network.now_ns());
    }
    void run_until(uint64_t ns, uint64_t step_ns = 250'000) {
        while (network.now_ns() < ns) {
            network.advance(network.now_ns() + step_ns);
            poll_all();
        }
    }

    PacketNetwork network;
    Processes processes;
    std::vector<std::unique_ptr<DgramPath>> paths;
    std::vector<Heard> heard;
};

}  // namespace lanyard::sim
