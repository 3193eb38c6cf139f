// Declares the algorithms of collectives. Each algorithm is a pure function that appends the steps of one
// rank to a schedule. A second function, with the suffix _work, states what the algorithm costs all ranks
// together. In the comments, P is the size of the team. A shape below holds the arguments of an algorithm,
// and its comment defines n, a number of bytes. Numbers of messages and bytes are those of all ranks
// together. Every algorithm is correct for every P >= 1 and every datatype, unless its comment says
// otherwise. select.h chooses an algorithm, and executor.h runs the schedule.
//
// A contribution is in the space `send` (block.h) or, for MPI_IN_PLACE, in the space `receive`. In the latter
// case it may lie where the result will be written.
// Thread rule: pure functions; one thread at a time for each schedule.
// Tested by: tests/unit/coll/moves_test.cc, tests/unit/coll/reductions_test.cc.
// Tested by: tests/unit/coll/two_level_test.cc.
#pragma once

#include "coll/nodes.h"
#include "coll/schedule.h"
#include "coll/work.h"

namespace lanyard {

struct Members {
    int index = 0;
    int size = 1;
    const Nodes *nodes = nullptr;  // used by algorithms in two levels only
};

struct BcastShape : Members {
    int root = 0;
    Block data;
};

// The shape of reduce, allreduce, scan and exscan. n: bytes of the contribution.
struct ReduceShape : Members {
    int root = 0;
    Block contribution;
    Block result;
    const Op *op = nullptr;
};

// The shape of reduce_scatter. n: bytes of one rank's contribution, which has a block for each rank.
struct ReduceScatterShape : Members {
    Block contribution;
    Numbers counts;  // elements for each rank; data == nullptr: the same number for each
    Block result;    // the block that this rank gets
    const Op *op = nullptr;
};

// The shape of gather, scatter, allgather and alltoall. n: bytes of the block of one rank; for allgather, of
// the blocks of all ranks together.
struct MoveShape : Members {
    int root = 0;
    Division sent;  // gather, allgather: block(0) is this rank's own block; scatter: used at the root only
    Division received;      // scatter: block(0) is this rank's own block; gather: used at the root only
    bool in_place = false;  // the own block is where it belongs; alltoall: blocks to send are in `received`
    bool even = true;       // the blocks of all ranks have the same number of bytes, and all ranks know it
};

// ---- barrier
void barrier_dissemination(const Members &, Schedule &);  // P * ceil(log2 P) empty messages
Work barrier_dissemination_work(const Crew &, int64_t bytes);
// Has fewer rounds: ceil(log_radix P). In each round every rank sends up to `radix` - 1 messages.
void barrier_knomial(const Members &, Schedule &, int radix);
Work barrier_knomial_work(const Crew &, int64_t bytes, int radix);

// ---- bcast
void bcast_binomial(const BcastShape &, Schedule &);  // P-1 messages, (P-1)n bytes
Work bcast_binomial_work(const Crew &, int64_t bytes);
// Like bcast_binomial(), along a tree of higher radix: the same numbers of messages and bytes, fewer levels,
// more messages for each inner rank.
void bcast_knomial(const BcastShape &, Schedule &, int radix);
Work bcast_knomial_work(const Crew &, int64_t bytes, int radix);
// Scatters the data in pieces along a binomial tree, then passes the pieces round a ring. All ranks together
// send about (P-1)n bytes, and no rank sends more than about 2n bytes. Data that is not contiguous is packed
// at the root and unpacked at the other ranks.
void bcast_scatter_allgather(const BcastShape &, Schedule &);
Work bcast_scatter_allgather_work(const Crew &, int64_t bytes);

// ---- reduce
// Combines along a binomial tree. Each rank combines its own data with data of higher ranks, so rank order is
// kept. P-1 messages, (P-1)n bytes; one more message if the operation does not commute and the root is not
// rank 0.
void reduce_binomial(const ReduceShape &, Schedule &);
Work reduce_binomial_work(const Crew &, int64_t bytes);
void reduce_knomial(const ReduceShape &, Schedule &, int radix);  // keeps rank order too
Work reduce_knomial_work(const Crew &, int64_t bytes, int radix);
// Recursive halving, after which every rank sends its piece of the result to the root. For operations that
// commute.
void reduce_halving(const ReduceShape &, Schedule &);
Work reduce_halving_work(const Crew &, int64_t bytes);

// ---- allreduce
// Q, here and below, is the largest power of two up to P. P-Q ranks pass their data to a neighbour and get
// the result from it. The other Q ranks exchange their whole partial results with partners at distance 1, 2,
// 4 ... Keeps rank order. 2(P-Q) + Q*log2 Q messages of n bytes.
void allreduce_recursive_doubling(const ReduceShape &, Schedule &);
Work allreduce_recursive_doubling_work(const Crew &, int64_t bytes);
// All ranks send to rank 0, which sends the result to all. 2(P-1) messages, 2(P-1)n bytes, and each rank
// except rank 0 waits once. Keeps rank order.
void allreduce_linear(const ReduceShape &, Schedule &);
Work allreduce_linear_work(const Crew &, int64_t bytes);
// A reduce to rank 0 and a broadcast from rank 0, both along a binomial tree. Has twice the rounds of
// recursive doubling, but only 2(P-1) messages and 2(P-1)n bytes. Keeps rank order.
void allreduce_reduce_bcast(const ReduceShape &, Schedule &);
Work allreduce_reduce_bcast_work(const Crew &, int64_t bytes);
// Like allreduce_reduce_bcast(), along a tree of higher radix.
void allreduce_knomial(const ReduceShape &, Schedule &, int radix);
Work allreduce_knomial_work(const Crew &, int64_t bytes, int radix);
// Rabenseifner's algorithm: recursive halving as a reduce-scatter, then doubling as an allgather. 2(P-Q) +
// 2Q*log2 Q messages, 2(P-Q)n + 2(Q-1)n bytes. For operations that commute.
void allreduce_halving_doubling(const ReduceShape &, Schedule &);
Work allreduce_halving_doubling_work(const Crew &, int64_t bytes);
// A reduce-scatter and an allgather round a ring. 2P(P-1) messages, and 2(P-1)n bytes, which is the minimum
// for every P. For operations that commute.
void allreduce_ring(const ReduceShape &, Schedule &);
Work allreduce_ring_work(const Crew &, int64_t bytes);

// ---- gather, scatter
void gather_linear(const MoveShape &, Schedule &);  // P-1 messages, (P-1)n bytes; allows uneven blocks
Work gather_linear_work(const Crew &, int64_t bytes);
// P-1 messages, each with the blocks of a subtree; even blocks only.
void gather_binomial(const MoveShape &, Schedule &);
Work gather_binomial_work(const Crew &, int64_t bytes);
void gather_knomial(const MoveShape &, Schedule &, int radix);
Work gather_knomial_work(const Crew &, int64_t bytes, int radix);
void scatter_linear(const MoveShape &, Schedule &);
Work scatter_linear_work(const Crew &, int64_t bytes);
void scatter_binomial(const MoveShape &, Schedule &);
Work scatter_binomial_work(const Crew &, int64_t bytes);
void scatter_knomial(const MoveShape &, Schedule &, int radix);
Work scatter_knomial_work(const Crew &, int64_t bytes, int radix);

// ---- allgather: allows uneven blocks, since every rank has all sizes. n: bytes of all blocks together
// P*ceil(log2 P) messages, (P-1)n bytes; packs and unpacks.
void allgather_bruck(const MoveShape &, Schedule &);
Work allgather_bruck_work(const Crew &, int64_t bytes);
void allgather_ring(const MoveShape &, Schedule &);  // P(P-1) messages, (P-1)n bytes
Work allgather_ring_work(const Crew &, int64_t bytes);

// ---- alltoall
// For MPI_IN_PLACE: appends steps that copy all blocks except this rank's own into scratch memory, because
// arriving blocks will overwrite the originals. Returns the copies, which are complete when the step `ready`
// is done.
Division put_aside(const MoveShape &, Schedule &, StepId &ready);
// Each rank sends its block to each other rank directly, a few at a time, beginning with the next higher
// rank. P(P-1) messages, P(P-1)n bytes; allows uneven blocks.
void alltoall_pairwise(const MoveShape &, Schedule &);
Work alltoall_pairwise_work(const Crew &, int64_t bytes);
// Bruck's algorithm: a block travels in steps of 1, 2, 4 ... ranks. It makes the steps whose bits are set in
// its distance. P*ceil(log2 P) messages of up to about P/2 blocks. Even blocks only.
void alltoall_bruck(const MoveShape &, Schedule &);
Work alltoall_bruck_work(const Crew &, int64_t bytes);

// ---- reduce_scatter
// Recursive halving; for operations that commute.
void reduce_scatter_halving(const ReduceScatterShape &, Schedule &);
Work reduce_scatter_halving_work(const Crew &, int64_t bytes);
// Each rank sends each other rank the part for that rank. P(P-1) messages, (P-1)n bytes; for operations that
// commute.
void reduce_scatter_pairwise(const ReduceScatterShape &, Schedule &);
Work reduce_scatter_pairwise_work(const Crew &, int64_t bytes);
// A reduce to rank 0 in rank order, then a scatter.
void reduce_scatter_ordered(const ReduceScatterShape &, Schedule &);
Work reduce_scatter_ordered_work(const Crew &, int64_t bytes);

// ---- scan, exscan: both keep rank order
// Sends P-d messages of n bytes for each distance d = 1, 2, 4 ... below P.
void scan_doubling(const ReduceShape &, Schedule &);
void exscan_doubling(const ReduceShape &, Schedule &);
Work scan_doubling_work(const Crew &, int64_t bytes);
void scan_linear(const ReduceShape &, Schedule &);  // P-1 messages, one after the other
void exscan_linear(const ReduceShape &, Schedule &);
Work scan_linear_work(const Crew &, int64_t bytes);

// ---- through the memory of a node (shm/node_area.h), without messages. Each rank copies the data that it
// needs from the slots or stages of other ranks, or straight from their memory. Reductions need contiguous
// datatypes. Blocks may be uneven.
void barrier_exchange(const Members &, Schedule &);
Work barrier_exchange_work(const Crew &, int64_t bytes);
void bcast_exchange(const BcastShape &, Schedule &);  // every rank takes n bytes from the root
Work bcast_exchange_work(const Crew &, int64_t bytes);
void reduce_exchange(const ReduceShape &, Schedule &);  // the root takes n bytes from every rank
Work reduce_exchange_work(const Crew &, int64_t bytes);
// Each rank combines one part of all contributions, and the root then takes the combined parts. No rank moves
// more than about 2n bytes.
void reduce_exchange_parts(const ReduceShape &, Schedule &);
Work reduce_exchange_parts_work(const Crew &, int64_t bytes);
void allreduce_exchange(const ReduceShape &, Schedule &);  // every rank takes n bytes from every rank
Work allreduce_exchange_work(const Crew &, int64_t bytes);
// Like reduce_exchange_parts(), but every rank takes the parts.
void allreduce_exchange_parts(const ReduceShape &, Schedule &);
Work allreduce_exchange_parts_work(const Crew &, int64_t bytes);
void scan_exchange(const ReduceShape &, Schedule &);  // every rank takes n bytes from each lower rank
void exscan_exchange(const ReduceShape &, Schedule &);
Work scan_exchange_work(const Crew &, int64_t bytes);
void gather_exchange(const MoveShape &, Schedule &);
Work gather_exchange_work(const Crew &, int64_t bytes);
void scatter_exchange(const MoveShape &, Schedule &);
Work scatter_exchange_work(const Crew &, int64_t bytes);
void allgather_exchange(const MoveShape &, Schedule &);
Work allgather_exchange_work(const Crew &, int64_t bytes);
void alltoall_exchange(const MoveShape &, Schedule &);
Work alltoall_exchange_work(const Crew &, int64_t bytes);
// Every rank takes its part of every contribution.
void reduce_scatter_exchange(const ReduceScatterShape &, Schedule &);
Work reduce_scatter_exchange_work(const Crew &, int64_t bytes);

}  // namespace lanyard
