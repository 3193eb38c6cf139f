// A blocking collective operation: planned, started, and waited for with a wait record. Used by the typed functions of
// coll.cc and neighbors.cc. Any thread; the engine is taken for the whole call.
#pragma once

#include "api/coll_plans.h"
#include "api/runtime.h"

namespace lanyard::plans {

// `root`: what the wait record names, or abi::undefined.
template <class... Parameters, class... Arguments>
Error run(Comm &comm, const char *call, int root, void (*plan)(Executor &, Team &, Collective &, Parameters...),
          const Arguments &...arguments) {
    Executor &executor = *comm.universe->executor;
    EngineGuard guard(executor.engine());
    Collective *collective = executor.take();
    plan(executor, comm.team, *collective, arguments...);
    if (collective->pass(comm.team)) {
        executor.give_back_passed(collective);
        executor.engine().glance();
        return {};
    }
    executor.start(*collective, comm.team);
    executor.look_for_posts(*collective);
    if (!collective->completion.complete()) {
        Waiting waiting(call, tool::WaitFor::ranks, &comm, root, abi::undefined, collective->number());
        executor.engine().wait_owned(collective->completion);
    }
    return executor.finish(collective);
}

}  // namespace lanyard::plans
