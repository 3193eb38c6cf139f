// Defines placements of a simulated team's ranks on hosts, for tests: all on one node, each on its own node,
// in runs of consecutive ranks, dealt to the nodes in turns, and with uneven numbers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coll/nodes.h"

namespace lanyard::testing {

struct Placement {
    std::string name;
    std::vector<uint32_t> hosts;  // the host of each rank
    std::shared_ptr<const Nodes> nodes() const { return find_nodes(hosts, true); }
};

inline std::vector<Placement> placements(int size) {
    std::vector<Placement> all;
    auto add = [&](std::string name, auto host_of) {
        all.push_back({std::move(name), {}});
        for (int i = 0; i < size; ++i) all.back().hosts.push_back(static_cast<uint32_t>(host_of(i)));
    };
    add("one node", [](int) { return 7; });
    add("each alone", [](int i) { return i; });
    add("runs of 2", [](int i) { return i / 2; });
    add("runs of 4", [](int i) { return i / 4; });
    add("runs of 3, last first", [](int i) { return 100 - i / 3; });
    add("in turns on 2", [](int i) { return i % 2; });
    add("in turns on 5", [](int i) { return i % 5; });
    add("one full, others alone", [&](int i) { return i < size / 2 ? 0 : i; });
    add("uneven runs", [](int i) { return i < 1 ? 0 : i < 6 ? 1 : i < 8 ? 2 : 3; });
    add("mixed", [](int i) { return (i * 7 + i / 3) % 4; });
    return all;
}

}  // namespace lanyard::testing
