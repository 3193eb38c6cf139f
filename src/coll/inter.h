// Implements the collectives of an intercommunicator, between the two groups of its team (MPI-5.0 6.2.2).
// Like the algorithms of algorithms.h, these functions append to a schedule the steps of one process. This
// file contains the phases between the two groups. A phase within this process's own group uses the best
// algorithm for that group (select.h), except in inter_gather() and inter_scatter(), which use a binomial
// tree. A barrier needs no function here, because it is a barrier of the whole team.
//
// The fields of shapes have the meaning that they have in the program's call. `index` and `size` are those of
// this process's own group. Blocks for ranks belong to the ranks of the other group. Only the counts of
// reduce_scatter belong to the ranks of the own group. `root` is MPI_ROOT at the root, MPI_PROC_NULL at all
// other members of the root's group, and the root's rank at members of the other group.
// Thread rule: the owner of the engine.
#pragma once

#include "coll/select.h"

namespace lanyard {

// The root's data goes to all members of the other group.
void inter_bcast(const Selection &, Team &, const Block &data, int root, Schedule &);
// The other group's contributions are combined at that group's first member, which sends the result to the
// root.
void inter_reduce(const Selection &, Team &, const ReduceShape &, Schedule &);
// Each group gets the combined contributions of the other group: a reduce and a broadcast in each group, and
// an exchange between their first members.
void inter_allreduce(const Selection &, Team &, const ReduceShape &, Schedule &);
// The same, but each member gets only its part of the result.
void inter_reduce_scatter(const Selection &, Team &, const ReduceScatterShape &, Schedule &);

// Moves the blocks of the other group's members to the root (gather) or from the root (scatter). The blocks
// travel directly. If they are even and the detour costs less, they travel through the other group's first
// member. `bytes`: the bytes of one block.
void inter_gather(const Selection &, Team &, const MoveShape &, int64_t bytes, Schedule &);
void inter_scatter(const Selection &, Team &, const MoveShape &, int64_t bytes, Schedule &);
// Each member receives the blocks of some ranks of the other group, and an allgather in the own group then
// distributes the blocks. Allows uneven blocks, because each member has the sizes of all blocks that it
// receives.
void inter_allgather(const Selection &, Team &, const MoveShape &, Schedule &);
// Each rank exchanges blocks with each rank of the other group directly, a few at a time: m*n messages in
// each direction, for groups of m and n ranks. Allows uneven blocks.
void inter_alltoall(Team &, const MoveShape &, Schedule &);

}  // namespace lanyard
