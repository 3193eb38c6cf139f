// Random is a small generator of random numbers (splitmix64). It produces the same sequence with every
// compiler and library, so a run whose seed was printed can be repeated anywhere. It is used by the simulated
// networks (net/sim, path/sim), by HarmedPackets (net/harmed_packets.h), and by the tests that print seeds.
// Tested by: tests/unit/net/packet_network_test.cc.
#pragma once

#include <cstdint>

namespace lanyard::sim {

class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        uint64_t mixed = state_ += 0x9e3779b97f4a7c15u;
        mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
        return mixed ^ mixed >> 31;
    }
    // A number from 0 to limit - 1.
    uint64_t below(uint64_t limit) { return next() % limit; }
    // A number from `least` to `most`, both included.
    int64_t between(int64_t least, int64_t most) {
        return least + static_cast<int64_t>(below(static_cast<uint64_t>(most - least) + 1));
    }
    bool chance(int percent) { return below(100) < static_cast<uint64_t>(percent); }
    template <class List>
    auto &pick(List &list) {
        return list[below(list.size())];
    }

private:
    uint64_t state_;
};

}  // namespace lanyard::sim
