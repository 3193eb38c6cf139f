// Collectives of an intercommunicator, between the two groups of its team (MPI-5.0 6.2.2). Pure functions that append to a
// schedule what one process does, as those of algorithms.h: phases between the groups, written here, and phases within this
// process's own group, by the algorithm that is best there. A barrier needs none of this: it is one of the whole team.
//
// Shapes count as the program does: index and size are of the own group, blocks for ranks those of the other group (own
// group: the counts of reduce_scatter). root: MPI_ROOT at the root, MPI_PROC_NULL beside it, elsewhere its rank.
#pragma once

#include "coll/select.h"

namespace lanyard {

// The root's data for all of the other group.
void inter_bcast(const Selection &, Team &, const Block &data, int root, Schedule &);
// The other group's contributions combined at the root. P messages, if the other group has P, and the root waits once.
void inter_reduce(const Selection &, Team &, const ReduceShape &, Schedule &);
// Each group has what the other one contributed, combined: a reduce and a broadcast in each, and what their first members swap.
void inter_allreduce(const Selection &, Team &, const ReduceShape &, Schedule &);
// The same, of which each member has its part.
void inter_reduce_scatter(const Selection &, Team &, const ReduceScatterShape &, Schedule &);

// Blocks of the other group to the root, and from it: straight or, even blocks, by way of the other group's first member,
// whichever costs less. `bytes`: of one block.
void inter_gather(const Selection &, Team &, const MoveShape &, int64_t bytes, Schedule &);
void inter_scatter(const Selection &, Team &, const MoveShape &, int64_t bytes, Schedule &);
// Each member takes in the blocks of some of the other group, then these are spread in the own group; also uneven blocks, as
// the sizes of what comes are known to all who receive it.
void inter_allgather(const Selection &, Team &, const MoveShape &, Schedule &);
// Each to each of the other group, a few at a time: m*n messages each way; also uneven blocks.
void inter_alltoall(Team &, const MoveShape &, Schedule &);

}  // namespace lanyard
