// Creates the requests of nonblocking and persistent collective operations, for icoll.cc, coll_init.cc and
// neighbors.cc. These operations use the same plans and the same executor as blocking operations.
// begin_collective() takes the engine. The caller of new_collective_request() must own the engine.
// Tested by: tests/mpi/coll/nonblocking.cc, tests/mpi/coll/persistent.cc.
#pragma once

#include <initializer_list>
#include <vector>

#include "api/coll_plans.h"
#include "api/request.h"

namespace lanyard {

// The objects that must exist until the request ends, although the program may free their handles earlier.
// Predefined objects are not listed.
struct HeldByCollective {
    Collective *collective = nullptr;  // nullptr once a nonblocking operation is complete
    std::vector<Datatype *> datatypes;
    Op *op = nullptr;
};

// The objects that the new request is to hold. A datatype is nullptr if the call has none on that side
// (MPI_IN_PLACE, or this rank is not the root).
struct Uses {
    std::initializer_list<Datatype *> datatypes;
    Op *op = nullptr;
    // the datatypes of the w form, one for each rank or neighbour
    Datatype *const *list = nullptr, *const *second_list = nullptr;
    // -1: as many as the communicator has ranks
    int list_length = -1, second_length = -1;
};

// [owner] Creates the request of a collective. Unless it is persistent, the collective has been started and
// may be complete.
Request *new_collective_request(Comm &comm, const Uses &uses, Collective &collective, bool persistent);

// Plans the collective, starts it unless it is persistent, and creates the request. The request is
// created last, because other ranks wait for what the start sends.
template <class... Parameters, class... Arguments>
Error begin_collective(Comm &comm, const Uses &uses, bool persistent, Request **request,
                       void (*plan)(Executor &, Team &, Plan &, Parameters...),
                       const Arguments &...arguments) {
    Executor &executor = *comm.universe->executor;
    EngineGuard guard(executor.engine());
    Collective &collective = *executor.take();
    if (persistent) {
        if (Error error = plan_persistent(executor, comm.team, collective, plan, arguments...)) {
            executor.give_back(&collective);
            return error;
        }
    } else {
        plan(executor, comm.team, collective.plan, arguments...);
        executor.start(collective, comm.team);
    }
    *request = new_collective_request(comm, uses, collective, persistent);
    return {};
}

}  // namespace lanyard
