// The algorithms. Each is a pure function that appends to a schedule what one rank does, with a function that
// states what it costs all ranks together. P: size of the team; n: bytes, as each shape defines them. All are
// correct for every P >= 1 and every datatype unless the comment says otherwise. select.h chooses among them,
// executor.h runs the schedules.
//
// A contribution may be in the space `send` or, for MPI_IN_PLACE, in `receive`. It may then lie where the
// result goes.
// Thread rule: pure functions; one thread at a time for each schedule.
#pragma once

#include "coll/nodes.h"
#include "coll/schedule.h"
#include "coll/work.h"

namespace lanyard {

struct Members {
    int index = 0;
    int size = 1;
    const Nodes *nodes = nullptr;  // for algorithms in two levels
};

struct BcastShape : Members {
    int root = 0;
    Block data;
};

// reduce, allreduce, scan, exscan. n: bytes of the contribution.
struct ReduceShape : Members {
    int root = 0;
    Block contribution;
    Block result;
    const Op *op = nullptr;
};

// n: bytes of the contribution, which has the blocks of all ranks.
struct ReduceScatterShape : Members {
    Block contribution;
    Numbers counts;  // elements for each rank; nullptr: the same number for each
    Block result;    // of this rank
    const Op *op = nullptr;
};

// gather, scatter, allgather, alltoall. n: bytes of the block of one rank (allgather: of all ranks together).
struct MoveShape : Members {
    int root = 0;
    Division sent;          // gather, allgather: block(0) is this rank's own; scatter: read at the root only
    Division received;      // scatter: block(0) is this rank's own; gather: read at the root only
    bool in_place = false;  // this rank's own block is already where it belongs
    bool even = true;       // the blocks of all ranks have the same number of bytes, and all ranks know it
};

// ---- barrier
void barrier_dissemination(const Members &, Schedule &);  // P * ceil(log2 P) empty messages
Work barrier_dissemination_work(const Crew &, int64_t bytes);
// Each rank sends `radix` - 1 messages in a round, in fewer rounds: ceil(log_radix P).
void barrier_knomial(const Members &, Schedule &, int radix);
Work barrier_knomial_work(const Crew &, int64_t bytes, int radix);

// ---- bcast
void bcast_binomial(const BcastShape &, Schedule &);  // P-1 messages, (P-1)n bytes
Work bcast_binomial_work(const Crew &, int64_t bytes);
// A tree of higher radix: the same numbers of messages and bytes, fewer levels, more messages for each inner
// rank.
void bcast_knomial(const BcastShape &, Schedule &, int radix);
Work bcast_knomial_work(const Crew &, int64_t bytes, int radix);
// Scatters along a binomial tree, then passes the pieces round a ring: also about (P-1)n bytes, but each rank
// sends at most about 2n. Data that is not contiguous is packed at the root and unpacked elsewhere.
void bcast_scatter_allgather(const BcastShape &, Schedule &);
Work bcast_scatter_allgather_work(const Crew &, int64_t bytes);

// ---- reduce
// Ranks combine in a binomial tree, each its own data with that of ranks above it, so rank order is kept. P-1
// messages, (P-1)n bytes; one more message for an operation that does not commute if the root is not rank 0.
void reduce_binomial(const ReduceShape &, Schedule &);
Work reduce_binomial_work(const Crew &, int64_t bytes);
void reduce_knomial(const ReduceShape &, Schedule &, int radix);  // keeps rank order too
Work reduce_knomial_work(const Crew &, int64_t bytes, int radix);
// Recursive halving, after which all pieces go to the root. For operations that commute.
void reduce_halving(const ReduceShape &, Schedule &);
Work reduce_halving_work(const Crew &, int64_t bytes);

// ---- allreduce
// Q is the largest power of two up to P. The P-Q surplus ranks pass their data to a neighbour. The others
// exchange everything with partners at distance 1, 2, 4 ... Keeps rank order. 2(P-Q) + Q*log2 Q messages of n
// bytes.
void allreduce_recursive_doubling(const ReduceShape &, Schedule &);
Work allreduce_recursive_doubling_work(const Crew &, int64_t bytes);
// All send to rank 0, and it sends to all. 2(P-1) messages, 2(P-1)n bytes, and each other rank waits once.
// Keeps rank order.
void allreduce_linear(const ReduceShape &, Schedule &);
Work allreduce_linear_work(const Crew &, int64_t bytes);
// A reduce to rank 0 and a broadcast from it, both binomial. Twice the rounds, but 2(P-1) messages, 2(P-1)n
// bytes. Keeps rank order.
void allreduce_reduce_bcast(const ReduceShape &, Schedule &);
Work allreduce_reduce_bcast_work(const Crew &, int64_t bytes);
// The same along a tree of higher radix.
void allreduce_knomial(const ReduceShape &, Schedule &, int radix);
Work allreduce_knomial_work(const Crew &, int64_t bytes, int radix);
// Rabenseifner's algorithm: recursive halving as a reduce-scatter, then doubling as an allgather. 2(P-Q) +
// 2Q*log2 Q messages, 2(P-Q)n + 2(Q-1)n bytes. For operations that commute.
void allreduce_halving_doubling(const ReduceShape &, Schedule &);
Work allreduce_halving_doubling_work(const Crew &, int64_t bytes);
// 2P(P-1) messages, 2(P-1)n bytes, the minimum for every P. For operations that commute.
void allreduce_ring(const ReduceShape &, Schedule &);
Work allreduce_ring_work(const Crew &, int64_t bytes);

// ---- gather, scatter
void gather_linear(const MoveShape &, Schedule &);  // P-1 messages, (P-1)n bytes; uneven blocks too
Work gather_linear_work(const Crew &, int64_t bytes);
void gather_binomial(const MoveShape &, Schedule &);  // P-1 messages, each of a whole subtree; even blocks
Work gather_binomial_work(const Crew &, int64_t bytes);
void gather_knomial(const MoveShape &, Schedule &, int radix);
Work gather_knomial_work(const Crew &, int64_t bytes, int radix);
void scatter_linear(const MoveShape &, Schedule &);
Work scatter_linear_work(const Crew &, int64_t bytes);
void scatter_binomial(const MoveShape &, Schedule &);
Work scatter_binomial_work(const Crew &, int64_t bytes);
void scatter_knomial(const MoveShape &, Schedule &, int radix);
Work scatter_knomial_work(const Crew &, int64_t bytes, int radix);

// ---- allgather: uneven blocks too, since every rank knows all sizes. n: bytes of all blocks together
// P*ceil(log2 P) messages, (P-1)n bytes; packs and unpacks.
void allgather_bruck(const MoveShape &, Schedule &);
Work allgather_bruck_work(const Crew &, int64_t bytes);
void allgather_ring(const MoveShape &, Schedule &);  // P(P-1) messages, (P-1)n bytes
Work allgather_ring_work(const Crew &, int64_t bytes);

// ---- alltoall
// In place: packed copies of all blocks except this rank's own, ready once `ready` is done. The originals
// will be overwritten by arriving blocks.
Division put_aside(const MoveShape &, Schedule &, StepId &ready);
// Each rank to each other, a few at a time, in rotated order. P(P-1) messages, P(P-1)n bytes; uneven blocks
// too.
void alltoall_pairwise(const MoveShape &, Schedule &);
Work alltoall_pairwise_work(const Crew &, int64_t bytes);
// Blocks travel by the bits of their distance: P*ceil(log2 P) messages of up to P/2 blocks. Even blocks.
void alltoall_bruck(const MoveShape &, Schedule &);
Work alltoall_bruck_work(const Crew &, int64_t bytes);

// ---- reduce_scatter
// Recursive halving; for operations that commute.
void reduce_scatter_halving(const ReduceScatterShape &, Schedule &);
Work reduce_scatter_halving_work(const Crew &, int64_t bytes);
// P(P-1) messages, (P-1)n bytes; for operations that commute.
void reduce_scatter_pairwise(const ReduceScatterShape &, Schedule &);
Work reduce_scatter_pairwise_work(const Crew &, int64_t bytes);
// Reduce to rank 0 in rank order, then scatter.
void reduce_scatter_ordered(const ReduceScatterShape &, Schedule &);
Work reduce_scatter_ordered_work(const Crew &, int64_t bytes);

// ---- scan, exscan: both keep rank order
// Sum over d = 1, 2, 4 ... < P of (P-d) messages of n bytes.
void scan_doubling(const ReduceShape &, Schedule &);
void exscan_doubling(const ReduceShape &, Schedule &);
Work scan_doubling_work(const Crew &, int64_t bytes);
void scan_linear(const ReduceShape &, Schedule &);  // P-1 messages, one after the other
void exscan_linear(const ReduceShape &, Schedule &);
Work scan_linear_work(const Crew &, int64_t bytes);

// ---- through the memory of a node (shm/node_area.h), without messages. Each rank takes what it needs from
// the slots of others, or straight from their memory. Reductions need contiguous datatypes. Blocks may be
// uneven.
void barrier_exchange(const Members &, Schedule &);
Work barrier_exchange_work(const Crew &, int64_t bytes);
void bcast_exchange(const BcastShape &, Schedule &);  // everyone takes n bytes from the root
Work bcast_exchange_work(const Crew &, int64_t bytes);
void reduce_exchange(const ReduceShape &, Schedule &);  // the root takes n bytes from everyone
Work reduce_exchange_work(const Crew &, int64_t bytes);
// Each rank combines one part of the contributions, and the root takes the parts: 2n bytes for every rank.
void reduce_exchange_parts(const ReduceShape &, Schedule &);
Work reduce_exchange_parts_work(const Crew &, int64_t bytes);
void allreduce_exchange(const ReduceShape &, Schedule &);  // everyone takes n bytes from everyone
Work allreduce_exchange_work(const Crew &, int64_t bytes);
void allreduce_exchange_parts(const ReduceShape &, Schedule &);  // everyone takes the parts
Work allreduce_exchange_parts_work(const Crew &, int64_t bytes);
void scan_exchange(const ReduceShape &, Schedule &);  // everyone takes n bytes from each rank below
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
// Everyone takes its part from everyone.
void reduce_scatter_exchange(const ReduceScatterShape &, Schedule &);
Work reduce_scatter_exchange_work(const Crew &, int64_t bytes);

}  // namespace lanyard
