// See activity.h.
#include "api/activity.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/handles.h"
#include "api/leftovers.h"
#include "api/predefined_handles.h"
#include "api/raise.h"
#include "api/state.h"
#include "base/race_checker.h"
#include "coll/collectives.h"
#include "comm/info.h"
#include "engine/helper.h"
#include "path/network_path.h"
#include "runtime/profiles.h"
#include "runtime/runtime.h"
#include "runtime/waiting.h"
#include "tool/event.h"

extern char **environ;

std::atomic<lanyard::ProcessState> lanyard_process_state{lanyard::ProcessState::before};

namespace lanyard {

namespace {

struct Activity {
    std::mutex lock;
    std::atomic<WorldState> world{WorldState::before};
    int sessions = 0;
    bool apart = false;  // this process has had a session since the last synchronisation of all processes, so
                         // it may have sent something
    bool left = false;   // this process has reported to the launcher that it may end
    bool threads = false;  // threads of a tool may call MPI beside the program's threads

    bool used() const { return world.load() == WorldState::active || sessions > 0; }
};

Activity &activity() {
    static auto &only = *new Activity;
    return only;
}

// Runs in the child after fork(). The child of a process that was started without a launcher, and that has no
// helper thread, may go on using MPI, because it needs no other process. Python's multiprocessing does this:
// its fork server creates each worker by fork(). The child of any other process cannot use MPI, because its
// rank is that of the parent, or because the child does not have the helper thread.
void forget_parent() {
    const Runtime &copied = *runtime();
    bool alone = copied.bootstrap->identity().launcher == "none" && !copied.helper;
    if (!alone) lanyard_process_state.store(ProcessState::forked);
}

// Stores the state for the front ends.
void publish_state() {
    Activity &now = activity();
    ProcessState unused =
        now.world.load() == WorldState::finalized ? ProcessState::finalized : ProcessState::before;
    bool timed = (runtime() && runtime()->profile) || race_checker::there();
    ProcessState used = timed ? ProcessState::timed : ProcessState::active;
    lanyard_process_state.store(now.used() ? used : unused);
}

Error make_first(const char *call) {
    if (Error error = make_runtime(call)) {
        if (!runtime()) return error;
        ErrorRecord record = error.take();  // the job cannot start, and no handler could change that
        Bootstrap &bootstrap = *runtime()->bootstrap;
        bootstrap.abort(1,
                        std::string("Lanyard: ") + call + " on rank " + std::to_string(bootstrap.rank()) +
                            ": " + record.sentence,
                        false);
        _exit(1);
    }
    fill_handle_tables(*runtime()->universe);
    pthread_atfork(nullptr, nullptr, forget_parent);
    return {};
}

Error resume(Runtime &paused, const char *call) {
    Activity &now = activity();
    paused.bootstrap->in_call(call);
    if (now.left && !paused.bootstrap->takes_back() && paused.network.path)
        return Error(ErrorClass::other,
                     "the launcher takes no process back after MPI_Finalize, and without it the others "
                     "cannot be met at exit; start the job with this library's mpirun");
    if (now.left && paused.bootstrap->takes_back())
        if (Error error = paused.bootstrap->rejoin()) return error;
    now.left = now.left && !paused.bootstrap->takes_back();
    if (paused.network.path) paused.network.path->leave(false);
    paused.engine->set_single_threaded(false);
    start_helper();
    paused.record->state = 1;
    return {};
}

// The common part of MPI_Init and MPI_Session_init.
Error begin(const char *call) {
    if (lanyard_process_state.load() == ProcessState::forked)
        return Error(
            ErrorClass::other,
            "this process was made by fork() and is not part of the MPI job; only its parent may call MPI");
    if (activity().used()) return {};
    if (Error error = runtime() ? resume(*runtime(), call) : make_first(call)) return error;
    tool::begin_events();
    return {};
}

bool all_sent(const void *subject) { return static_cast<const Messenger *>(subject)->nothing_pending(); }
bool all_acknowledged(const void *subject) {
    return static_cast<const Network *>(subject)->path->all_acknowledged();
}

// Makes progress until everything that this process has sent has left. Returns an error if messages to failed
// peers were perhaps lost and no call has reported this. The caller owns the engine.
Error finish_sending(Runtime &ending, const char *call, const Comm *comm) {
    if (!ending.messenger->nothing_pending()) {
        WaitParts parts;
        ending.messenger->each_offered([&](const SendOperation &send) {
            if (!(send.context & collective_bit)) parts.add(WaitPart::send, send.destination, send.tag);
        });
        Waiting waiting(call, comm, parts);
        ending.engine->wait_owned(Condition{all_sent, ending.messenger.get()});
    }
    return ending.messenger->untold_loss();
}

// Synchronises with all other processes. The caller owns the engine.
Error meet_all(Runtime &ending) {
    Error error = meet_others(ending);
    activity().apart = activity().sessions > 0;
    return error;
}

// Ends communication with the other processes. Waits until everything that this process has sent has
// arrived, and then keeps answering until the same is true for all processes. (The synchronisation at exit in
// end_at_exit() does not wait for arrival. A process that takes part in it has already finalised, so it does
// not need messages that are still on their way.) The caller owns the engine.
Error leave_network(Runtime &ending) {
    NetworkPath &path = *ending.network.path;
    ending.engine->wait_owned(Condition{all_acknowledged, &ending.network});
    if (Error error = ending.messenger->untold_loss()) return error;
    if (!activity().sessions) path.leave(true);
    return meet_all(ending);
}

// Waits until the kernel has taken everything that this process has sent, and then a limited time until the
// other processes have acknowledged it. Then acknowledges what has arrived here. A peer inside MPI
// acknowledges at once. A peer that computes may take long to do so; this process waits for such a peer only
// at exit. The caller owns the engine.
void await_answers(Runtime &ending) {
    constexpr uint64_t patience_ns = 100'000'000;
    auto written = [](const void *subject) {
        return !static_cast<const Network *>(subject)->path->activity().io_pending;
    };
    uint64_t limit_ns = ending.engine->read_now_ns() + patience_ns;
    ending.engine->wait_owned(Condition{written, &ending.network});
    ending.engine->wait_owned(Condition{all_acknowledged, &ending.network}, limit_ns);
    ending.network.path->answer_all();
}

// Ends the world model. All ranks synchronise in MPI_Finalize, so that no rank leaves while another
// still needs it. While sessions exist, sends that are not complete are not waited for here; the end of the
// last session waits for them.
Error leave_world(Runtime &ending) {
    Comm &world = *ending.universe->world;
    bool alone = activity().sessions == 0;
    if (ending.settings.check && alone) report_what_is_waited_for(ending, "MPI_Finalize");
    EngineGuard guard(*ending.engine);
    if (alone)
        if (Error error = finish_sending(ending, "MPI_Finalize", &world)) return error;
    if (ending.profile) {
        Error error = report_profiles(ending, world.team);
        ending.profile.reset();
        if (error) return error;
    }
    Collective *barrier = ending.executor->take();
    plan_barrier(*ending.executor, world.team, barrier->plan);
    // described as MPI_Finalize, so that it matches no barrier that the program calls on another
    // rank
    barrier->plan.describe({CollectiveKind::finalize}, nullptr, nullptr);
    ending.executor->start(*barrier, world.team);
    Waiting waiting("MPI_Finalize", tool::WaitFor::ranks, &world, abi::undefined, abi::undefined);
    if (Error error = ending.executor->finish(barrier)) return error;
    while (ending.engine->make_turn() > 0) {
    }
    if (Error error = ending.executor->judge_early_messages(world.team)) return error;
    if (!ending.network.path) return {};
    ending.network.path->report();
    return leave_network(ending);
}

// Runs at exit: synchronises with the other processes if that is still needed, and closes the
// connections. Does nothing in a process that ends without having finalised.
void end_at_exit() {
    Activity &now = activity();
    if (now.used() || lanyard_process_state.load() == ProcessState::forked) return;
    Runtime &ending = *runtime();
    stop_helper();
    if (ending.network.path) {
        EngineGuard guard(*ending.engine);
        if (now.apart) meet_all(ending).discard();
        ending.network.path->close_idle();
        ending.network.path->close();
    }
    if (!now.left) ending.bootstrap->finalize().discard();
}

// Called when nothing uses MPI any more; a session may begin later. Reports to the launcher that this process
// may end, if the launcher accepts that the report is revoked later. `meets`: all processes have just
// synchronised, so the report is sent in any case.
Error pause(Runtime &paused, bool meets) {
    static const bool registered = std::atexit(end_at_exit) == 0;
    static_cast<void>(registered);
    paused.record->state = 2;
    if (!meets && !paused.bootstrap->takes_back()) return {};
    if (activity().left) return {};
    activity().left = true;
    return paused.bootstrap->finalize();
}

}  // namespace

WorldState world_state() { return activity().world.load(); }

Startup startup_facts() {
    Startup startup;
    Settings settings;
    std::vector<std::string> warnings;
    if (!runtime()) read_settings(environ, settings, warnings).discard();
    startup.alloc_kinds =
        supported_alloc_kinds((runtime() ? runtime()->settings : settings).memory_alloc_kinds);
    startup.maxprocs = runtime() ? runtime()->bootstrap->maxprocs() : expected_maxprocs();
    // Before MPI_Init, this is the level that MPI_Init would grant, because MPI_Info_create_env must return
    // the same contents as MPI_INFO_ENV has after MPI_Init (MPI-5.0 chapter 10).
    startup.thread_level =
        world_state() != WorldState::before ? runtime()->thread_level : granted_level(abi::thread_single);
    return startup;
}

Error begin_world(const char *call, int required, int &provided) {
    Activity &now = activity();
    std::lock_guard guard(now.lock);
    if (now.world.load() == WorldState::active)
        return Error(ErrorClass::other, "MPI is initialised already; call MPI_Init or MPI_Init_thread once");
    if (now.world.load() == WorldState::finalized)
        return Error(ErrorClass::other, "MPI was finalised; it cannot be initialised a second time");
    if (Error error = begin(call)) return error;
    Runtime &made = *runtime();
    provided = made.thread_level = granted_level(required);
    made.main_thread = std::this_thread::get_id();
    bool helped = made.helper && !made.helper->stopped();
    // With MPI_THREAD_SINGLE only one thread calls MPI. At a higher level, one thread may begin a session
    // while another is in a call of the world model.
    made.engine->set_single_threaded(now.sessions == 0 && !helped && !now.threads &&
                                     made.thread_level == abi::thread_single);
    made.universe->alloc_kinds = supported_alloc_kinds(made.settings.memory_alloc_kinds);
    for (Comm *comm : {made.universe->world, made.universe->self})
        replace_errhandler(comm->errhandler, initial_errhandler());
    show_world(*made.universe, true);
    if (made.settings.profile) {
        made.profile = std::make_unique<tool::Profile>();
        made.messenger->set_traffic(&made.profile->traffic());
    }
    now.world.store(WorldState::active);
    fill_environment(*object_of<Info>(static_cast<uintptr_t>(abi::info_env)), startup_facts());
    publish_state();
    return {};
}

Error end_world() {
    Activity &now = activity();
    Runtime &ending = *runtime();
    if (Error error = delete_predefined_attributes(*ending.universe)) return error;
    std::lock_guard guard(now.lock);
    bool alone = now.sessions == 0;
    if (alone) tool::end_events();
    if (alone) stop_helper();
    if (Error error = leave_world(ending)) return error;
    if (ending.settings.check && alone) report_leftovers(ending, "MPI_Finalize");
    now.world.store(WorldState::finalized);
    publish_state();
    show_world(*ending.universe, false);
    free_predefined(*ending.universe);
    return alone ? pause(ending, true) : Error();
}

void expect_tool_threads() {
    std::lock_guard guard(activity().lock);
    activity().threads = true;
    if (runtime()) runtime()->engine->set_single_threaded(false);
}

Error begin_session() {
    Activity &now = activity();
    std::lock_guard guard(now.lock);
    if (Error error = begin("MPI_Session_init")) return error;
    // No other thread is in MPI now: with MPI_THREAD_SINGLE this thread is the only one, and at any
    // higher level the engine is not set to a single thread anyway.
    if (now.sessions == 0) runtime()->engine->set_single_threaded(false);
    ++now.sessions;
    now.apart = true;
    publish_state();
    return {};
}

Error end_session() {
    constexpr int most_turns = 1000;
    Activity &now = activity();
    std::lock_guard guard(now.lock);
    bool last = now.sessions == 1 && now.world.load() != WorldState::active;
    Runtime &ending = *runtime();
    if (last) {
        tool::end_events();
        constexpr const char *call = "MPI_Session_finalize";
        if (ending.settings.check) report_what_is_waited_for(ending, call);
        EngineGuard owned(*ending.engine);
        if (Error error = finish_sending(ending, call, nullptr)) return error;
        if (ending.settings.check) {
            // the program's last calls perhaps left messages unread that have arrived
            for (int turns = 0; turns < most_turns && ending.engine->make_turn() > 0; ++turns) {
            }
            report_leftovers(ending, call);
        }
        if (ending.network.path) await_answers(ending);
    }
    if (last)
        if (Error error = pause(ending, false)) return error;
    --now.sessions;
    publish_state();
    return {};
}

}  // namespace lanyard
