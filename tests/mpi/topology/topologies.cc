// Tests virtual topologies: their creation, queries, duplicates and parts. The library may reorder the ranks,
// so the checks accept every order.
#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "comm/check.h"

namespace {

using List = std::vector<int>;

int *const unweighted = MPI_UNWEIGHTED;

int form_of(MPI_Comm comm) {
    int status = -1;
    check_equal(MPI_Topo_test(comm, &status), MPI_SUCCESS);
    return status;
}

// Returns the values of `mine` of all ranks, in the order of the ranks.
List all_of(MPI_Comm comm, int mine) {
    List all(static_cast<size_t>(size_of(comm)));
    MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    return all;
}

// Computes the rank at these coordinates from the standard's definition.
int rank_at(const List &dims, const List &coords) {
    int rank = 0;
    for (size_t d = 0; d < dims.size(); ++d) rank = rank * dims[d] + coords[d];
    return rank;
}

void check_grid(MPI_Comm comm, const List &dims, const List &periods) {
    check_equal(form_of(comm), MPI_CART);
    int ndims = -1, rank = rank_in(comm), n = static_cast<int>(dims.size());
    MPI_Cartdim_get(comm, &ndims);
    check_equal(ndims, n);
    List got(dims.size() + 1, -9), wraps(dims.size() + 1, -9), coords(dims.size() + 1, -9);
    MPI_Cart_get(comm, n + 1, got.data(), wraps.data(), coords.data());
    check_equal(got.back() + wraps.back() + coords.back(), -27);
    got.pop_back();
    wraps.pop_back();
    coords.pop_back();
    check(got == dims, "other dimensions");
    check(wraps == periods, "other periods");
    check_equal(rank_at(dims, coords), rank);
    for (int r = 0; r < size_of(comm); ++r) {
        List there(dims.size());
        int back = -1;
        MPI_Cart_coords(comm, r, n, there.data());
        check_equal(rank_at(dims, there), r);
        MPI_Cart_rank(comm, there.data(), &back);
        check_equal(back, r);
    }
    for (int d = 0; d < n; ++d)
        for (int disp : {-3, -1, 0, 1, 2, 7}) {
            int source = -1, dest = -1;
            check_equal(MPI_Cart_shift(comm, d, disp, &source, &dest), MPI_SUCCESS);
            for (int sign : {1, -1}) {
                List there = coords;
                auto at = static_cast<size_t>(d);
                int coord = coords[at] + sign * disp;
                bool outside = coord < 0 || coord >= dims[at];
                there[at] = ((coord % dims[at]) + dims[at]) % dims[at];
                check_equal(sign > 0 ? dest : source,
                            outside && !periods[at] ? MPI_PROC_NULL : rank_at(dims, there));
                if (!periods[at]) continue;
                int wrapped = -1;
                there[at] = coord;  // outside the range of a periodic dimension
                MPI_Cart_rank(comm, there.data(), &wrapped);
                check_equal(wrapped, sign > 0 ? dest : source);
            }
        }
    use(comm);
}

// Tests all parts of a grid (MPI_Cart_sub).
void parts(MPI_Comm comm, const List &dims, const List &periods) {
    for (unsigned which = 0; which < 1u << dims.size(); ++which) {
        List remain, left_dims, left_periods;
        for (size_t d = 0; d < dims.size(); ++d) {
            remain.push_back((which >> d & 1) != 0);
            if (!remain.back()) continue;
            left_dims.push_back(dims[d]);
            left_periods.push_back(periods[d]);
        }
        MPI_Comm part = MPI_COMM_NULL;
        check_equal(MPI_Cart_sub(comm, remain.data(), &part), MPI_SUCCESS);
        check_equal(size_of(part),
                    std::accumulate(left_dims.begin(), left_dims.end(), 1, std::multiplies<>()));
        check_grid(part, left_dims, left_periods);
        MPI_Comm_free(&part);
    }
}

void grid(const List &dims, const List &periods, int reorder) {
    int places = std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<>()),
        n = static_cast<int>(dims.size()), mapped = -9;
    MPI_Comm comm, copy, third;
    MPI_Request request;
    check_equal(MPI_Cart_map(MPI_COMM_WORLD, n, dims.data(), periods.data(), &mapped), MPI_SUCCESS);
    check_equal(MPI_Cart_create(MPI_COMM_WORLD, n, dims.data(), periods.data(), reorder, &comm), MPI_SUCCESS);
    int rank = comm == MPI_COMM_NULL ? MPI_UNDEFINED : rank_in(comm);
    if (reorder) check_equal(rank, mapped);
    else check_equal(rank, rank_in(MPI_COMM_WORLD) < places ? rank_in(MPI_COMM_WORLD) : MPI_UNDEFINED);
    List ranks = all_of(MPI_COMM_WORLD, rank);
    for (int r = 0; r < places; ++r) check_equal(std::count(ranks.begin(), ranks.end(), r), 1);
    if (comm == MPI_COMM_NULL) return;
    check_equal(size_of(comm), places);
    check_grid(comm, dims, periods);
    parts(comm, dims, periods);
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&comm);
    check_grid(copy, dims, periods);
    MPI_Comm_idup(copy, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &third);
    check_grid(comm, dims, periods);
    check_grid(third, dims, periods);
    MPI_Comm_free(&third);
    MPI_Comm_split(comm, 0, 0, &third);  // not a duplicate, so it has no topology
    check_equal(form_of(third), MPI_UNDEFINED);
    MPI_Comm_free(&third);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
}

