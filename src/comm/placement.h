// Which process takes which place of a virtual topology (MPI-5.0 8.4, `reorder`), so that neighbours are on
// one node where possible. Pure functions of the topology and of the nodes of the processes, so every process
// computes the same. A placement lists for each place (the rank in the new communicator) a process (its rank
// in the old one). It never has more edges between nodes than the order of the old communicator, and equals
// that order if nothing is gained. Any thread.
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

// The neighbours of each place of a topology. Edges have no direction.
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
    std::vector<size_t> first_;  // by place: where its ends begin
    std::vector<End> ends_;
};

// The weight of the edges between nodes if place i is on node_of_place[i].
int64_t cut(const Adjacency &adjacency, std::span<const int> node_of_place);

// `node_of_process`: by rank, arbitrary numbers, at least as many as there are places. The first processes
// take the places.
Placement place_grid(std::span<const int> dims, std::span<const int> periodic,
                     std::span<const int> node_of_process);
Placement place_graph(const Adjacency &adjacency, std::span<const int> node_of_process);

}  // namespace lanyard
