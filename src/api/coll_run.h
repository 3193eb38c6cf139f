// Runs a blocking collective operation: plans it, starts it, states in the wait record that it waits, and
// waits. The typed functions of coll.cc and neighbors.cc use run(). Any thread may call it; the engine is
// taken for the whole call.
// Tested by: tests/mpi/coll/forms.cc, tests/mpi/coll/sizes.cc.
#pragma once

#include "api/coll_plans.h"
#include "runtime/runtime.h"
#include "runtime/waiting.h"

namespace lanyard::plans {

// Starts a collective that Collective::pass() could not complete at once, and waits for it. `root`: the
// rank that the wait record names, or abi::undefined.
[[gnu::noinline]] inline Error start_and_wait(Comm &comm, const char *call, int root,
                                              Collective &collective) {
    Executor &executor = *comm.universe->executor;
    if (collective.pass_soon(comm.team)) {
        executor.give_back_passed(&collective);
        executor.engine().glance();
        return {};
    }
    executor.start(collective, comm.team);
    executor.look_for_posts(collective);
    if (!collective.completion.complete()) {
        Waiting waiting(call, tool::WaitFor::ranks, &comm, root, abi::undefined, collective.number());
        executor.engine().wait_owned(collective.completion);
    }
    return executor.finish(&collective);
}

template <class... Parameters, class... Arguments>
[[gnu::always_inline]] inline Error run(Comm &comm, const char *call, int root,
                                        void (*plan)(Executor &, Team &, Plan &, Parameters...),
                                        const Arguments &...arguments) {
    Executor &executor = *comm.universe->executor;
    EngineGuard guard(executor.engine());
    Collective *collective = executor.take();
    plan(executor, comm.team, collective->plan, arguments...);
    if (!collective->pass(comm.team)) return start_and_wait(comm, call, root, *collective);
    bool empty = collective->plan.is_kept_empty();
    executor.give_back_passed(collective);
    if (!empty) executor.engine().glance();
    return {};
}

}  // namespace lanyard::plans
