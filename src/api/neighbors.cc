// Defines the typed functions (types.h) of neighbourhood collectives, blocking, nonblocking and persistent
// (MPI-5.0 sections 8.6 to 8.8). Any thread.
// Tested by: tests/mpi/topology/neighbors.cc, tests/mpi/random/neighbors.cc.
#include "coll/neighbors.h"

#include "api/check.h"
#include "api/coll_request.h"
#include "api/coll_run.h"
#include "api/generated/core.h"
#include "comm/topology.h"

namespace lanyard {

using namespace plans;

namespace {

Error check_topology(const Comm &comm) {
    if (!comm.topology)
        return {ErrorClass::topology,
                "the communicator has no topology, so nobody is a neighbour; make one with MPI_Cart_create, "
                "MPI_Graph_create or MPI_Dist_graph_create_adjacent"};
    if (comm.topology->allows_neighbor_calls) return {};
    return {
        ErrorClass::topology,
        "the graph of the communicator is not symmetric: somewhere a rank names a neighbour more often than "
        "that one names it; MPI_Dist_graph_create_adjacent makes graphs with edges in one direction"};
}

const Neighborhood &around(const Comm &comm) { return comm.topology->neighborhood; }

// Checks the topology. Also checks that the blocks sent and the blocks received do not overlap in memory.
Error check_even(const Comm &comm, const Side &sent, const Side &received) {
    Error error = check_topology(comm);
    return error ? error : check_apart(sent, received, Instead::none);
}
// The blocks that this rank sends to all its neighbours, and (below) those that it receives from
// them.
Side to_all(const Comm &comm, const void *address, int64_t count, const Datatype &type) {
    return {address, count, &type, comm.topology ? neighbors(comm).out : 0};
}
Side from_all(const Comm &comm, const void *address, int64_t count, const Datatype &type) {
    return {address, count, &type, comm.topology ? neighbors(comm).in : 0};
}

// The datatypes of the w form, one for each neighbour.
Uses uses_of(const Comm &comm, Datatype *const *sendtypes, Datatype *const *recvtypes) {
    return {{},
            nullptr,
            sendtypes,
            recvtypes,
            static_cast<int>(around(comm).destinations.size()),
            static_cast<int>(around(comm).sources.size())};
}

}  // namespace

extern "C" {

Neighbors lanyard_neighbors(const Comm &comm) {
    if (!comm.topology) return {};
    return {static_cast<int>(around(comm).sources.size()),
            static_cast<int>(around(comm).destinations.size())};
}

Error lanyard_neighbor_allgather(const void *sendbuf, int64_t sendcount, Datatype &sendtype, void *recvbuf,
                                 int64_t recvcount, Datatype &recvtype, Comm &comm) {
    if (Error error =
            check_even(comm, {sendbuf, sendcount, &sendtype}, from_all(comm, recvbuf, recvcount, recvtype)))
        return error;
    return run(comm, "MPI_Neighbor_allgather", abi::undefined, plan_neighbor_allgather, around(comm),
               buffer_of(sendbuf, sendcount, &sendtype), buffer_of(recvbuf, recvcount, &recvtype));
}

Error lanyard_neighbor_allgatherv(const void *sendbuf, int64_t sendcount, Datatype &sendtype, void *recvbuf,
                                  Counts recvcounts, Counts displs, Datatype &recvtype, Comm &comm) {
    if (Error error = check_topology(comm)) return error;
    return run(comm, "MPI_Neighbor_allgatherv", abi::undefined, plan_neighbor_allgatherv, around(comm),
               buffer_of(sendbuf, sendcount, &sendtype), uneven(recvbuf, recvcounts, displs, &recvtype));
}

Error lanyard_neighbor_alltoall(const void *sendbuf, int64_t sendcount, Datatype &sendtype, void *recvbuf,
                                int64_t recvcount, Datatype &recvtype, Comm &comm) {
    if (Error error = check_even(comm, to_all(comm, sendbuf, sendcount, sendtype),
                                 from_all(comm, recvbuf, recvcount, recvtype)))
        return error;
    return run(comm, "MPI_Neighbor_alltoall", abi::undefined, plan_neighbor_alltoall, around(comm),
               buffer_of(sendbuf, sendcount, &sendtype), buffer_of(recvbuf, recvcount, &recvtype));
}

Error lanyard_neighbor_alltoallv(const void *sendbuf, Counts sendcounts, Counts sdispls, Datatype &sendtype,
                                 void *recvbuf, Counts recvcounts, Counts rdispls, Datatype &recvtype,
                                 Comm &comm) {
    if (Error error = check_topology(comm)) return error;
    return run(comm, "MPI_Neighbor_alltoallv", abi::undefined, plan_neighbor_alltoallv, around(comm),
               uneven(sendbuf, sendcounts, sdispls, &sendtype),
               uneven(recvbuf, recvcounts, rdispls, &recvtype));
}

Error lanyard_neighbor_alltoallw(const void *sendbuf, Counts sendcounts, Counts sdispls,
                                 Datatype *const *sendtypes, void *recvbuf, Counts recvcounts, Counts rdispls,
                                 Datatype *const *recvtypes, Comm &comm) {
    if (Error error = check_topology(comm)) return error;
    return run(comm, "MPI_Neighbor_alltoallw", abi::undefined, plan_neighbor_alltoallw, around(comm),
               typed(sendbuf, sendcounts, sdispls, sendtypes),
               typed(recvbuf, recvcounts, rdispls, recvtypes));
}

Error lanyard_ineighbor_allgather(const void *sendbuf, int64_t sendcount, Datatype &sendtype, void *recvbuf,
                                  int64_t recvcount, Datatype &recvtype, Comm &comm, Request **request) {
    if (Error error =
            check_even(comm, {sendbuf, sendcount, &sendtype}, from_all(comm, recvbuf, recvcount, recvtype)))
        return error;
    return begin_collective(comm, {{&sendtype, &recvtype}}, false, request, plan_neighbor_allgather,
                            around(comm), buffer_of(sendbuf, sendcount, &sendtype),
                            buffer_of(recvbuf, recvcount, &recvtype));
}

Error lanyard_ineighbor_allgatherv(const void *sendbuf, int64_t sendcount, Datatype &sendtype, void *recvbuf,
                                   Counts recvcounts, Counts displs, Datatype &recvtype, Comm &comm,
                                   Request **request) {
    if (Error error = check_topology(comm)) return error;
    return begin_collective(comm, {{&sendtype, &recvtype}}, false, request, plan_neighbor_allgatherv,
                            around(comm), buffer_of(sendbuf, sendcount, &sendtype),
                            uneven(recvbuf, recvcounts, displs, &recvtype));
}

Error lanyard_ineighbor_alltoall(const void *sendbuf, int64_t sendcount, Datatype &sendtype, void *recvbuf,
                                 int64_t recvcount, Datatype &recvtype, Comm &comm, Request **request) {
    if (Error error = check_even(comm, to_all(comm, sendbuf, sendcount, sendtype),
                                 from_all(comm, recvbuf, recvcount, recvtype)))
        return error;
    return begin_collective(comm, {{&sendtype, &recvtype}}, false, request, plan_neighbor_alltoall,
                            around(comm), buffer_of(sendbuf, sendcount, &sendtype),
                            buffer_of(recvbuf, recvcount, &recvtype));
}

Error lanyard_ineighbor_alltoallv(const void *sendbuf, Counts sendcounts, Counts sdispls, Datatype &sendtype,
                                  void *recvbuf, Counts recvcounts, Counts rdispls, Datatype &recvtype,
                                  Comm &comm, Request **request) {
    if (Error error = check_topology(comm)) return error;
    return begin_collective(comm, {{&sendtype, &recvtype}}, false, request, plan_neighbor_alltoallv,
                            around(comm), uneven(sendbuf, sendcounts, sdispls, &sendtype),
                            uneven(recvbuf, recvcounts, rdispls, &recvtype));
}

Error lanyard_ineighbor_alltoallw(const void *sendbuf, Counts sendcounts, Counts sdispls,
                                  Datatype *const *sendtypes, void *recvbuf, Counts recvcounts,
                                  Counts rdispls, Datatype *const *recvtypes, Comm &comm, Request **request) {
    if (Error error = check_topology(comm)) return error;
    return begin_collective(
        comm, uses_of(comm, sendtypes, recvtypes), false, request, plan_neighbor_alltoallw, around(comm),
        typed(sendbuf, sendcounts, sdispls, sendtypes), typed(recvbuf, recvcounts, rdispls, recvtypes));
}

Error lanyard_neighbor_allgather_init(const void *sendbuf, int64_t sendcount, Datatype &sendtype,
                                      void *recvbuf, int64_t recvcount, Datatype &recvtype, Comm &comm,
                                      Info *, Request **request) {
    if (Error error =
            check_even(comm, {sendbuf, sendcount, &sendtype}, from_all(comm, recvbuf, recvcount, recvtype)))
        return error;
    return begin_collective(comm, {{&sendtype, &recvtype}}, true, request, plan_neighbor_allgather,
                            around(comm), buffer_of(sendbuf, sendcount, &sendtype),
                            buffer_of(recvbuf, recvcount, &recvtype));
}

Error lanyard_neighbor_allgatherv_init(const void *sendbuf, int64_t sendcount, Datatype &sendtype,
                                       void *recvbuf, Counts recvcounts, Counts displs, Datatype &recvtype,
                                       Comm &comm, Info *, Request **request) {
    if (Error error = check_topology(comm)) return error;
    return begin_collective(comm, {{&sendtype, &recvtype}}, true, request, plan_neighbor_allgatherv,
                            around(comm), buffer_of(sendbuf, sendcount, &sendtype),
                            uneven(recvbuf, recvcounts, displs, &recvtype));
}

Error lanyard_neighbor_alltoall_init(const void *sendbuf, int64_t sendcount, Datatype &sendtype,
                                     void *recvbuf, int64_t recvcount, Datatype &recvtype, Comm &comm, Info *,
                                     Request **request) {
    if (Error error = check_even(comm, to_all(comm, sendbuf, sendcount, sendtype),
                                 from_all(comm, recvbuf, recvcount, recvtype)))
        return error;
    return begin_collective(comm, {{&sendtype, &recvtype}}, true, request, plan_neighbor_alltoall,
                            around(comm), buffer_of(sendbuf, sendcount, &sendtype),
                            buffer_of(recvbuf, recvcount, &recvtype));
}

Error lanyard_neighbor_alltoallv_init(const void *sendbuf, Counts sendcounts, Counts sdispls,
                                      Datatype &sendtype, void *recvbuf, Counts recvcounts, Counts rdispls,
                                      Datatype &recvtype, Comm &comm, Info *, Request **request) {
    if (Error error = check_topology(comm)) return error;
    return begin_collective(comm, {{&sendtype, &recvtype}}, true, request, plan_neighbor_alltoallv,
                            around(comm), uneven(sendbuf, sendcounts, sdispls, &sendtype),
                            uneven(recvbuf, recvcounts, rdispls, &recvtype));
}

Error lanyard_neighbor_alltoallw_init(const void *sendbuf, Counts sendcounts, Counts sdispls,
                                      Datatype *const *sendtypes, void *recvbuf, Counts recvcounts,
                                      Counts rdispls, Datatype *const *recvtypes, Comm &comm, Info *,
                                      Request **request) {
    if (Error error = check_topology(comm)) return error;
    return begin_collective(comm, uses_of(comm, sendtypes, recvtypes), true, request, plan_neighbor_alltoallw,
                            around(comm), typed(sendbuf, sendcounts, sdispls, sendtypes),
                            typed(recvbuf, recvcounts, rdispls, recvtypes));
}

}  // extern "C"

}  // namespace lanyard
