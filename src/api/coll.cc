// Defines the typed functions (types.h) of blocking collective operations (MPI-5.0 chapter 6). Each function
// plans a schedule, starts it, and drives the engine until the schedule is complete. Any thread; the engine
// is taken for the whole call.
// Tested by: tests/mpi/coll/forms.cc, tests/mpi/coll/moves.cc, tests/mpi/coll/reductions.cc.
#include "api/coll_run.h"
#include "api/generated/core.h"

namespace lanyard {

using namespace plans;

extern "C" {

Error lanyard_barrier(Comm &comm) {
    return run(comm, "MPI_Barrier", abi::undefined, plan_barrier);
}

Error lanyard_bcast(void *buffer, int64_t count, Datatype &datatype, int root, Comm &comm) {
    return run(comm, "MPI_Bcast", root, plan_bcast, buffer_of(buffer, count, &datatype), root);
}

Error lanyard_reduce(const void *sendbuf, void *recvbuf, int64_t count, Datatype &datatype, Op &op, int root,
                     Comm &comm) {
    if (Error error = check_reduce(comm, sendbuf, recvbuf, count, datatype, op, root)) return error;
    return run(comm, "MPI_Reduce", root, plan_reduce, reduction(sendbuf, recvbuf, count, datatype, op), root);
}

Error lanyard_allreduce(const void *sendbuf, void *recvbuf, int64_t count, Datatype &datatype, Op &op,
                        Comm &comm) {
    if (Error error = check_reduction(comm, sendbuf, recvbuf, count, datatype, op)) return error;
    return run(comm, "MPI_Allreduce", abi::undefined, plan_allreduce,
               reduction(sendbuf, recvbuf, count, datatype, op));
}

Error lanyard_scan(const void *sendbuf, void *recvbuf, int64_t count, Datatype &datatype, Op &op,
                   Comm &comm) {
    if (Error error = check_scan(comm, sendbuf, recvbuf, count, datatype, op)) return error;
    return run(comm, "MPI_Scan", abi::undefined, plan_scan, reduction(sendbuf, recvbuf, count, datatype, op));
}

Error lanyard_exscan(const void *sendbuf, void *recvbuf, int64_t count, Datatype &datatype, Op &op,
                     Comm &comm) {
    if (Error error = check_scan(comm, sendbuf, recvbuf, count, datatype, op)) return error;
    return run(comm, "MPI_Exscan", abi::undefined, plan_exscan,
               reduction(sendbuf, recvbuf, count, datatype, op));
}

Error lanyard_reduce_scatter_block(const void *sendbuf, void *recvbuf, int64_t recvcount, Datatype &datatype,
                                   Op &op, Comm &comm) {
    if (Error error = check_reduce_scatter(comm, sendbuf, recvbuf, recvcount, datatype, op)) return error;
    return run(comm, "MPI_Reduce_scatter_block", abi::undefined, plan_reduce_scatter_block,
               reduction(sendbuf, recvbuf, recvcount, datatype, op));
}

Error lanyard_reduce_scatter(const void *sendbuf, void *recvbuf, Counts recvcounts, Datatype &datatype,
                             Op &op, Comm &comm) {
    if (Error error = check_reduction(comm, sendbuf, recvbuf, recvcounts[comm.rank], datatype, op))
        return error;
    return run(comm, "MPI_Reduce_scatter", abi::undefined, plan_reduce_scatter,
               reduction(sendbuf, recvbuf, 0, datatype, op), numbers(recvcounts));
}

Error lanyard_gather(const void *sendbuf, int64_t sendcount, Datatype *sendtype, void *recvbuf,
                     int64_t recvcount, Datatype *recvtype, int root, Comm &comm) {
    if (Error error = check_sides(comm, {sendbuf, sendcount, sendtype},
                                  blocks_of_all(comm, recvbuf, recvcount, recvtype)))
        return error;
    return run(comm, "MPI_Gather", root, plan_gather, own_buffer(sendbuf, sendcount, sendtype),
               buffer_of(recvbuf, recvcount, recvtype), root);
}

Error lanyard_gatherv(const void *sendbuf, int64_t sendcount, Datatype *sendtype, void *recvbuf,
                      Counts recvcounts, Counts displs, Datatype *recvtype, int root, Comm &comm) {
    if (Error error = check_sides(comm, {sendbuf, sendcount, sendtype},
                                  own_block(comm, recvbuf, recvcounts, displs, recvtype)))
        return error;
    return run(comm, "MPI_Gatherv", root, plan_gatherv, own_buffer(sendbuf, sendcount, sendtype),
               uneven(recvbuf, recvcounts, displs, recvtype), root);
}

Error lanyard_scatter(const void *sendbuf, int64_t sendcount, Datatype *sendtype, void *recvbuf,
                      int64_t recvcount, Datatype *recvtype, int root, Comm &comm) {
    if (Error error = check_sides(comm, blocks_of_all(comm, sendbuf, sendcount, sendtype),
                                  {recvbuf, recvcount, recvtype}, Instead::recvbuf))
        return error;
    return run(comm, "MPI_Scatter", root, plan_scatter, buffer_of(sendbuf, sendcount, sendtype),
               own_buffer(recvbuf, recvcount, recvtype), root);
}

Error lanyard_scatterv(const void *sendbuf, Counts sendcounts, Counts displs, Datatype *sendtype,
                       void *recvbuf, int64_t recvcount, Datatype *recvtype, int root, Comm &comm) {
    if (Error error = check_sides(comm, own_block(comm, sendbuf, sendcounts, displs, sendtype),
                                  {recvbuf, recvcount, recvtype}, Instead::recvbuf))
        return error;
    return run(comm, "MPI_Scatterv", root, plan_scatterv, uneven(sendbuf, sendcounts, displs, sendtype),
               own_buffer(recvbuf, recvcount, recvtype), root);
}

Error lanyard_allgather(const void *sendbuf, int64_t sendcount, Datatype *sendtype, void *recvbuf,
                        int64_t recvcount, Datatype &recvtype, Comm &comm) {
    if (Error error = check_sides(comm, {sendbuf, sendcount, sendtype},
                                  blocks_of_all(comm, recvbuf, recvcount, &recvtype)))
        return error;
    return run(comm, "MPI_Allgather", abi::undefined, plan_allgather,
               own_buffer(sendbuf, sendcount, sendtype), buffer_of(recvbuf, recvcount, &recvtype));
}

Error lanyard_allgatherv(const void *sendbuf, int64_t sendcount, Datatype *sendtype, void *recvbuf,
                         Counts recvcounts, Counts displs, Datatype &recvtype, Comm &comm) {
    if (Error error = check_sides(comm, {sendbuf, sendcount, sendtype},
                                  own_block(comm, recvbuf, recvcounts, displs, &recvtype)))
        return error;
    return run(comm, "MPI_Allgatherv", abi::undefined, plan_allgatherv,
               own_buffer(sendbuf, sendcount, sendtype), uneven(recvbuf, recvcounts, displs, &recvtype));
}

Error lanyard_alltoall(const void *sendbuf, int64_t sendcount, Datatype *sendtype, void *recvbuf,
                       int64_t recvcount, Datatype &recvtype, Comm &comm) {
    if (Error error = check_sides(comm, blocks_of_all(comm, sendbuf, sendcount, sendtype),
                                  blocks_of_all(comm, recvbuf, recvcount, &recvtype)))
        return error;
    return run(comm, "MPI_Alltoall", abi::undefined, plan_alltoall, own_buffer(sendbuf, sendcount, sendtype),
               buffer_of(recvbuf, recvcount, &recvtype));
}

Error lanyard_alltoallv(const void *sendbuf, Counts sendcounts, Counts sdispls, Datatype *sendtype,
                        void *recvbuf, Counts recvcounts, Counts rdispls, Datatype &recvtype, Comm &comm) {
    if (Error error = check_sides(comm, own_block(comm, sendbuf, sendcounts, sdispls, sendtype),
                                  own_block(comm, recvbuf, recvcounts, rdispls, &recvtype)))
        return error;
    return run(comm, "MPI_Alltoallv", abi::undefined, plan_alltoallv,
               uneven(sendbuf, sendcounts, sdispls, sendtype),
               uneven(recvbuf, recvcounts, rdispls, &recvtype));
}

Error lanyard_alltoallw(const void *sendbuf, Counts sendcounts, Counts sdispls, Datatype *const *sendtypes,
                        void *recvbuf, Counts recvcounts, Counts rdispls, Datatype *const *recvtypes,
                        Comm &comm) {
    if (Error error = check_sides(comm, own_block(comm, sendbuf, sendcounts, sdispls, sendtypes),
                                  own_block(comm, recvbuf, recvcounts, rdispls, recvtypes)))
        return error;
    return run(comm, "MPI_Alltoallw", abi::undefined, plan_alltoallw,
               typed(sendbuf, sendcounts, sdispls, sendtypes),
               typed(recvbuf, recvcounts, rdispls, recvtypes));
}

}  // extern "C"

}  // namespace lanyard
