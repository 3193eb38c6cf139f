// Collective operations on a team: from arguments to a schedule that is ready to start. The typed functions
// of the API and the code that creates communicators call this. plan_x writes the plan of a Collective that
// the caller has taken from the executor and then starts, once or (persistent) again and again. Buffers,
// datatypes, operation and team must live until completion, arrays of counts only during the call.
//
// A send side without a datatype means MPI_IN_PLACE (for scatter at the root: the receive side). Sides that
// are significant at the root only are not read elsewhere. On the team of an intercommunicator (inter.h),
// `root` is MPI_ROOT, MPI_PROC_NULL or a rank of the other group. The blocks of all are then those of the
// other group's ranks, and there is no scan and no exscan. The arguments have been checked. MPI-5.0 chapter
// 6.
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
    bool in_place = false;  // the contribution is where the result goes
};

void plan_barrier(Executor &, Team &, Plan &);
void plan_bcast(Executor &, Team &, Plan &, const Buffer &data, int root);
void plan_reduce(Executor &, Team &, Plan &, const Reduction &, int root);
void plan_allreduce(Executor &, Team &, Plan &, const Reduction &);
void plan_scan(Executor &, Team &, Plan &, const Reduction &);
void plan_exscan(Executor &, Team &, Plan &, const Reduction &);
// `count` of the reduction: elements for each rank.
void plan_reduce_scatter_block(Executor &, Team &, Plan &, const Reduction &);
// `count` of the reduction is ignored.
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

// For the creation of communicators, on any team; Plan::stand_for() states for which call. plan_spread()
// sends `data` of member `first` down a binomial tree to all. plan_tell_all() first collects the entries of
// all members up such a tree. P-1 messages in each direction, log2 P deep; if oversubscribed, the number is
// what counts. The memory is the caller's and must live until completion.
void plan_spread(Executor &, Team &, Plan &, void *data, int64_t bytes, int first);
void plan_tell_all(Executor &, Team &, Plan &, void *entries, int64_t entry_bytes);

// Plans a persistent operation. All ranks create them in the same order but may start them in any order
// (MPI-5.0 6.14). The messages therefore get their tag here. The node area is not used, because it counts
// uses in the order of starts.
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

// Plans, starts, waits, and returns the error: blocking(executor, team, kind, plan_bcast, data, root).
// `kind`: the MPI call for which it runs.
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
