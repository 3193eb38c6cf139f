// Neighbourhood collectives (MPI-5.0 section 8.6): each rank exchanges blocks with the neighbours that a
// topology names. Block i of the sent data goes to destination i, block i of the received data comes from
// source i. The messages are the edges of the topology, so there is one algorithm: all edges at once.
// Contracts are those of collectives.h.
// Thread rule: the owner of the engine.
#pragma once

#include <vector>

#include "base/abi_constants.h"
#include "coll/algorithms.h"
#include "coll/collectives.h"

namespace lanyard {

// One edge as one of its ends sees it.
struct Neighbor {
    int rank = abi::proc_null;  // at the other end; proc_null: there is none, and nothing moves
    int number = 0;             // distinguishes edges from one rank to another; the same at both ends
};

// The edges that end at a rank and those that begin there, in the order of the blocks.
struct Neighborhood {
    std::vector<Neighbor> sources, destinations;
};

// For a graph. The k-th time that a names b as a destination and the k-th time that b names a as a source are
// one edge.
Neighborhood graph_neighborhood(const std::vector<int> &sources, const std::vector<int> &destinations);
// For a grid: by dimension, the rank before and the rank after, each both source and destination. What goes
// to the rank after arrives there from the rank before. This matters if both are the same rank.
Neighborhood grid_neighborhood(const std::vector<int> &before_and_after);

struct NeighborShape : Members {
    const Neighborhood *neighbors = nullptr;
    Division sent;  // if one_for_all, block(0) goes to all destinations
    bool one_for_all = false;
    Division received;
};

// One message for each edge between different ranks; none waits for another.
void neighbors_direct(const NeighborShape &, Schedule &);

void plan_neighbor_allgather(Executor &, Team &, Plan &, const Neighborhood &, const Buffer &own,
                             const Even &all);
void plan_neighbor_allgatherv(Executor &, Team &, Plan &, const Neighborhood &, const Buffer &own,
                              const Uneven &all);
void plan_neighbor_alltoall(Executor &, Team &, Plan &, const Neighborhood &, const Even &sent,
                            const Even &received);
void plan_neighbor_alltoallv(Executor &, Team &, Plan &, const Neighborhood &, const Uneven &sent,
                             const Uneven &received);
void plan_neighbor_alltoallw(Executor &, Team &, Plan &, const Neighborhood &, const Typed &sent,
                             const Typed &received);

}  // namespace lanyard
