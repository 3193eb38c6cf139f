// The algorithms. Each is a pure function that appends to a schedule what one rank does, and a function that says what
// it costs all ranks together. P: size of the team; n: bytes as told by the shape. All are correct for every P >= 1
// and every datatype unless said otherwise. Selection is in select.h, the executor's side in executor.h.
//
// A contribution may be in the space `send` or, for MPI_IN_PLACE, in `receive`; then it may lie where the result goes.
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

// n: bytes of the contribution, the blocks of all ranks together.
struct ReduceScatterShape : Members {
    Block contribution;
    Numbers counts;     // elements for each rank; nullptr: as many for each
    Block result;       // of this rank
    const Op *op = nullptr;
};

// gather, scatter, allgather, alltoall. n: bytes of the block of one rank (of all ranks together: allgatherv).
struct MoveShape : Members {
    int root = 0;
    Division sent;      // gather, allgather: block(0) is this rank's own. scatter: significant at the root
    Division received;  // scatter: block(0) is this rank's own. gather: significant at the root
    bool in_place = false;  // this rank's own block is already where it belongs
    bool even = true;   // blocks of all ranks have the same number of bytes, known to all
};

// ---- barrier
void barrier_dissemination(const Members &, Schedule &);  // P * ceil(log2 P) empty messages
Work barrier_dissemination_work(const Crew &, int64_t bytes);
// With `radix` - 1 messages of each rank in a round, and fewer rounds: ceil(log_radix P).
void barrier_knomial(const Members &, Schedule &, int radix);
Work barrier_knomial_work(const Crew &, int64_t bytes, int radix);

// ---- bcast
void bcast_binomial(const BcastShape &, Schedule &);  // P-1 messages, (P-1)n bytes
Work bcast_binomial_work(const Crew &, int64_t bytes);
// A tree of higher radix: as many messages and bytes, fewer levels, more messages for each inner rank.
void bcast_knomial(const BcastShape &, Schedule &, int radix);
Work bcast_knomial_work(const Crew &, int64_t bytes, int radix);
// Scatter along a binomial tree, then a ring: about (P-1)n bytes as well, but each rank sends about 2n at most. Data that
// is not contiguous is packed at the root and unpacked elsewhere.
void bcast_scatter_allgather(const BcastShape &, Schedule &);
Work bcast_scatter_allgather_work(const Crew &, int64_t bytes);

// ---- reduce
// Ranks combine in a binomial tree, each its own with those above it, so rank order is kept: P-1 messages, (P-1)n bytes;
// one more for an operation that does not commute when the root is not rank 0.
void reduce_binomial(const ReduceShape &, Schedule &);
Work reduce_binomial_work(const Crew &, int64_t bytes);
void reduce_knomial(const ReduceShape &, Schedule &, int radix);  // keeps rank order as well
Work reduce_knomial_work(const Crew &, int64_t bytes, int radix);
// Recursive halving, then all pieces go to the root. For operations that commute.
void reduce_halving(const ReduceShape &, Schedule &);
Work reduce_halving_work(const Crew &, int64_t bytes);

// ---- allreduce
// With Q the largest power of two up to P: the P-Q ranks too many hand their data to a neighbour, the others exchange all
// with partners at distance 1, 2, 4 ...; keeps rank order. 2(P-Q) + Q*log2 Q messages of n bytes.
void allreduce_recursive_doubling(const ReduceShape &, Schedule &);
Work allreduce_recursive_doubling_work(const Crew &, int64_t bytes);
// All send to rank 0, and it to all: 2(P-1) messages, 2(P-1)n bytes, and each other rank waits once. Keeps rank order.
void allreduce_linear(const ReduceShape &, Schedule &);
Work allreduce_linear_work(const Crew &, int64_t bytes);
// A reduce to rank 0 and a broadcast from it, both binomial: twice the rounds, but 2(P-1) messages, 2(P-1)n bytes. Keeps rank order.
void allreduce_reduce_bcast(const ReduceShape &, Schedule &);
Work allreduce_reduce_bcast_work(const Crew &, int64_t bytes);
// The same along a tree of higher radix.
void allreduce_knomial(const ReduceShape &, Schedule &, int radix);
Work allreduce_knomial_work(const Crew &, int64_t bytes, int radix);
// Rabenseifner's: recursive halving of a reduce-scatter, then doubling of an allgather. 2(P-Q) + 2Q*log2 Q messages,
// 2(P-Q)n + 2(Q-1)n bytes. For operations that commute.
void allreduce_halving_doubling(const ReduceShape &, Schedule &);
Work allreduce_halving_doubling_work(const Crew &, int64_t bytes);
// 2P(P-1) messages, 2(P-1)n bytes: the least for every P. For operations that commute.
void allreduce_ring(const ReduceShape &, Schedule &);
Work allreduce_ring_work(const Crew &, int64_t bytes);