void grids(int size) {
    for (int reorder : {0, 1}) {
        grid({}, {}, reorder);
        for (int periodic : {0, 1}) {
            grid({size}, {periodic}, reorder);
            grid({1, 1}, {periodic, 0}, reorder);
            if (size > 1) grid({size - 1, 1}, {periodic, 1}, reorder);
            if (size > 1) grid({2, size / 2}, {0, periodic}, reorder);
            if (size > 3) grid({1, 2, 2}, {periodic, 0, 1}, reorder);
        }
    }
    int dims[3] = {0, 0, 0};
    check_equal(MPI_Dims_create(size, 3, dims), MPI_SUCCESS);
    grid({dims[0], dims[1], dims[2]}, {0, 1, 0}, 1);
}

void dims() {
    int two[2] = {0, 0}, fixed[3] = {0, 2, 0};
    MPI_Dims_create(6, 2, two);
    check_equal(two[0] * 10 + two[1], 32);
    MPI_Dims_create(36, 3, fixed);
    check_equal(fixed[0] * 100 + fixed[1] * 10 + fixed[2], 623);
    check_equal(MPI_Dims_create(1, 0, nullptr), MPI_SUCCESS);
}

// ---- graphs
void check_graph(MPI_Comm comm, const List &index, const List &edges) {
    check_equal(form_of(comm), MPI_GRAPH);
    int nodes = -1, count = -1;
    MPI_Graphdims_get(comm, &nodes, &count);
    check_equal(static_cast<size_t>(nodes), index.size());
    check_equal(static_cast<size_t>(count), edges.size());
    List got_index(index.size()), got_edges(edges.size());
    MPI_Graph_get(comm, nodes, count, got_index.data(), got_edges.data());
    check(got_index == index && got_edges == edges, "another graph");
    for (int rank = 0; rank < nodes; ++rank) {
        auto at = static_cast<size_t>(rank);
        int first = rank ? index[at - 1] : 0, degree = -1;
        MPI_Graph_neighbors_count(comm, rank, &degree);
        check_equal(degree, index[at] - first);
        List neighbors(static_cast<size_t>(degree + 1), -9);
        MPI_Graph_neighbors(comm, rank, degree, neighbors.data());
        check_equal(neighbors.back(), -9);
        neighbors.pop_back();
        check(neighbors == List(edges.begin() + first, edges.begin() + index[at]), "other neighbours");
    }
    use(comm);
}

void graphs(int size) {
    for (int nodes = 0; nodes <= size; ++nodes)
        for (int reorder : {0, 1}) {
            List index, edges;
            // The neighbours of node i are node i itself and the i nodes that follow it.
            for (int node = 0; node < nodes; ++node) {
                for (int k = 0; k <= node; ++k) edges.push_back((node + k) % nodes);
                index.push_back(static_cast<int>(edges.size()));
            }
            MPI_Comm comm, copy;
            int mapped = -9;
            check_equal(MPI_Graph_map(MPI_COMM_WORLD, nodes, index.data(), edges.data(), &mapped),
                        MPI_SUCCESS);
            check_equal(MPI_Graph_create(MPI_COMM_WORLD, nodes, index.data(), edges.data(), reorder, &comm),
                        MPI_SUCCESS);
            int rank = comm == MPI_COMM_NULL ? MPI_UNDEFINED : rank_in(comm);
            if (reorder) check_equal(rank, mapped);
            List ranks = all_of(MPI_COMM_WORLD, rank);
            for (int r = 0; r < nodes; ++r) check_equal(std::count(ranks.begin(), ranks.end(), r), 1);
            if (comm == MPI_COMM_NULL) continue;
            check_graph(comm, index, edges);
            MPI_Comm_dup(comm, &copy);
            MPI_Comm_free(&comm);
            check_graph(copy, index, edges);
            MPI_Comm_free(&copy);
        }
}

