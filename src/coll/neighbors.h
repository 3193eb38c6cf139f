// Neighbourhood collectives (MPI-5.0 section 8.6): each rank exchanges blocks with the neighbours that a topology names.
// Block i of what is sent goes to destination i, block i of what is received comes from source i. The messages are the
// edges of the topology, so there is one algorithm: all edges at once. The engine must be owned; otherwise as collectives.h.
#pragma once

#include <vector>

#include "base/abi_constants.h"
#include "coll/algorithms.h"
#include "coll/collectives.h"

namespace lanyard {

// One edge as one of its ends sees it.
struct Neighbor {
    int rank = abi::proc_null;  // at the other end; proc_null: there is nobody, and nothing moves
    int number = 0;             // tells apart the edges from one rank to another; both ends give the same
};

// The edges that end and those that begin at a rank, in the order of the blocks.
struct Neighborhood {
    std::vector<Neighbor> sources, destinations;
};

// Of a graph: the k-th time that a names b as a destination and the k-th time that b names a as a source are one edge.
Neighborhood graph_neighborhood(const std::vector<int> &sources, const std::vector<int> &destinations);
// Of a grid: by dimension, the rank before and the rank after, both source and destination. What goes to the one after comes
// there from the one before, which matters where both are the same rank.
Neighborhood grid_neighborhood(const std::vector<int> &before_and_after);

struct NeighborShape : Members {
    const Neighborhood *neighbors = nullptr;
    Division sent;             // one_for_all: block(0) goes to all
    bool one_for_all = false;
    Division received;
};

// As many messages as edges between different ranks; none waits for another.
void neighbors_direct(const NeighborShape &, Schedule &);

void plan_neighbor_allgather(Executor &, Team &, Plan &, const Neighborhood &, const Buffer &own, const Even &all);
void plan_neighbor_allgatherv(Executor &, Team &, Plan &, const Neighborhood &, const Buffer &own, const Uneven &all);
void plan_neighbor_alltoall(Executor &, Team &, Plan &, const Neighborhood &, const Even &sent, const Even &received);
void plan_neighbor_alltoallv(Executor &, Team &, Plan &, const Neighborhood &, const Uneven &sent, const Uneven &received);
void plan_neighbor_alltoallw(Executor &, Team &, Plan &, const Neighborhood &, const Typed &sent, const Typed &received);

}  // namespace lanyard
