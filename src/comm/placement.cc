// See placement.h.
#include "comm/placement.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <unordered_map>

namespace lanyard {

namespace {

using Assignment = std::vector<int>;  // by place: the number of a node

// The nodes of the processes that take a place. The nodes are numbered in the order of their first process.
struct PlacedNodes {
    Assignment in_order;        // by process: its node
    std::vector<int> capacity;  // by node: the number of these processes on it

    PlacedNodes(std::span<const int> node_of_process, int places) {
        std::unordered_map<int, int> numbers;
        for (int process = 0; process < places; ++process) {
            int number =
                numbers
                    .emplace(node_of_process[static_cast<size_t>(process)], static_cast<int>(numbers.size()))
                    .first->second;
            in_order.push_back(number);
            if (number == static_cast<int>(capacity.size())) capacity.push_back(0);
            ++capacity[static_cast<size_t>(number)];
        }
    }
};

Placement identity(int places) {
    Placement placement(static_cast<size_t>(places));
    std::iota(placement.begin(), placement.end(), 0);
    return placement;
}

// Turns an assignment into a placement: the processes of a node take the places of this node in order.
Placement processes_at(const Assignment &assignment, const PlacedNodes &nodes) {
    std::vector<std::vector<int>> processes(nodes.capacity.size());
    for (size_t process = 0; process < nodes.in_order.size(); ++process)
        processes[static_cast<size_t>(nodes.in_order[process])].push_back(static_cast<int>(process));
    std::vector<size_t> next(processes.size(), 0);
    Placement placement;
    for (int node : assignment) {
        auto at = static_cast<size_t>(node);
        placement.push_back(processes[at][next[at]++]);
    }
    return placement;
}

// Keeps the best of several assignments, and the first among equally good ones.
class Best {
public:
    Best(const Adjacency &adjacency, Assignment first)
        : adjacency_(adjacency), assignment_(std::move(first)), cut_(cut(adjacency, assignment_)) {}
    void offer(Assignment other) {
        int64_t others = cut(adjacency_, other);
        if (others >= cut_) return;
        assignment_ = std::move(other);
        cut_ = others;
    }
    const Assignment &assignment() const { return assignment_; }

private:
    const Adjacency &adjacency_;
    Assignment assignment_;
    int64_t cut_;
};

// Assigns places to one node after another. The next place is always the one that has the most edge weight to
// places already on the node.
class Growth {
public:
    Growth(const Adjacency &adjacency, const PlacedNodes &nodes)
        : adjacency_(adjacency), assignment_(static_cast<size_t>(adjacency.places()), none) {
        for (int place = 0; place < adjacency.places(); ++place) {
            int64_t weight = 0;
            for (const Adjacency::End &end : adjacency.ends(place)) weight += end.weight;
            free_weight_.push_back(weight);
        }
        for (size_t node = 0; node < nodes.capacity.size(); ++node)
            fill(static_cast<int>(node), nodes.capacity[node]);
    }
    const Assignment &assignment() const { return assignment_; }

private:
    static constexpr int none = -1;
    struct Candidate {
        int64_t inside, free;  // edge weight to places on the node, and to places without a node
        int place;
        bool operator<(const Candidate &other) const {  // true: this candidate is worse
            if (inside != other.inside) return inside < other.inside;
            return free != other.free ? free > other.free : place > other.place;
        }
    };

    // Returns the first place for a node: the place without a node that has the least edge weight to other
    // places without a node.
    int seed() const {
        int best = none;
        for (int place = 0; place < adjacency_.places(); ++place) {
            auto at = static_cast<size_t>(place);
            if (assignment_[at] == none &&
                (best == none || free_weight_[at] < free_weight_[static_cast<size_t>(best)]))
                best = place;
        }
        return best;
    }

    void fill(int node, int capacity) {
        // May contain outdated entries of a place, but only behind the newer and better entry of that place.
        std::priority_queue<Candidate> candidates;
        std::unordered_map<int, int64_t> inside;
        for (int taken = 0; taken < capacity;) {
            if (candidates.empty()) candidates.push({0, 0, seed()});
            int place = candidates.top().place;
            candidates.pop();
            auto at = static_cast<size_t>(place);
            if (assignment_[at] != none) continue;
            assignment_[at] = node;
            ++taken;
            for (const Adjacency::End &end : adjacency_.ends(place)) {
                auto other = static_cast<size_t>(end.place);
                free_weight_[other] -= end.weight;
                if (assignment_[other] != none) continue;
                candidates.push({inside[end.place] += end.weight, free_weight_[other], end.place});
            }
        }
    }

