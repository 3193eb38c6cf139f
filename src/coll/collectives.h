// Collective operations on a team: from arguments to a started schedule. Called by the typed functions of the API and by
// whoever makes communicators; the engine must be owned. Each operation has a start form, which fills a Collective taken
// from the executor and starts it, and a blocking form. Buffers, datatypes, operation and team must live until completion.
//
// A send side without a datatype means MPI_IN_PLACE (receive side: of scatter at the root). Sides that are significant
// at the root only are not looked at elsewhere. Arguments have been checked. MPI-5.0 chapter 6.
#pragma once

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

// Reductions: `contribution` is nullptr for MPI_IN_PLACE.
struct Reduction {
    const std::byte *contribution = nullptr;
    std::byte *result = nullptr;
    int64_t count = 0;
    const Datatype *datatype = nullptr;
    const Op *op = nullptr;
};

void start_barrier(Executor &, Team &, Collective &);
void start_bcast(Executor &, Team &, Collective &, const Buffer &data, int root);
void start_reduce(Executor &, Team &, Collective &, const Reduction &, int root);
void start_allreduce(Executor &, Team &, Collective &, const Reduction &);
void start_scan(Executor &, Team &, Collective &, const Reduction &);
void start_exscan(Executor &, Team &, Collective &, const Reduction &);
// `count` of the reduction: elements for each rank.
void start_reduce_scatter_block(Executor &, Team &, Collective &, const Reduction &);
// `count` of the reduction is not looked at.
void start_reduce_scatter(Executor &, Team &, Collective &, const Reduction &, Numbers counts);

void start_gather(Executor &, Team &, Collective &, const Buffer &own, const Even &all, int root);
void start_gatherv(Executor &, Team &, Collective &, const Buffer &own, const Uneven &all, int root);
void start_scatter(Executor &, Team &, Collective &, const Even &all, const Buffer &own, int root);
void start_scatterv(Executor &, Team &, Collective &, const Uneven &all, const Buffer &own, int root);
void start_allgather(Executor &, Team &, Collective &, const Buffer &own, const Even &all);
void start_allgatherv(Executor &, Team &, Collective &, const Buffer &own, const Uneven &all);
void start_alltoall(Executor &, Team &, Collective &, const Even &sent, const Even &received);
void start_alltoallv(Executor &, Team &, Collective &, const Uneven &sent, const Uneven &received);
void start_alltoallw(Executor &, Team &, Collective &, const Typed &sent, const Typed &received);

// Starts, waits, and returns the error: blocking(executor, team, start_bcast, data, root).
template <class... Parameters, class... Arguments>
Error blocking(Executor &executor, Team &team, void (*start)(Executor &, Team &, Collective &, Parameters...), const Arguments &...arguments) {
    Collective *collective = executor.take();
    start(executor, team, *collective, arguments...);
    return executor.finish(collective);
}

// The forms that making communicators uses.
inline Error barrier(Executor &executor, Team &team) { return blocking(executor, team, start_barrier); }
inline Error bcast(Executor &executor, Team &team, const Buffer &data, int root) {
    return blocking(executor, team, start_bcast, data, root);
}
inline Error allreduce(Executor &executor, Team &team, const Reduction &reduction) {
    return blocking(executor, team, start_allreduce, reduction);
}
inline Error allgather(Executor &executor, Team &team, const Buffer &own, const Even &all) {
    return blocking(executor, team, start_allgather, own, all);
}
inline Error gather(Executor &executor, Team &team, const Buffer &own, const Even &all, int root) {
    return blocking(executor, team, start_gather, own, all, root);
}

}  // namespace lanyard
