// Collectives of an intercommunicator, between the two groups of its team (MPI-5.0 6.2.2). Like those of
// algorithms.h, these are pure functions that append to a schedule what one process does. There are phases
// between the groups, written here, and phases within this process's own group, by the algorithm that is best
// there. A barrier needs none of this: it is a barrier of the whole team.
//
// Shapes count as the program does: index and size are those of the own group, blocks for ranks those of the
// other group (of the own group for the counts of reduce_scatter). root: MPI_ROOT at the root, MPI_PROC_NULL
// beside it, and its rank in the other group.
// Thread rule: the owner of the engine.
#pragma once

#include "coll/select.h"

namespace lanyard {

// The root's data goes to all of the other group.
void inter_bcast(const Selection &, Team &, const Block &data, int root, Schedule &);
// The other group's contributions are combined at the root. P messages, if the other group has P ranks, and
// the root waits once.
void inter_reduce(const Selection &, Team &, const ReduceShape &, Schedule &);
// Each group gets the combined contributions of the other one: a reduce and a broadcast in each group, and an
// exchange between their first members.
void inter_allreduce(const Selection &, Team &, const ReduceShape &, Schedule &);
// The same, but each member gets its part.
void inter_reduce_scatter(const Selection &, Team &, const ReduceScatterShape &, Schedule &);

// Blocks of the other group to the root, and from it: directly or, for even blocks, by way of the other
// group's first member if that costs less. `bytes`: of one block.
void inter_gather(const Selection &, Team &, const MoveShape &, int64_t bytes, Schedule &);
void inter_scatter(const Selection &, Team &, const MoveShape &, int64_t bytes, Schedule &);
// Each member receives the blocks of some ranks of the other group, and these are then spread in the own
// group. Uneven blocks too, because the sizes of received blocks are known to all who receive them.
void inter_allgather(const Selection &, Team &, const MoveShape &, Schedule &);
// Each rank to each rank of the other group, a few at a time: m*n messages in each direction. Uneven blocks
// too.
void inter_alltoall(Team &, const MoveShape &, Schedule &);

}  // namespace lanyard
