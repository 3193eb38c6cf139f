// Defines the typed functions (types.h) of partitioned communication (MPI-5.0 chapter 4). A request is a
// partitioned send or receive if it has the table of actions for that kind. Any thread; calls on the same
// request are restricted as in the standard.
// Tested by: tests/mpi/partitioned/partitioned.cc, tests/mpi/partitioned/threads.cc.
#include "p2p/partitioned.h"

#include <memory>
#include <string>

#include "api/generated/core.h"
#include "api/transfers.h"
#include "runtime/runtime.h"

namespace lanyard {

namespace {

PartitionedSend &send_of(Request &request) { return *static_cast<PartitionedSend *>(request.state); }
PartitionedReceive &receive_of(Request &request) { return *static_cast<PartitionedReceive *>(request.state); }

Error start_send(Request &request) {
    send_of(request).start();
    return {};
}
Error start_receive(Request &request) {
    receive_of(request).start();
    return {};
}

// Called by MPI_Request_free. If a round of the operation is still under way then, called at the end of that
// round instead. The caller owns the engine.
void end_send(Request &request) { PartitionedSend::end(&send_of(request)); }
void end_receive(Request &request) { PartitionedReceive::end(&receive_of(request)); }

Error describe_received(Request &request) {
    request.other.status.set_count(receive_of(request).received());
    return {};
}

constexpr RequestActions send_actions{.release = end_send, .start = start_send};
constexpr RequestActions receive_actions{.picked_up = describe_received,
                                         .release = end_receive,
                                         .start = start_receive,
                                         .query = describe_received};

Error check_partitions(int partitions, int64_t count, const Datatype &datatype) {
    if (partitions < 0)
        return Error(ErrorClass::arg,
                     "partitions is " + std::to_string(partitions) + "; it must not be negative");
    if (count < 0)
        return Error(ErrorClass::count, "count is " + std::to_string(count) + "; it must not be negative");
    __int128 bytes = static_cast<__int128>(count) * datatype.size;
    if (bytes <= INT64_MAX && bytes * partitions <= INT64_MAX) return {};
    return Error(ErrorClass::count, "all partitions together would have more than 2^63 bytes");
}

// set_operation() completes the request.
Request *new_partitioned_request(Comm &comm, Datatype &datatype, const char *operation) {
    Request *made = new_request(&comm);
    hold_datatype(*made, datatype);
    made->persistent = true;
    made->active = false;
    made->other.name = operation;
    return made;
}

// Gives the new request its operation. If there is none (nullptr), there was no memory for it, and the
// request ends.
Error set_operation(Request &made, void *operation, const RequestActions &actions, int partitions) {
    if (!operation) {
        release_request(&made);
        return Error(ErrorClass::no_mem,
                     "there is no memory left for " + std::to_string(partitions) +
                         " partitions; use fewer and longer ones");
    }
    made.actions = &actions;
    made.state = operation;
    return {};
}

PartitionedEnds ends_of(const Comm &comm, int other, int tag) {
    return {comm.context | partitioned_bit, other == abi::proc_null ? no_peer : comm.peers[other], comm.rank,
            other, tag};
}

Partitions partitions_of(Request &request, const void *buf, int partitions, int64_t count,
                         const Datatype &datatype) {
    Buffer one{static_cast<std::byte *>(const_cast<void *>(buf)), count, &datatype};
    return {one, partitions, &request.completion(), &request.operation.error};
}

// Finds the send whose partitions `low` to `high` are to be marked ready.
Error find_send(Request &request, int low, int high, PartitionedSend *&found) {
    if (request.actions != &send_actions)
        return about(request, {ErrorClass::request, "the request is not a partitioned send"});
    if (!request.active) return about(request, {ErrorClass::request, "the partitioned send was not started"});
    found = &send_of(request);
    int outside = low < 0 || low >= found->count() ? low : high;
    if (outside < 0 || outside >= found->count())
        return about(request, {ErrorClass::arg, "partition " + std::to_string(outside) +
                                                    " does not exist; the request has " +
                                                    std::to_string(found->count()) + " partitions"});
    if (low > high)
        return about(request, {ErrorClass::arg, "the range of partitions begins with " + std::to_string(low) +
                                                    " and ends before it, with " + std::to_string(high)});
    return {};
}

Error make_ready(Request &request, int low, int high) {
    PartitionedSend *send = nullptr;
    if (Error error = find_send(request, low, high, send)) return error;
    Error error = send->ready(low, high);
    return error ? about(request, error) : error;
}

}  // namespace

Error lanyard_psend_init(const void *buf, int partitions, int64_t count, Datatype &datatype, int dest,
                         int tag, Comm &comm, Info *, Request **request) {
    if (Error error = check_partitions(partitions, count, datatype)) return error;
    Request *made = new_partitioned_request(comm, datatype, "MPI_Psend_init");
    EngineGuard guard(comm.universe->engine);
    PartitionedSend *send = PartitionedSend::make(comm.universe->messenger, ends_of(comm, dest, tag),
                                                  partitions_of(*made, buf, partitions, count, datatype));
    if (Error error = set_operation(*made, send, send_actions, partitions)) return error;
    *request = made;
    return {};
}

Error lanyard_precv_init(void *buf, int partitions, int64_t count, Datatype &datatype, int dest, int tag,
                         Comm &comm, Info *, Request **request) {
    if (dest == abi::any_source)
        return Error(ErrorClass::rank,
                     "a partitioned receive must name its sender; MPI_ANY_SOURCE is not allowed");
    if (Error error = check_partitions(partitions, count, datatype)) return error;
    Request *made = new_partitioned_request(comm, datatype, "MPI_Precv_init");
    bool from_nobody = dest == abi::proc_null;
    made->other.status.source = dest;
    made->other.status.tag = from_nobody ? abi::any_tag : tag;
    EngineGuard guard(comm.universe->engine);
    PartitionedReceive *receive = PartitionedReceive::make(
        comm.universe->messenger, ends_of(comm, dest, tag),
        partitions_of(*made, buf, partitions, count, datatype), comm.universe->new_context());
    if (Error error = set_operation(*made, receive, receive_actions, partitions)) return error;
    *request = made;
    return {};
}

Error lanyard_pready(int partition, Request &request) { return make_ready(request, partition, partition); }

Error lanyard_pready_range(int partition_low, int partition_high, Request &request) {
    return make_ready(request, partition_low, partition_high);
}

Error lanyard_pready_list(int length, const int *array_of_partitions, Request &request) {
    PartitionedSend *send = nullptr;
    for (int i = 0; i < length; ++i)
        if (Error error = find_send(request, array_of_partitions[i], array_of_partitions[i], send))
            return error;
    for (int i = 0, next; i < length; i = next) {  // marks each run of consecutive partitions with one call
        for (next = i + 1; next < length && array_of_partitions[next] == array_of_partitions[next - 1] + 1;)
            ++next;
        if (Error error = make_ready(request, array_of_partitions[i], array_of_partitions[next - 1]))
            return error;
    }
    return {};
}

Error lanyard_parrived(Request *request, int partition, int *flag) {
    *flag = 1;
    if (!request) return {};
    if (request->actions != &receive_actions)
        return about(*request, {ErrorClass::request, "the request is not a partitioned receive"});
    PartitionedReceive &receive = receive_of(*request);
    if (partition < 0 || partition >= receive.count())
        return about(*request, {ErrorClass::arg, "partition " + std::to_string(partition) +
                                                     " does not exist; the request has " +
                                                     std::to_string(receive.count()) + " partitions"});
    if (!request->active || receive.arrived(partition)) return {};
    {
        EngineGuard guard(*runtime()->engine);
        runtime()->engine->turn_for_test();
    }
    *flag = receive.arrived(partition);
    return {};
}

}  // namespace lanyard
