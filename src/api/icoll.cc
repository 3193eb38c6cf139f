// Defines the typed functions (types.h) of nonblocking collective operations (MPI-5.0 6.12). Each function
// plans and starts its operation as the blocking form in coll.cc does. The request completes when the
// schedule is complete. Any thread; the engine is taken for the call.
// Tested by: tests/mpi/coll/nonblocking.cc, tests/mpi/coll/forms.cc.
#include "api/coll_request.h"
#include "api/generated/core.h"

namespace lanyard {

using namespace plans;

extern "C" {

Error lanyard_ibarrier(Comm &comm, Request **request) {
    return begin_collective(comm, {}, false, request, plan_barrier);
}

Error lanyard_ibcast(void *buffer, int64_t count, Datatype &datatype, int root, Comm &comm,
                     Request **request) {
    return begin_collective(comm, {{&datatype}}, false, request, plan_bcast,
                            buffer_of(buffer, count, &datatype), root);
}

Error lanyard_ireduce(const void *sendbuf, void *recvbuf, int64_t count, Datatype &datatype, Op &op, int root,
                      Comm &comm, Request **request) {
    if (Error error = check_reduce(comm, sendbuf, recvbuf, count, datatype, op, root)) return error;
    return begin_collective(comm, {{&datatype}, &op}, false, request, plan_reduce,
                            reduction(sendbuf, recvbuf, count, datatype, op), root);
}

Error lanyard_iallreduce(const void *sendbuf, void *recvbuf, int64_t count, Datatype &datatype, Op &op,
                         Comm &comm, Request **request) {
    if (Error error = check_reduction(comm, sendbuf, recvbuf, count, datatype, op)) return error;
    return begin_collective(comm, {{&datatype}, &op}, false, request, plan_allreduce,
                            reduction(sendbuf, recvbuf, count, datatype, op));
}

Error lanyard_iscan(const void *sendbuf, void *recvbuf, int64_t count, Datatype &datatype, Op &op, Comm &comm,
                    Request **request) {
    if (Error error = check_scan(comm, sendbuf, recvbuf, count, datatype, op)) return error;
    return begin_collective(comm, {{&datatype}, &op}, false, request, plan_scan,
                            reduction(sendbuf, recvbuf, count, datatype, op));
}

Error lanyard_iexscan(const void *sendbuf, void *recvbuf, int64_t count, Datatype &datatype, Op &op,
                      Comm &comm, Request **request) {
    if (Error error = check_scan(comm, sendbuf, recvbuf, count, datatype, op)) return error;
    return begin_collective(comm, {{&datatype}, &op}, false, request, plan_exscan,
                            reduction(sendbuf, recvbuf, count, datatype, op));
}

Error lanyard_ireduce_scatter_block(const void *sendbuf, void *recvbuf, int64_t recvcount, Datatype &datatype,
                                    Op &op, Comm &comm, Request **request) {
    if (Error error = check_reduce_scatter(comm, sendbuf, recvbuf, recvcount, datatype, op)) return error;
    return begin_collective(comm, {{&datatype}, &op}, false, request, plan_reduce_scatter_block,
                            reduction(sendbuf, recvbuf, recvcount, datatype, op));
}

Error lanyard_ireduce_scatter(const void *sendbuf, void *recvbuf, Counts recvcounts, Datatype &datatype,
                              Op &op, Comm &comm, Request **request) {
    if (Error error = check_reduction(comm, sendbuf, recvbuf, recvcounts[comm.rank], datatype, op))
        return error;
    return begin_collective(comm, {{&datatype}, &op}, false, request, plan_reduce_scatter,
                            reduction(sendbuf, recvbuf, 0, datatype, op), numbers(recvcounts));
}

Error lanyard_igather(const void *sendbuf, int64_t sendcount, Datatype *sendtype, void *recvbuf,
                      int64_t recvcount, Datatype *recvtype, int root, Comm &comm, Request **request) {
    if (Error error = check_sides(comm, {sendbuf, sendcount, sendtype},
                                  blocks_of_all(comm, recvbuf, recvcount, recvtype)))
        return error;
    return begin_collective(
        comm, {{in_place(sendbuf) ? nullptr : sendtype, at_root(root, comm) ? recvtype : nullptr}}, false,
        request, plan_gather, own_buffer(sendbuf, sendcount, sendtype),
        buffer_of(recvbuf, recvcount, recvtype), root);
}

Error lanyard_igatherv(const void *sendbuf, int64_t sendcount, Datatype *sendtype, void *recvbuf,
                       Counts recvcounts, Counts displs, Datatype *recvtype, int root, Comm &comm,
                       Request **request) {
    if (Error error = check_sides(comm, {sendbuf, sendcount, sendtype},
                                  own_block(comm, recvbuf, recvcounts, displs, recvtype)))
        return error;
    return begin_collective(
        comm, {{in_place(sendbuf) ? nullptr : sendtype, at_root(root, comm) ? recvtype : nullptr}}, false,
        request, plan_gatherv, own_buffer(sendbuf, sendcount, sendtype),
        uneven(recvbuf, recvcounts, displs, recvtype), root);
}

Error lanyard_iscatter(const void *sendbuf, int64_t sendcount, Datatype *sendtype, void *recvbuf,
                       int64_t recvcount, Datatype *recvtype, int root, Comm &comm, Request **request) {
    if (Error error = check_sides(comm, blocks_of_all(comm, sendbuf, sendcount, sendtype),
                                  {recvbuf, recvcount, recvtype}, Instead::recvbuf))
        return error;
    return begin_collective(
        comm, {{at_root(root, comm) ? sendtype : nullptr, in_place(recvbuf) ? nullptr : recvtype}}, false,
        request, plan_scatter, buffer_of(sendbuf, sendcount, sendtype),
        own_buffer(recvbuf, recvcount, recvtype), root);
}

Error lanyard_iscatterv(const void *sendbuf, Counts sendcounts, Counts displs, Datatype *sendtype,
                        void *recvbuf, int64_t recvcount, Datatype *recvtype, int root, Comm &comm,
                        Request **request) {
    if (Error error = check_sides(comm, own_block(comm, sendbuf, sendcounts, displs, sendtype),
                                  {recvbuf, recvcount, recvtype}, Instead::recvbuf))
        return error;
    return begin_collective(
        comm, {{at_root(root, comm) ? sendtype : nullptr, in_place(recvbuf) ? nullptr : recvtype}}, false,
        request, plan_scatterv, uneven(sendbuf, sendcounts, displs, sendtype),
        own_buffer(recvbuf, recvcount, recvtype), root);
}

Error lanyard_iallgather(const void *sendbuf, int64_t sendcount, Datatype *sendtype, void *recvbuf,
                         int64_t recvcount, Datatype &recvtype, Comm &comm, Request **request) {
    if (Error error = check_sides(comm, {sendbuf, sendcount, sendtype},
                                  blocks_of_all(comm, recvbuf, recvcount, &recvtype)))
        return error;
    return begin_collective(comm, {{in_place(sendbuf) ? nullptr : sendtype, &recvtype}}, false, request,
                            plan_allgather, own_buffer(sendbuf, sendcount, sendtype),
                            buffer_of(recvbuf, recvcount, &recvtype));
}

Error lanyard_iallgatherv(const void *sendbuf, int64_t sendcount, Datatype *sendtype, void *recvbuf,
                          Counts recvcounts, Counts displs, Datatype &recvtype, Comm &comm,
                          Request **request) {
    if (Error error = check_sides(comm, {sendbuf, sendcount, sendtype},
                                  own_block(comm, recvbuf, recvcounts, displs, &recvtype)))
        return error;
    return begin_collective(comm, {{in_place(sendbuf) ? nullptr : sendtype, &recvtype}}, false, request,
                            plan_allgatherv, own_buffer(sendbuf, sendcount, sendtype),
                            uneven(recvbuf, recvcounts, displs, &recvtype));
}

Error lanyard_ialltoall(const void *sendbuf, int64_t sendcount, Datatype *sendtype, void *recvbuf,
                        int64_t recvcount, Datatype &recvtype, Comm &comm, Request **request) {
    if (Error error = check_sides(comm, blocks_of_all(comm, sendbuf, sendcount, sendtype),
                                  blocks_of_all(comm, recvbuf, recvcount, &recvtype)))
        return error;
    return begin_collective(comm, {{in_place(sendbuf) ? nullptr : sendtype, &recvtype}}, false, request,
                            plan_alltoall, own_buffer(sendbuf, sendcount, sendtype),
                            buffer_of(recvbuf, recvcount, &recvtype));
}

Error lanyard_ialltoallv(const void *sendbuf, Counts sendcounts, Counts sdispls, Datatype *sendtype,
                         void *recvbuf, Counts recvcounts, Counts rdispls, Datatype &recvtype, Comm &comm,
                         Request **request) {
    if (Error error = check_sides(comm, own_block(comm, sendbuf, sendcounts, sdispls, sendtype),
                                  own_block(comm, recvbuf, recvcounts, rdispls, &recvtype)))
        return error;
    return begin_collective(comm, {{in_place(sendbuf) ? nullptr : sendtype, &recvtype}}, false, request,
                            plan_alltoallv, uneven(sendbuf, sendcounts, sdispls, sendtype),
                            uneven(recvbuf, recvcounts, rdispls, &recvtype));
}

Error lanyard_ialltoallw(const void *sendbuf, Counts sendcounts, Counts sdispls, Datatype *const *sendtypes,
                         void *recvbuf, Counts recvcounts, Counts rdispls, Datatype *const *recvtypes,
                         Comm &comm, Request **request) {
    if (Error error = check_sides(comm, own_block(comm, sendbuf, sendcounts, sdispls, sendtypes),
                                  own_block(comm, recvbuf, recvcounts, rdispls, recvtypes)))
        return error;
    return begin_collective(comm, {{}, nullptr, in_place(sendbuf) ? nullptr : sendtypes, recvtypes}, false,
                            request, plan_alltoallw, typed(sendbuf, sendcounts, sdispls, sendtypes),
                            typed(recvbuf, recvcounts, rdispls, recvtypes));
}

}  // extern "C"

}  // namespace lanyard
