// Virtual topologies (MPI-5.0 chapter 8): what a communicator knows of who its neighbours are, and the communicators made
// with one. A topology never changes; a duplicate of the communicator shares it. Reading: any thread. The constructors are
// collective and block; called by the API without the engine.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "coll/neighbors.h"
#include "comm/comm.h"

namespace lanyard {

// Cartesian. Ranks are row-major: the last dimension varies fastest.
struct Grid {
    std::vector<int> dims, periodic;

    int size() const;
    std::vector<int> coords_of(int rank) const;
    // Periodic dimensions wrap around; elsewhere a coordinate outside gives MPI_PROC_NULL.
    int rank_at(const std::vector<int> &coords) const;
    // The rank at `distance` from these coordinates along a dimension.
    int shifted(std::vector<int> coords, size_t dimension, int64_t distance) const;
};

// Every rank knows all edges: those of rank r are edges[index[r - 1]] to edges[index[r] - 1].
struct Graph {
    std::vector<int> index, edges;

    std::vector<int> neighbors_of(int rank) const;
    // Whether any two ranks name each other equally often, which neighbourhood collectives need.
    bool symmetric() const;
};

// Every rank knows its own edges; parallel lists. Without weights these are empty.
struct DistributedGraph {
    std::vector<int> sources, source_weights, destinations, destination_weights;
    bool weighted = false;
};

struct Topology {
    std::variant<Grid, Graph, DistributedGraph> form;
    Neighborhood neighborhood;           // of this process
    bool allows_neighbor_calls = true;   // else a graph that is not symmetric

    const Grid *grid() const { return std::get_if<Grid>(&form); }
    const Graph *graph() const { return std::get_if<Graph>(&form); }
    const DistributedGraph *distributed() const { return std::get_if<DistributedGraph>(&form); }
};

// What the topology of a communicator made out of one of `size` ranks must fulfil.
Error check_grid(const Grid &grid, int size);
// Checks and copies the arrays, as the one says how long the other is.
Error read_graph(int nodes, const int *index, const int *edges, int size, Graph &graph);

// The rank that this process would get, or MPI_UNDEFINED where it would be left out.
int rank_in_grid(const Comm &parent, const Grid &grid);
int rank_in_graph(const Comm &parent, const Graph &graph);

// The arguments have been checked. `made` is nullptr at processes that are left out. With `reorder` the ranks are given such that
// neighbours are on one node where that can be (placement.h).
Error create_grid(Comm &parent, const Grid &grid, bool reorder, Comm *&made);
Error create_graph(Comm &parent, const Graph &graph, bool reorder, Comm *&made);
// `own`: the edges of this process's rank in the parent; with `reorder` another process may get that rank.
Error create_distributed(Comm &parent, CollectiveKind kind, DistributedGraph own, const Info *hints, bool reorder, Comm *&made);
// The communicators of the parts of a grid in which only the dimensions with a true `remain` vary.
Error split_grid(Comm &comm, const int *remain, Comm *&made);

// Edges that any process may name.
struct NamedEdge {
    int source, destination, weight;
};
// Tells every process of the edges that begin or end at its rank, whoever named them. Edges between the same two ranks are in one
// order at both. `refused`: what is wrong with the arguments here; then, and when some processes give weights and others do not,
// the call fails at all.
Error exchange_edges(Comm &parent, CollectiveKind kind, const std::vector<NamedEdge> &named, bool weighted, Error refused, DistributedGraph &own);

}  // namespace lanyard