// ---- distributed graphs
struct Edge {
    int source, destination, weight;
};
using Weights = std::multimap<int, int>;  // the key is the other rank

// Returns the edges that begin (if `begin`) or end at a rank, with their weights.
Weights of_rank(const std::vector<Edge> &edges, int rank, bool begin) {
    Weights weights;
    for (const Edge &edge : edges)
        if ((begin ? edge.source : edge.destination) == rank)
            weights.insert({begin ? edge.destination : edge.source, edge.weight});
    return weights;
}

void check_distributed(MPI_Comm comm, const std::vector<Edge> &edges, bool weighted) {
    check_equal(form_of(comm), MPI_DIST_GRAPH);
    int in = -1, out = -1, weighs = -1, rank = rank_in(comm);
    check_equal(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighs), MPI_SUCCESS);
    check_equal(weighs != 0, weighted);
    List sources(static_cast<size_t>(in) + 1, -9), destinations(static_cast<size_t>(out) + 1, -9),
        in_weights = sources, out_weights = destinations;
    MPI_Dist_graph_neighbors(comm, in, sources.data(), weighted ? in_weights.data() : unweighted, out,
                             destinations.data(), weighted ? out_weights.data() : unweighted);
    check_equal(sources.back() + destinations.back() + in_weights.back() + out_weights.back(), -36);
    for (bool begin : {false, true}) {
        const List &ranks = begin ? destinations : sources, &weights = begin ? out_weights : in_weights;
        Weights got, wanted = of_rank(edges, rank, begin);
        for (size_t i = 0; i + 1 < ranks.size(); ++i) got.insert({ranks[i], weighted ? weights[i] : 1});
        check_equal(got.size(), wanted.size());
        auto sorted = [](const Weights &list) {
            std::vector<std::pair<int, int>> all(list.begin(), list.end());
            std::sort(all.begin(), all.end());
            return all;
        };
        check(sorted(got) == sorted(wanted), begin ? "other destinations" : "other sources");
    }
    // If an array is too short for all neighbours, it must get the first ones.
    if (in > 0) {
        int first = -9, none = -9;
        MPI_Dist_graph_neighbors(comm, 1, &first, unweighted, 0, &none, unweighted);
        check_equal(first, sources[0]);
        check_equal(none, -9);
    }
    use(comm);
}

// Tests graphs with random edges, each of which is named by a random rank. All ranks draw the same edges.
void distributed(int size, unsigned seed, bool weighted, int reorder) {
    std::mt19937 random(seed);
    auto any = [&] { return static_cast<int>(random() % static_cast<unsigned>(size)); };
    std::vector<Edge> edges;
    List sources, degrees, destinations, weights;
    int own = rank_in(MPI_COMM_WORLD);
    for (int rank = 0; rank < size; ++rank)
        for (unsigned groups = random() % 4; groups > 0; --groups) {
            int source = any(), degree = static_cast<int>(random() % 4);
            if (rank == own) sources.push_back(source);
            if (rank == own) degrees.push_back(degree);
            for (int k = 0; k < degree; ++k) {
                edges.push_back({source, any(), weighted ? static_cast<int>(random() % 50) : 1});
                if (rank != own) continue;
                destinations.push_back(edges.back().destination);
                weights.push_back(edges.back().weight);
            }
        }
    const int *given = weighted ? weights.empty() ? MPI_WEIGHTS_EMPTY : weights.data() : unweighted;
    MPI_Comm comm, copy;
    check_equal(
        MPI_Dist_graph_create(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                              degrees.data(), destinations.data(), given, MPI_INFO_NULL, reorder, &comm),
        MPI_SUCCESS);
    if (!reorder) check_equal(rank_in(comm), own);
    check_distributed(comm, edges, weighted);
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&comm);
    check_distributed(copy, edges, weighted);
    MPI_Comm_free(&copy);

    // Creates the same graph again. This time each rank names its own edges.
    List in, in_weights, out, out_weights;
    for (auto [rank, weight] : of_rank(edges, own, false)) in.push_back(rank), in_weights.push_back(weight);
    for (auto [rank, weight] : of_rank(edges, own, true)) out.push_back(rank), out_weights.push_back(weight);
    auto or_empty = [&](const List &list) -> const int * {
        return !weighted ? unweighted : list.empty() ? MPI_WEIGHTS_EMPTY : list.data();
    };
    check_equal(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(in.size()), in.data(),
                                               or_empty(in_weights), static_cast<int>(out.size()), out.data(),
                                               or_empty(out_weights), MPI_INFO_NULL, reorder, &comm),
                MPI_SUCCESS);
    check_distributed(comm, edges, weighted);
    if (!reorder) {
        List got_in(in.size()), got_out(out.size());
        MPI_Dist_graph_neighbors(comm, static_cast<int>(in.size()), got_in.data(), unweighted,
                                 static_cast<int>(out.size()), got_out.data(), unweighted);
        check(got_in == in && got_out == out, "not in the order given");
    }
    MPI_Comm_free(&comm);
}

