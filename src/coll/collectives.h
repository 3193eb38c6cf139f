// Planners of collective operations on a team: from the arguments of a call, each function plan_x() makes a
// schedule that is ready to start. The typed functions of the API and the code that creates communicators
// call these functions. The caller takes a Collective from the executor, has its plan written here, and then
// starts it, once or (if persistent) repeatedly. Buffers, datatypes, operation and team must live until
// completion, and arrays of counts, displacements and datatypes only during the call.
//
// A send buffer without a datatype means MPI_IN_PLACE. For scatter, a receive buffer without a datatype means
// MPI_IN_PLACE at the root. A buffer that is significant only at the root is ignored at other ranks. On the
// team of an intercommunicator (inter.h), `root` is MPI_ROOT, MPI_PROC_NULL or a rank of the other group. On
// such a team, "all" stands for the ranks of the other group, and scan and exscan do not exist. The caller
// has checked the arguments. See MPI-5.0 chapter 6.
// Thread rule: the owner of the engine.
#pragma once

#include <algorithm>

#include "coll/executor.h"

namespace lanyard {

// `count` elements for each rank, one after the other.
using Even = Buffer;

// counts[r] elements for rank r, at displacements[r] extents.
struct Uneven {
    std::byte *base = nullptr;
    Numbers counts, displacements;
    const Datatype *datatype = nullptr;
};

// counts[r] elements of types[r] for rank r, at displacements[r] bytes.
struct Typed {
    std::byte *base = nullptr;
    Numbers counts, displacements;
    const Datatype *const *datatypes = nullptr;  // nullptr: in place
};

struct Reduction {
    const std::byte *contribution = nullptr;
    std::byte *result = nullptr;
    int64_t count = 0;
    const Datatype *datatype = nullptr;
    const Op *op = nullptr;
    bool in_place = false;  // the contribution is in the result buffer (MPI_IN_PLACE)
};

void plan_barrier(Executor &, Team &, Plan &);
void plan_bcast(Executor &, Team &, Plan &, const Buffer &data, int root);
void plan_reduce(Executor &, Team &, Plan &, const Reduction &, int root);
void plan_allreduce(Executor &, Team &, Plan &, const Reduction &);
void plan_scan(Executor &, Team &, Plan &, const Reduction &);
void plan_exscan(Executor &, Team &, Plan &, const Reduction &);
// Reduction::count is the number of elements for each rank.
void plan_reduce_scatter_block(Executor &, Team &, Plan &, const Reduction &);
// Reduction::count is ignored.
void plan_reduce_scatter(Executor &, Team &, Plan &, const Reduction &, Numbers counts);

void plan_gather(Executor &, Team &, Plan &, const Buffer &own, const Even &all, int root);
void plan_gatherv(Executor &, Team &, Plan &, const Buffer &own, const Uneven &all, int root);
void plan_scatter(Executor &, Team &, Plan &, const Even &all, const Buffer &own, int root);
void plan_scatterv(Executor &, Team &, Plan &, const Uneven &all, const Buffer &own, int root);
void plan_allgather(Executor &, Team &, Plan &, const Buffer &own, const Even &all);
void plan_allgatherv(Executor &, Team &, Plan &, const Buffer &own, const Uneven &all);
void plan_alltoall(Executor &, Team &, Plan &, const Even &sent, const Even &received);
void plan_alltoallv(Executor &, Team &, Plan &, const Uneven &sent, const Uneven &received);
void plan_alltoallw(Executor &, Team &, Plan &, const Typed &sent, const Typed &received);

// The next two functions serve the creation of communicators, on any team. Plan::stand_for() states for which
// MPI call the plan runs. plan_spread() sends `data` of member `first` down a binomial tree to all members.
// plan_tell_all() first collects the entries of all members up such a tree, and then sends all entries down.
// `entries` has `entry_bytes` bytes for each member, and the caller has filled in this member's own entry.
// Each direction needs P-1 messages in log2 P rounds, for P members. The small number of messages matters
// when ranks are oversubscribed. The memory belongs to the caller and must live until completion.
void plan_spread(Executor &, Team &, Plan &, void *data, int64_t bytes, int first);
void plan_tell_all(Executor &, Team &, Plan &, void *entries, int64_t entry_bytes);

// Plans a persistent operation. All ranks create persistent operations in the same order but may start them
// in any order (MPI-5.0 6.13). The operation therefore gets the tag of its messages when it is created, in
// this function. Persistent operations do not use the node area, because the area numbers its uses in the
// order of starts.
template <class... Parameters, class... Arguments>
Error plan_persistent(Executor &executor, Team &team, Collective &collective,
                      void (*plan)(Executor &, Team &, Plan &, Parameters...),
                      const Arguments &...arguments) {
    Team without_area = team;
    without_area.node_area = nullptr;
    without_area.node_area_bytes = 0;
    without_area.kept = nullptr;
    std::fill_n(&without_area.choices[0][0], sizeof without_area.choices, uint8_t{0});
    plan(executor, without_area, collective.plan, arguments...);
    return collective.keep_tag(team);
}

// Plans and starts a collective, waits for it, and returns its error. Example: blocking(executor, team, kind,
// plan_bcast, data, root). `kind`: the MPI call for which the collective runs.
template <class... Parameters, class... Arguments>
Error blocking(Executor &executor, Team &team, CollectiveKind kind,
               void (*plan)(Executor &, Team &, Plan &, Parameters...), const Arguments &...arguments) {
    Collective *collective = executor.take();
    plan(executor, team, collective->plan, arguments...);
    collective->plan.stand_for(kind);
    executor.start(*collective, team);
    return executor.finish(collective);
}

}  // namespace lanyard