// ---- gather, scatter
void gather_linear(const MoveShape &, Schedule &);  // P-1 messages, (P-1)n bytes; also uneven blocks
Work gather_linear_work(const Crew &, int64_t bytes);
void gather_binomial(const MoveShape &, Schedule &);  // P-1 messages, of whole subtrees: even blocks
Work gather_binomial_work(const Crew &, int64_t bytes);
void gather_knomial(const MoveShape &, Schedule &, int radix);
Work gather_knomial_work(const Crew &, int64_t bytes, int radix);
void scatter_linear(const MoveShape &, Schedule &);
Work scatter_linear_work(const Crew &, int64_t bytes);
void scatter_binomial(const MoveShape &, Schedule &);
Work scatter_binomial_work(const Crew &, int64_t bytes);
void scatter_knomial(const MoveShape &, Schedule &, int radix);
Work scatter_knomial_work(const Crew &, int64_t bytes, int radix);

// ---- allgather: also uneven blocks, as every rank knows all sizes. n: bytes of all blocks together
void allgather_bruck(const MoveShape &, Schedule &);  // P*ceil(log2 P) messages, (P-1)n bytes; packs and unpacks
Work allgather_bruck_work(const Crew &, int64_t bytes);
void allgather_ring(const MoveShape &, Schedule &);  // P(P-1) messages, (P-1)n bytes
Work allgather_ring_work(const Crew &, int64_t bytes);

// ---- alltoall
// In place: copies of all blocks but the own one, packed, ready once `ready` is done; the same bytes are to be replaced by what comes.
Division put_aside(const MoveShape &, Schedule &, StepId &ready);
// Each rank to each other, a few at a time, in rotated order: P(P-1) messages, P(P-1)n bytes; also uneven blocks.
void alltoall_pairwise(const MoveShape &, Schedule &);
Work alltoall_pairwise_work(const Crew &, int64_t bytes);
// Blocks travel by the bits of their distance: P*ceil(log2 P) messages of up to P/2 blocks. Even blocks.
void alltoall_bruck(const MoveShape &, Schedule &);
Work alltoall_bruck_work(const Crew &, int64_t bytes);

// ---- reduce_scatter
void reduce_scatter_halving(const ReduceScatterShape &, Schedule &);  // recursive halving; for operations that commute
Work reduce_scatter_halving_work(const Crew &, int64_t bytes);
void reduce_scatter_pairwise(const ReduceScatterShape &, Schedule &);  // P(P-1) messages, (P-1)n bytes; commuting
Work reduce_scatter_pairwise_work(const Crew &, int64_t bytes);
void reduce_scatter_ordered(const ReduceScatterShape &, Schedule &);  // reduce to rank 0 in rank order, then scatter
Work reduce_scatter_ordered_work(const Crew &, int64_t bytes);

// ---- scan, exscan: both keep rank order
void scan_doubling(const ReduceShape &, Schedule &);  // sum over d = 1, 2, 4 ... < P of (P-d) messages of n bytes
void exscan_doubling(const ReduceShape &, Schedule &);
Work scan_doubling_work(const Crew &, int64_t bytes);
void scan_linear(const ReduceShape &, Schedule &);  // P-1 messages, one after the other
void exscan_linear(const ReduceShape &, Schedule &);
Work scan_linear_work(const Crew &, int64_t bytes);

// ---- through the memory of a node (node_area.h): no messages; each rank takes what it needs from the slots of others, or straight from
// their memory. Reductions: contiguous datatypes. Blocks may be uneven.
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
void reduce_scatter_exchange(const ReduceScatterShape &, Schedule &);  // everyone takes its part from everyone
Work reduce_scatter_exchange_work(const Crew &, int64_t bytes);

}  // namespace lanyard
