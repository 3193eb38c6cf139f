// A Nodes object states which members of a team are on the same node, that is, can share memory. Algorithms
// in two levels and the cost model use this object. The object is made once, with the communicator
// (comm/create.cc), from facts that every member has, and is only read afterwards. A team whose members are
// all on one node has no such object.
// Thread rule: any thread may read it.
// Tested by: tests/unit/coll/two_level_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lanyard {

struct Nodes {
    // The node of each member, by its index in the team; nodes are numbered in the order of their lowest
    // members.
    std::vector<int32_t> node_of;
    // The members of node 0, then those of node 1, ..., ascending within a node.
    std::vector<int32_t> members;
    std::vector<int32_t> first;  // by node: where its members begin in `members`; one more entry for the end
    int most = 0, fewest = 0;    // members of the largest and of the smallest node
    // The number of members on the host that has the most. It differs from `most` if processes of a host do
    // not share memory.
    int most_on_host = 0;
    bool runs = true;  // `members` is in rank order, so that each node's members have consecutive ranks

    int count() const { return static_cast<int>(first.size()) - 1; }
    std::span<const int32_t> of(int node) const {
        return std::span(members).subspan(first[node], first[node + 1] - first[node]);
    }
};

// `hosts`: for each member, the number of its host. If processes of a host do not share memory, each process
// counts as a node of its own. Returns nullptr if all members are on one node.
std::shared_ptr<const Nodes> find_nodes(std::span<const uint32_t> hosts, bool memory_is_shared);

}  // namespace lanyard
