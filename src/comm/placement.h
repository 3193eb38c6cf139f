// Decides which process takes which place of a virtual topology (MPI-5.0 8.4, `reorder`), so that neighbours
// are on one node where possible. The functions depend only on the topology and on the nodes of the
// processes, so every process computes the same result. A place is a rank in the new communicator. A
// placement has one entry for each place: the rank, in the old communicator, of the process that takes the
// place. Only some of all possible placements are tried. The result never has more edge weight between nodes
// than the order of the old communicator, and is that order if none of those tried is better. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lanyard {

using Placement = std::vector<int>;

struct WeightedEdge {
    int from = 0, to = 0;
    int64_t weight = 1;
};

// The neighbours of each place of a topology. Edges have no direction. An edge from a place to itself is left
// out.
class Adjacency {
public:
    struct End {
        int place;
        int64_t weight;
    };
    Adjacency(int places, std::span<const WeightedEdge> edges);
    static Adjacency of_grid(std::span<const int> dims, std::span<const int> periodic);

    int places() const { return static_cast<int>(first_.size()) - 1; }
    std::span<const End> ends(int place) const;

private:
    std::vector<size_t> first_;  // by place: where the place's entries in ends_ begin
    std::vector<End> ends_;
};

// The total weight of the edges that connect different nodes, if place i is on node_of_place[i].
int64_t cut(const Adjacency &adjacency, std::span<const int> node_of_place);

// `node_of_process[i]` identifies the node of the process with rank i. Any numbers will do, as long as equal
// numbers mean the same node. There are at least as many processes as places. If there are more, the first
// processes take the places.
Placement place_grid(std::span<const int> dims, std::span<const int> periodic,
                     std::span<const int> node_of_process);
Placement place_graph(const Adjacency &adjacency, std::span<const int> node_of_process);

}  // namespace lanyard