// ---- placement: has an effect only with ranks on several nodes (tests/lab/test_suite.py)
//
// Counts the edges between nodes, from the ranks of the communicator to the ranks that `neighbors` returns.
template <class Neighbors>
int cut(MPI_Comm comm, int node, Neighbors neighbors) {
    List nodes = all_of(comm, node);
    int edges = 0;
    for (int rank = 0; rank < size_of(comm); ++rank)
        for (int other : neighbors(rank))
            edges += nodes[static_cast<size_t>(rank)] != nodes[static_cast<size_t>(other)];
    return edges;
}

// If all nodes have even numbers of ranks, both ranks of each pair must be placed on one node. The partner of
// an even rank is the next rank. If `half`, the partner of a rank is the rank that is half of all ranks away.
void pairs(int size, int node, bool even, bool half) {
    auto partner = [&](int rank) { return half ? (rank + size / 2) % size : rank ^ 1; };
    auto partners = [&](int rank) { return List{partner(rank)}; };
    List index, edges;
    for (int rank = 0; rank < size; ++rank) {
        index.push_back(rank + 1);
        edges.push_back(partner(rank));
    }
    MPI_Comm made[3];
    int one = 1, self = rank_in(MPI_COMM_WORLD), own = partner(self);
    MPI_Graph_create(MPI_COMM_WORLD, size, index.data(), edges.data(), 1, &made[0]);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &own, &one, 1, &own, &one, MPI_INFO_NULL, 1, &made[1]);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &self, &one, &own, unweighted, MPI_INFO_NULL, 1, &made[2]);
    for (MPI_Comm &comm : made) {
        int between = cut(comm, node, partners), before = cut(MPI_COMM_WORLD, node, partners);
        check(between <= before,
              std::to_string(between) + " edges between nodes, before " + std::to_string(before));
        if (even) check_equal(between, 0);
        MPI_Comm_free(&comm);
    }
}

void placement(int size) {
    MPI_Comm shared, plain, placed;
    int node = rank_in(MPI_COMM_WORLD);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    MPI_Bcast(&node, 1, MPI_INT, 0, shared);
    List on_nodes = all_of(MPI_COMM_WORLD, size_of(shared));
    MPI_Comm_free(&shared);
    if (size % 2) return;
    bool even = std::all_of(on_nodes.begin(), on_nodes.end(), [](int ranks) { return ranks % 2 == 0; });
    for (bool half : {false, true}) pairs(size, node, even, half);
    int sides[2] = {2, size / 2}, periods[2] = {0, 0};
    auto right_and_below = [&](int rank) {
        List neighbors;
        if ((rank + 1) % sides[1]) neighbors.push_back(rank + 1);
        if (rank < sides[1]) neighbors.push_back(rank + sides[1]);
        return neighbors;
    };
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 0, &plain);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 1, &placed);
    check(cut(placed, node, right_and_below) <= cut(plain, node, right_and_below),
          "more edges between nodes than before");
    MPI_Comm_free(&plain);
    MPI_Comm_free(&placed);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int size = size_of(MPI_COMM_WORLD);
    check_equal(form_of(MPI_COMM_WORLD), MPI_UNDEFINED);
    dims();
    grids(size);
    graphs(size);
    for (unsigned seed = 1; seed <= 12; ++seed) distributed(size, seed, seed % 2, seed % 3 == 0);
    placement(size);
    MPI_Finalize();
}
