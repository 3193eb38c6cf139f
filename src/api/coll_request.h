// Collective operations with requests: nonblocking ones (icoll.cc) and persistent ones (coll_init.cc). They
// use the same plans and the same executor as the blocking ones. begin_collective takes the engine;
// new_collective_request needs its owner.
#pragma once

#include <initializer_list>
#include <vector>

#include "api/coll_plans.h"
#include "api/request.h"

namespace lanyard {

// What must outlive the operation, although the program may free its handles earlier.
struct HeldByCollective {
    Collective *collective = nullptr;
    std::vector<Datatype *> datatypes;
    Op *op = nullptr;
};

// The objects that a call passes to be held. A datatype that is absent (MPI_IN_PLACE, not the root) is
// nullptr.
struct Uses {
    std::initializer_list<Datatype *> datatypes;
    Op *op = nullptr;
    // of the w form: one for each rank or neighbour
    Datatype *const *list = nullptr, *const *second_list = nullptr;
    int list_length = -1, second_length = -1;                        // -1: one for each rank
};

// [owner] Creates the request of a collective. Unless it is persistent, the collective has been started and
// may be complete.
Request *new_collective_request(Comm &comm, const Uses &uses, Collective &collective, bool persistent);

// Plans the collective, starts it unless it is persistent, and makes the request. The request comes last,
// because other ranks wait for what the start sends.
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
