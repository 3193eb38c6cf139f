// Defines virtual topologies (MPI-5.0 chapter 8), that is, what a communicator stores about neighbours, and
// the functions that create communicators with a topology. A topology never changes, and a duplicate of the
// communicator shares it. Any thread may read. The functions that create communicators are collective and
// block, and the calling thread must not own the engine.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "coll/neighbors.h"
#include "comm/comm.h"

namespace lanyard {

// A Cartesian topology. Ranks are in row-major order: the last dimension varies fastest.
struct Grid {
    std::vector<int> dims, periodic;

    int size() const;
    std::vector<int> coords_of(int rank) const;
    // The rank at these coordinates. Periodic dimensions wrap around. In other dimensions, a coordinate
    // outside the grid yields MPI_PROC_NULL.
    int rank_at(const std::vector<int> &coords) const;
    // The rank at `distance` from these coordinates along a dimension.
    int shifted(std::vector<int> coords, size_t dimension, int64_t distance) const;
};

// A graph of which every rank stores all edges. The neighbours of rank r are edges[index[r - 1]] to
// edges[index[r] - 1]; those of rank 0 begin at edges[0].
struct Graph {
    std::vector<int> index, edges;

    std::vector<int> neighbors_of(int rank) const;
    // True if any two ranks name each other equally often, as neighbourhood collectives require.
    bool symmetric() const;
};

// A graph of which every rank stores only its own edges, in parallel lists. If the edges have no weights, the
// lists of weights are empty.
struct DistributedGraph {
    std::vector<int> sources, source_weights, destinations, destination_weights;
    bool weighted = false;
};

struct Topology {
    std::variant<Grid, Graph, DistributedGraph> form;
    Neighborhood neighborhood;          // the neighbours of this process
    bool allows_neighbor_calls = true;  // false for a graph that is not symmetric

    const Grid *grid() const { return std::get_if<Grid>(&form); }
    const Graph *graph() const { return std::get_if<Graph>(&form); }
    const DistributedGraph *distributed() const { return std::get_if<DistributedGraph>(&form); }
};

// Checks a grid for a communicator that is to be created from one with `size` ranks.
Error check_grid(const Grid &grid, int size);
// Checks the arrays of a graph and copies them. `index` determines the length of `edges`.
Error read_graph(int nodes, const int *index, const int *edges, int size, Graph &graph);

// MPI_Cart_map and MPI_Graph_map: the rank that this process would have if a communicator with this topology
// were created with `reorder`. MPI_UNDEFINED: the process would be left out.
int rank_in_grid(const Comm &parent, const Grid &grid);
int rank_in_graph(const Comm &parent, const Graph &graph);

// The arguments must have been checked. `made` becomes nullptr at processes that are left out. With
// `reorder`, ranks are assigned so that neighbours are on one node where possible (placement.h).
Error create_grid(Comm &parent, const Grid &grid, bool reorder, Comm *&made);
Error create_graph(Comm &parent, const Graph &graph, bool reorder, Comm *&made);
// `own`: the edges of this process's rank in the parent. With `reorder`, another process may take that rank.
Error create_distributed(Comm &parent, CollectiveKind kind, DistributedGraph own, const Info *hints,
                         bool reorder, Comm *&made);
// Splits a grid into parts in which only the dimensions with a true `remain` vary.
Error split_grid(Comm &comm, const int *remain, Comm *&made);

// An edge that a process passes to MPI_Dist_graph_create; it need not begin or end at that process.
struct NamedEdge {
    int source, destination, weight;
};
// Gives every process the edges that begin or end at its rank, regardless of which process named them. If
// several edges lead from one rank to another, they have the same order at both ranks. `refused`: an error in
// the arguments of this process. If a process passes an error, the call fails at all processes. It also fails
// if some processes pass weights and others do not; a process that names no edges is then not counted, unless
// no process names any.
Error exchange_edges(Comm &parent, CollectiveKind kind, const std::vector<NamedEdge> &named, bool weighted,
                     Error refused, DistributedGraph &own);

}  // namespace lanyard
