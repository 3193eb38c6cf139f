// Starting and finishing (MPI-5.0 chapter 11, the world model): Init, Finalize, Abort and what tells about them.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

#include "api/generated/core.h"
#include "api/handles.h"
#include "api/message.h"
#include "api/predefined_handles.h"
#include "api/request.h"
#include "api/runtime.h"
#include "api/state.h"
#include "base/clock.h"
#include "base/log.h"
#include "coll/collectives.h"
#include "comm/info.h"

std::atomic<lanyard::ProcessState> lanyard_process_state{lanyard::ProcessState::before};

namespace lanyard {

namespace {

// What a program that leaves with messages unreceived or requests open is told in debug mode.
void report_leftovers(Runtime &ending) {
    Messenger &messenger = *ending.messenger;
    size_t messages = 0;
    std::string first;
    for (Unexpected *message = messenger.unexpected().first(); message; message = messenger.unexpected().after(*message)) {
        if (message->context & collective_bit) continue;
        if (messages++ > 0) continue;
        first = "from rank " + std::to_string(message->rank) + " with tag " + std::to_string(message->tag) + ", " +
                std::to_string(message->length()) + " bytes";
    }
    if (messages)
        log(LogLevel::warn, "check", "MPI_Finalize: %zu message%s sent to this rank, but never received; the first came %s", messages,
            messages == 1 ? " was" : "s were", first.c_str());
    size_t open = 0;
    request_pool().each([&](Request &request) { open += !request.shared; });
    if (open) log(LogLevel::warn, "check", "MPI_Finalize: %zu request%s never completed or freed", open, open == 1 ? " was" : "s were");
    size_t posted = messenger.posted().count();
    if (posted) log(LogLevel::warn, "check", "MPI_Finalize: %zu posted receive%s never matched", posted, posted == 1 ? " was" : "s were");
}

bool all_sent(const void *subject) { return static_cast<const Messenger *>(subject)->quiet(); }

// In debug mode: after a second says which sends keep MPI_Finalize from returning, since no receive matches them.
void report_what_is_waited_for(Runtime &ending) {
    constexpr uint64_t patience_ns = 1'000'000'000;
    uint64_t limit_ns = clock_ns() + patience_ns;
    EngineGuard guard(*ending.engine);
    while (!ending.messenger->quiet() && clock_ns() < limit_ns)
        if (ending.engine->step() == 0) usleep(1000);
    size_t open = 0;
    std::string first;
    ending.messenger->each_offered([&](const Transfer &send) {
        if (send.context & collective_bit || open++ > 0) return;
        first = "to rank " + std::to_string(send.destination) + " with tag " + std::to_string(send.tag) + ", " + std::to_string(send.buffer.bytes()) +
                " bytes";
    });
    if (open)
        log(LogLevel::warn, "check", "MPI_Finalize: waits for %zu send%s that no receive has matched; the first is %s", open, open == 1 ? "" : "s",
            first.c_str());
}

// Over connections a process may go only when all it sent has arrived, and stays to answer until that is so for everybody: then
// the launcher's barrier opens, which a thread of its own waits for.
Error leave_network(Runtime &ending) {
    LinkPath &path = *ending.network.path;
    auto settled = [](const void *subject) { return static_cast<const Network *>(subject)->path->settled(); };
    ending.engine->wait_owned(Condition{settled, &ending.network});
    if (Error error = ending.messenger->untold_loss()) return error;
    path.leave();
    struct Meeting {
        std::atomic<bool> over{false};
        Error error;
    } meeting;
    std::thread waiter([&] {
        meeting.error = ending.bootstrap->barrier();
        meeting.over.store(true, std::memory_order_release);
        ending.idle->wake();
    });
    auto over = [](const void *subject) { return static_cast<const Meeting *>(subject)->over.load(std::memory_order_acquire); };
    ending.engine->wait_owned(Condition{over, &meeting});
    waiter.join();
    path.close();
    return meeting.error;
}

// Answers peers until everything sent from here has arrived; then all ranks meet, so that nobody leaves while another still needs it.
Error leave(Runtime &ending) {
    Comm &world = *ending.universe->world;
    if (ending.settings.check) report_what_is_waited_for(ending);
    EngineGuard guard(*ending.engine);
    if (!ending.messenger->quiet()) {
        WaitParts parts;
        ending.messenger->each_offered([&](const Transfer &send) {
            if (!(send.context & collective_bit)) parts.add(WaitPart::send, send.destination, send.tag);
        });
        Waiting waiting("MPI_Finalize", &world, parts);
        ending.engine->wait_owned(Condition{all_sent, ending.messenger.get()});
    }
    if (Error error = ending.messenger->untold_loss()) return error;
    Collective *barrier = ending.executor->take();
    plan_barrier(*ending.executor, world.team, *barrier);
    ending.executor->start(*barrier, world.team);
    Waiting waiting("MPI_Finalize", &world, abi::undefined, abi::undefined);
    if (Error error = ending.executor->finish(barrier)) return error;
    while (ending.engine->step() > 0) {
    }
    return ending.network.path ? leave_network(ending) : Error();
}

void forget_parent() { lanyard_process_state.store(ProcessState::forked); }

}  // namespace

extern "C" {

Error lanyard_init_thread(int *, char ***, int required, int *provided) {
    if (lanyard_process_state.load() == ProcessState::active)
        return Error(ErrorClass::other, "MPI is initialised already; call MPI_Init or MPI_Init_thread once");
    if (lanyard_process_state.load() == ProcessState::finalized)
        return Error(ErrorClass::other, "MPI was finalised; it cannot be initialised a second time");
    if (Error error = make_runtime()) {
        if (!runtime()) return error;
        ErrorRecord record = error.take();  // the job cannot start: nobody could handle it
        runtime()->bootstrap->abort(1, "Lanyard: MPI_Init on rank " + std::to_string(runtime()->bootstrap->rank()) + ": " + record.sentence);
        _exit(1);
    }
    Runtime &made = *runtime();
    made.thread_level = required < abi::thread_single ? abi::thread_single : required > abi::thread_multiple ? abi::thread_multiple : required;
    if (made.thread_level != abi::thread_multiple && !made.helper) made.engine->set_single_threaded();
    made.main_thread = std::this_thread::get_id();
    fill_handle_tables(*made.universe);
    Startup startup;
    startup.maxprocs = made.bootstrap->maxprocs();
    startup.thread_level = made.thread_level;
    fill_environment(*object_of<Info>(static_cast<uintptr_t>(abi::info_env)), startup);
    pthread_atfork(nullptr, nullptr, forget_parent);
    if (provided) *provided = made.thread_level;
    lanyard_process_state.store(ProcessState::active);
    return {};
}

Error lanyard_init(int *argc, char ***argv) { return lanyard_init_thread(argc, argv, abi::thread_single, nullptr); }

Error lanyard_finalize() {
    Runtime &ending = *runtime();
    if (Error error = delete_predefined_attributes(*ending.universe)) return error;
    stop_helper();
    if (Error error = leave(ending)) return error;
    if (ending.settings.check) report_leftovers(ending);
    lanyard_process_state.store(ProcessState::finalized);
    ending.record->state = 2;
    free_predefined(*ending.universe);
    return ending.bootstrap->finalize();
}

Error lanyard_initialized(int *flag) {
    ProcessState state = lanyard_process_state.load();
    *flag = state == ProcessState::active || state == ProcessState::finalized;
    return {};
}

Error lanyard_finalized(int *flag) {
    *flag = lanyard_process_state.load() == ProcessState::finalized;
    return {};
}

Error lanyard_abort(Comm &comm, int errorcode) {
    Universe &universe = *comm.universe;
    std::string who = "rank " + std::to_string(runtime()->bootstrap->rank());
    universe.abort(universe, errorcode,
                   "Lanyard: MPI_Abort(comm=" + (comm.name.empty() ? "unnamed" : comm.name) + ", errorcode=" + std::to_string(errorcode) +
                                            ") was called by " + who + "; the job ends");
    return {};
}

Error lanyard_query_thread(int *provided) {
    *provided = runtime()->thread_level;
    return {};
}

Error lanyard_is_thread_main(int *flag) {
    *flag = runtime()->main_thread == std::this_thread::get_id();
    return {};
}

}  // extern "C"

}  // namespace lanyard
