// Algorithms in two levels: a phase inside each node towards or from its leader, by messages through its
// memory, and a phase among the leaders, by any algorithm for one level. One rank of each node uses the
// network, and each byte enters a node once. In the root's node the root is the leader, in the others the
// lowest rank.
//
// They require Members::nodes. Those that reduce keep rank order if nodes are runs of ranks and the algorithm
// among the leaders keeps it. The names are those of the algorithms among the leaders. N: nodes; inside them
// P-N messages in each direction.
// Thread rule: pure functions; one thread at a time for each schedule.
#pragma once

#include "coll/algorithms.h"

namespace lanyard::two_level {

using BarrierAmong = void (*)(const Members &, Schedule &);
using BcastAmong = void (*)(const BcastShape &, Schedule &);
using ReduceAmong = void (*)(const ReduceShape &, Schedule &);
using MoveAmong = void (*)(const MoveShape &, Schedule &);

// Up a tree in each node, among the leaders, and down again: 2(P-N) messages and those of the leaders.
void barrier(const Members &, Schedule &, BarrierAmong leaders);
Work barrier_work(const Crew &, const Work &leaders);

void bcast(const BcastShape &, Schedule &, BcastAmong leaders);  // P-N messages of n bytes and the leaders'
Work bcast_work(const Crew &, int64_t bytes, const Work &leaders);

// P-N messages of n bytes and the leaders'.
void reduce(const ReduceShape &, Schedule &, ReduceAmong leaders);
Work reduce_work(const Crew &, int64_t bytes, const Work &leaders);

void allreduce(const ReduceShape &, Schedule &, ReduceAmong leaders);  // 2(P-N) of n bytes and the leaders'
Work allreduce_work(const Crew &, int64_t bytes, const Work &leaders);

// The blocks of a node go to its leader, all blocks of nodes go among the leaders, everything goes down a
// tree: 2(P-N) messages and those of the leaders. If blocks lie in the order of nodes without gaps, they are
// received in their place, otherwise through scratch memory. n: bytes of all blocks.
void allgather(const MoveShape &, Schedule &, MoveAmong leaders);
Work allgather_work(const Crew &, int64_t bytes, const Work &leaders);

// A node's blocks travel together: P-N messages of n bytes inside nodes, N-1 messages with the blocks of a
// node. Even blocks.
void gather(const MoveShape &, Schedule &);
Work gather_work(const Crew &, int64_t bytes);
void scatter(const MoveShape &, Schedule &);
Work scatter_work(const Crew &, int64_t bytes);

// A ring of all ranks in the order of nodes, whatever their numbers. For operations that commute.
void allreduce_ring_by_node(const ReduceShape &, Schedule &);
Work allreduce_ring_by_node_work(const Crew &, int64_t bytes);

}  // namespace lanyard::two_level
