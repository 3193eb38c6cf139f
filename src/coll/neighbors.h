// Neighbourhood collectives (MPI-5.0 section 8.6): each rank exchanges blocks with the neighbours that a
// topology names. Block i of the sent data goes to destination i, and block i of the received data arrives
// from source i. One message is needed for each edge of the topology, so there is only one algorithm, which
// starts all messages at once. The rules for arguments and lifetimes are those of collectives.h.
// Thread rule: the owner of the engine.
#pragma once

#include <vector>

#include "base/abi_constants.h"
#include "coll/algorithms.h"
#include "coll/collectives.h"

namespace lanyard {

// An edge of the topology, as seen from one of its two ends.
struct Neighbor {
    int rank = abi::proc_null;  // the rank at the other end; proc_null: no such rank, and no data moves
    int number = 0;             // distinguishes several edges from one rank to another; the same at both ends
};

// The edges that end at a rank and those that begin there, in the order of the blocks.
struct Neighborhood {
    std::vector<Neighbor> sources, destinations;
};

// The neighbourhood of a rank in a graph. If rank a names rank b as a destination several times, the k-th of
// these entries and the k-th entry in which b names a as a source are the same edge.
Neighborhood graph_neighborhood(const std::vector<int> &sources, const std::vector<int> &destinations);
// The neighbourhood of a rank in a grid. The argument has two ranks for each dimension, the one before this
// rank and the one after it. Each of them is both a source and a destination. A block sent to the rank after
// this one arrives there as the block from the rank before, even if both neighbours of a dimension are the
// same rank.
Neighborhood grid_neighborhood(const std::vector<int> &before_and_after);

struct NeighborShape : Members {
    const Neighborhood *neighbors = nullptr;
    Division sent;  // if one_for_all, block(0) goes to all destinations
    bool one_for_all = false;
    Division received;
};

// Appends one message for each edge between different ranks, and a copy for an edge to this rank itself. The
// messages do not wait for each other, except if two ranks share more edges than there are labels.
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
