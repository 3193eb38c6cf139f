// Collective operations behind requests: nonblocking ones (icoll.cc) and persistent ones (coll_init.cc). The same plans as
// the blocking ones, the same executor; only who waits differs. Called with the engine taken, except where said.
#pragma once

#include <initializer_list>
#include <vector>

#include "api/coll_plans.h"
#include "api/request.h"

namespace lanyard {

// What must outlive the operation, though the program may free its handles.
struct HeldByCollective {
    Collective *collective = nullptr;
    std::vector<Datatype *> datatypes;
    Op *op = nullptr;
};

// What a call hands over to be held. Absent datatypes (MPI_IN_PLACE, not the root) are nullptr.
struct Uses {
    std::initializer_list<Datatype *> datatypes;
    Op *op = nullptr;
    Datatype *const *list = nullptr, *const *second_list = nullptr;  // of the w form: one for each rank, or neighbour
    int list_length = -1, second_length = -1;                        // -1: as many as ranks
};

// The request of a collective, which has been started unless it is persistent, and maybe completed.
Request *new_collective_request(Comm &comm, const Uses &uses, Collective &collective, bool persistent);

// Plans, starts unless it is persistent, and makes the request: last, as other ranks wait for what starting sends.
template <class... Parameters, class... Arguments>
Error begin_collective(Comm &comm, const Uses &uses, bool persistent, Request **request,
                       void (*plan)(Executor &, Team &, Plan &, Parameters...), const Arguments &...arguments) {
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
