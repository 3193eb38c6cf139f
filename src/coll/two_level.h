// Declares algorithms in two levels. Inside each node, data moves to or from the node's leader by messages
// through shared memory. Among the leaders, data moves by any algorithm of algorithms.h. Only one rank of
// each node uses the network, and each byte enters a node once. The leader of a node is its lowest rank,
// except in the root's node, where it is the root. Only allreduce_ring_by_node() has no leaders.
//
// All of these algorithms require Members::nodes. Reductions keep rank order if each node has consecutive
// ranks and the algorithm among the leaders keeps rank order. What follows "two_level_" in a name in
// select.cc is the algorithm among the leaders, or its radix. N is the number of nodes; P and n are explained
// in algorithms.h. Inside the nodes P-N messages travel in each direction.
// Thread rule: pure functions; one thread at a time for each schedule.
#pragma once

#include "coll/algorithms.h"

namespace lanyard::two_level {

using BarrierAmong = void (*)(const Members &, Schedule &);
using BcastAmong = void (*)(const BcastShape &, Schedule &);
using ReduceAmong = void (*)(const ReduceShape &, Schedule &);
using MoveAmong = void (*)(const MoveShape &, Schedule &);

// Signals go up a tree in each node, then among the leaders, then down the trees: 2(P-N) messages and the
// leaders' messages.
void barrier(const Members &, Schedule &, BarrierAmong leaders);
Work barrier_work(const Crew &, const Work &leaders);

// P-N messages of n bytes, and the leaders' messages.
void bcast(const BcastShape &, Schedule &, BcastAmong leaders);
Work bcast_work(const Crew &, int64_t bytes, const Work &leaders);

// P-N messages of n bytes, and the leaders' messages.
void reduce(const ReduceShape &, Schedule &, ReduceAmong leaders);
Work reduce_work(const Crew &, int64_t bytes, const Work &leaders);

// 2(P-N) messages of n bytes, and the leaders' messages.
void allreduce(const ReduceShape &, Schedule &, ReduceAmong leaders);
Work allreduce_work(const Crew &, int64_t bytes, const Work &leaders);

// The blocks of a node go to its leader, the leaders exchange the blocks of their nodes, and all blocks go
// down a tree in each node: 2(P-N) messages and the leaders' messages. If the result buffer has the blocks in
// the order of nodes, without gaps, the blocks are received in place. Otherwise they pass through scratch
// memory. n: bytes of all blocks.
void allgather(const MoveShape &, Schedule &, MoveAmong leaders);
Work allgather_work(const Crew &, int64_t bytes, const Work &leaders);

// The blocks of a node travel to or from the root in one message: P-N messages of n bytes inside the nodes,
// and N-1 messages with the blocks of one node each. Even blocks only.
void gather(const MoveShape &, Schedule &);
Work gather_work(const Crew &, int64_t bytes);
void scatter(const MoveShape &, Schedule &);
Work scatter_work(const Crew &, int64_t bytes);

// allreduce_ring() of all ranks, with the ring in the order of nodes instead of rank order. For operations
// that commute.
void allreduce_ring_by_node(const ReduceShape &, Schedule &);
Work allreduce_ring_by_node_work(const Crew &, int64_t bytes);

}  // namespace lanyard::two_level
