// Which members of a team share a node, that is, its memory. Algorithms in two levels and the cost model use
// it. It is made once with the communicator (comm/create.cc), from facts that every member knows, and only
// read afterwards. A team on one node has none.
// Thread rule: any thread may read it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lanyard {

struct Nodes {
    std::vector<int32_t> node_of;  // by index in the team; nodes are numbered by their lowest members
    std::vector<int32_t> members;  // those of node 0, of node 1, ..., each ascending
    std::vector<int32_t> first;    // by node, and one more: where its members begin in `members`
    int most = 0, fewest = 0;      // members of a node
    int most_on_host = 0;          // more than `most` if processes of a host do not share memory
    bool runs = true;              // each node's members follow one another: the order by nodes is rank order

    int count() const { return static_cast<int>(first.size()) - 1; }
    std::span<const int32_t> of(int node) const {
        return std::span(members).subspan(first[node], first[node + 1] - first[node]);
    }
};

// `hosts`: a number for each member. If processes of a host do not share memory, each process is a node of
// its own. nullptr: one node.
std::shared_ptr<const Nodes> find_nodes(std::span<const uint32_t> hosts, bool memory_is_shared);

}  // namespace lanyard
