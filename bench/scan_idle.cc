// Prints the cost of one poll of the shared-memory path while 64 peers have opened rings and send nothing:
//
//     scan-idle [PEERS] [--json]
//
// The figure is the median of many short runs, so that other load on the machine matters little.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "conformance/shm_connected.h"

using namespace lanyard;

namespace {

class CountingSink final : public Sink {
public:
    int envelopes = 0;
    void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override { ++envelopes; }
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override {}
    void sent(uint64_t) override {}
    void lost(uint32_t, Error) override {}
};

}  // namespace

int main(int argc, char **argv) {
    bool json = argc > 1 && std::strcmp(argv[argc - 1], "--json") == 0;
    if (json) --argc;
    long peers = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 64;
    if (peers < 1 || peers > 500) {
        std::fprintf(stderr, "scan-idle: PEERS is a number from 1 to 500, not \"%s\"\n", argv[1]);
        return 2;
    }
    conformance::ShmConnected node(static_cast<uint32_t>(peers) + 1, false);
    CountingSink sink;
    for (uint32_t peer = 1; peer <= peers; ++peer)
        if (node.paths[peer]->send(0, Envelope{}, {}) != Sent::done) return 1;
    Path &path = *node.paths[0];
    while (sink.envelopes < peers) path.poll(sink, 64, 0);

    constexpr int runs = 2000, polls = 200;
    std::vector<double> per_poll_ns;
    for (int run = 0; run < runs; ++run) {
        uint64_t before = clock_ns();
        for (int i = 0; i < polls; ++i) path.poll(sink, 64, 0);
        per_poll_ns.push_back(static_cast<double>(clock_ns() - before) / polls);
    }
    std::sort(per_poll_ns.begin(), per_poll_ns.end());
    if (json) {
        std::printf(
            "{\"results\": [{\"name\": \"poll with %ld idle peers\", \"median\": %.1f, \"unit\": \"ns\"}]}\n",
            peers, per_poll_ns[runs / 2]);
        return 0;
    }
    std::printf("%ld idle peers: %.1f ns a poll (median of %d; least %.1f)\n", peers, per_poll_ns[runs / 2],
                runs, per_poll_ns[0]);
    return 0;
}