    const Adjacency &adjacency_;
    Assignment assignment_;
    std::vector<int64_t> free_weight_;  // by place: its edge weight to places without a node
};

// Advances coordinates, the last one fastest. Returns false, with all coordinates 0, after the last
// combination.
bool step(std::vector<int> &coordinates, std::span<const int> limits) {
    for (size_t d = limits.size(); d-- > 0;) {
        if (++coordinates[d] < limits[d]) return true;
        coordinates[d] = 0;
    }
    return false;
}

// Visits the places of a grid block by block. The blocks, and the places in each block, are visited in
// row-major order. Assigns the places in this order to one node after another.
Assignment in_blocks(std::span<const int> dims, const std::vector<int> &block, const PlacedNodes &nodes) {
    size_t n = dims.size();
    std::vector<int> blocks(n), which(n, 0), inside(n, 0);
    for (size_t d = 0; d < n; ++d) blocks[d] = dims[d] / block[d];
    Assignment assignment(nodes.in_order.size());
    size_t node = 0;
    int left = nodes.capacity[0];
    do {
        do {
            size_t place = 0;
            for (size_t d = 0; d < n; ++d)
                place = place * static_cast<size_t>(dims[d]) +
                        static_cast<size_t>(which[d] * block[d] + inside[d]);
            if (left == 0) left = nodes.capacity[++node];
            assignment[place] = static_cast<int>(node);
            --left;
        } while (step(inside, block));
    } while (step(which, blocks));
    return assignment;
}

// Offers one assignment for each shape of block that divides the grid evenly and fits on the largest node.
void offer_blocks(Best &best, std::span<const int> dims, const PlacedNodes &nodes) {
    int most = *std::max_element(nodes.capacity.begin(), nodes.capacity.end());
    std::vector<int> block(dims.size(), 1);
    auto choose = [&](auto &self, size_t d, int64_t volume) -> void {
        if (d == dims.size()) return best.offer(in_blocks(dims, block, nodes));
        for (int length = 1; length <= dims[d] && volume * length <= most; ++length) {
            if (dims[d] % length) continue;
            block[d] = length;
            self(self, d + 1, volume * length);
        }
    };
    choose(choose, 0, 1);
}

}  // namespace

Adjacency::Adjacency(int places, std::span<const WeightedEdge> edges)
    : first_(static_cast<size_t>(places) + 1, 0) {
    for (const WeightedEdge &edge : edges) {
        if (edge.from == edge.to) continue;
        ++first_[static_cast<size_t>(edge.from) + 1];
        ++first_[static_cast<size_t>(edge.to) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    ends_.resize(first_.back());
    std::vector<size_t> next(first_.begin(), first_.end() - 1);
    for (const WeightedEdge &edge : edges) {
        if (edge.from == edge.to) continue;
        ends_[next[static_cast<size_t>(edge.from)]++] = {edge.to, edge.weight};
        ends_[next[static_cast<size_t>(edge.to)]++] = {edge.from, edge.weight};
    }
}

std::span<const Adjacency::End> Adjacency::ends(int place) const {
    auto at = static_cast<size_t>(place);
    return {ends_.data() + first_[at], first_[at + 1] - first_[at]};
}

Adjacency Adjacency::of_grid(std::span<const int> dims, std::span<const int> periodic) {
    std::vector<WeightedEdge> edges;
    int places = 1;
    for (int dim : dims) places *= dim;
    int stride = places;
    for (size_t d = 0; d < dims.size(); ++d) {
        int line = stride;  // number of places in one line along this dimension
        stride /= dims[d];
        for (int place = 0; place < places; ++place) {
            int coordinate = place % line / stride;
            if (coordinate + 1 < dims[d]) edges.push_back({place, place + stride});
            else if (periodic[d]) edges.push_back({place, place - coordinate * stride});
        }
    }
    return Adjacency(places, edges);
}

int64_t cut(const Adjacency &adjacency, std::span<const int> node_of_place) {
    int64_t twice = 0;
    for (int place = 0; place < adjacency.places(); ++place)
        for (const Adjacency::End &end : adjacency.ends(place))
            if (node_of_place[static_cast<size_t>(place)] != node_of_place[static_cast<size_t>(end.place)])
                twice += end.weight;
    return twice / 2;
}

Placement place_grid(std::span<const int> dims, std::span<const int> periodic,
                     std::span<const int> node_of_process) {
    int places = 1;
    for (int dim : dims) places *= dim;
    PlacedNodes nodes(node_of_process, places);
    if (nodes.capacity.size() == 1) return identity(places);
    Adjacency adjacency = Adjacency::of_grid(dims, periodic);
    Best best(adjacency, nodes.in_order);
    offer_blocks(best, dims, nodes);
    best.offer(Growth(adjacency, nodes).assignment());
    return processes_at(best.assignment(), nodes);
}

Placement place_graph(const Adjacency &adjacency, std::span<const int> node_of_process) {
    PlacedNodes nodes(node_of_process, adjacency.places());
    if (nodes.capacity.size() <= 1) return identity(adjacency.places());
    Best best(adjacency, nodes.in_order);
    best.offer(Growth(adjacency, nodes).assignment());
    return processes_at(best.assignment(), nodes);
}

}  // namespace lanyard
