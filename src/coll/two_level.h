// Algorithms in two levels: a phase inside each node towards or from its leader, by messages through its memory, and a phase
// among leaders, by any algorithm for a team of its own. Of each node one rank uses the network, and each byte enters a node
// once. The leader of the root's node is the root, of others the lowest rank.
//
// They need nodes. Those that reduce keep rank order where nodes are runs of ranks and the algorithm among leaders does; the
// names are those of the algorithms among leaders. N: nodes; inside them P-N messages each way.
#pragma once

#include "coll/algorithms.h"

namespace lanyard::two_level {

using BarrierAmong = void (*)(const Members &, Schedule &);
using BcastAmong = void (*)(const BcastShape &, Schedule &);
using ReduceAmong = void (*)(const ReduceShape &, Schedule &);
using MoveAmong = void (*)(const MoveShape &, Schedule &);

// Up a tree in each node, among the leaders, and down again: 2(P-N) messages and theirs.
void barrier(const Members &, Schedule &, BarrierAmong leaders);
Work barrier_work(const Crew &, const Work &leaders);

void bcast(const BcastShape &, Schedule &, BcastAmong leaders);  // P-N messages of n bytes and theirs
Work bcast_work(const Crew &, int64_t bytes, const Work &leaders);

void reduce(const ReduceShape &, Schedule &, ReduceAmong leaders);  // P-N messages of n bytes and theirs
Work reduce_work(const Crew &, int64_t bytes, const Work &leaders);

void allreduce(const ReduceShape &, Schedule &, ReduceAmong leaders);  // 2(P-N) messages of n bytes and theirs
Work allreduce_work(const Crew &, int64_t bytes, const Work &leaders);

// Blocks of a node to its leader, all blocks of nodes among leaders, everything down a tree: 2(P-N) messages and theirs. Where
// blocks lie in the order of nodes without gaps they go where they belong, elsewhere through scratch memory. n: bytes of all blocks.
void allgather(const MoveShape &, Schedule &, MoveAmong leaders);
Work allgather_work(const Crew &, int64_t bytes, const Work &leaders);

// A node's blocks together: P-N messages of n bytes inside nodes, N-1 of what a node has. Even blocks.
void gather(const MoveShape &, Schedule &);
Work gather_work(const Crew &, int64_t bytes);
void scatter(const MoveShape &, Schedule &);
Work scatter_work(const Crew &, int64_t bytes);

// The ring of all ranks in the order of nodes, whatever their ranks. For operations that commute.
void allreduce_ring_by_node(const ReduceShape &, Schedule &);
Work allreduce_ring_by_node_work(const Crew &, int64_t bytes);

}  // namespace lanyard::two_level
