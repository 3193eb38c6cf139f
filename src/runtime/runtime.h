// The runtime of this process owns everything below the API. It is created at the first initialisation of MPI
// and exists until exit. It is the only process-wide object that owns communication. The layers below the
// runtime receive what they need as arguments.
// Thread rule: one thread at a time creates the runtime, and starts or stops its helper (api/activity.cc has
// the lock). Afterwards any thread may read the members that are set once. A caller of a function marked
// [owner], or of an object that belongs to the engine, must own the engine (EngineGuard).
// Tested by: tests/launch/test_mpi.py, tests/failures/test_life.py, tests/mpi/sessions/models.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/counters.h"
#include "base/wait_record.h"
#include "bootstrap/bootstrap.h"
#include "coll/executor.h"
#include "coll/shm/node_reach.h"
#include "comm/universe.h"
#include "config/settings.h"
#include "engine/engine.h"
#include "p2p/messenger.h"
#include "path/shm/segment.h"
#include "runtime/machine.h"
#include "runtime/network.h"
#include "tool/profile.h"

namespace lanyard {

class Helper;
class ProcessIdle;
class SelfPath;
class ShmPath;

struct Runtime {
    Settings settings;
    std::unique_ptr<Bootstrap> bootstrap;
    Processes processes;
    Segment segment;
    std::unique_ptr<SelfPath> self_path;
    std::unique_ptr<ShmPath> shm_path;
    Network network;  // empty if no pair of processes needs a network
    // How many ranks share how many processors on this node. If ranks are oversubscribed only on the node's
    // kernel (machine.h): on this kernel.
    Shared shared;
    std::unique_ptr<NodeMemory> node_memory;
    std::unique_ptr<NodeReach> node_reach;
    // True if all processes of this node can read each other's memory. Equal in all these processes.
    bool direct_reads = false;
    std::unique_ptr<ProcessIdle> idle;
    std::unique_ptr<Engine> engine;
    // Null, or stopped (Helper::stopped), if only the program's own threads make progress. Declared after the
    // engine, which must outlive the helper.
    std::unique_ptr<Helper> helper;
    std::unique_ptr<Messenger> messenger;
    std::unique_ptr<Executor> executor;
    std::unique_ptr<Universe> universe;
    std::unique_ptr<tool::Profile> profile;  // if a profile was requested
    WaitRecord own_record;  // used if there is no segment
    WaitRecord *record = &own_record;
    std::optional<CounterSource> record_counted;  // set once `record` no longer changes
    // The paths that exist, in the order in which they are tried and polled. The runtime owns the paths.
    std::vector<Path *> paths() const;
    class Waiting *waits = nullptr;  // the wait that the record shows
    int thread_level = 0;            // the level of thread support in the world model
    std::thread::id main_thread;
};

// The runtime, which is never destroyed; nullptr before the first initialisation. Any thread.
Runtime *runtime();
// Stops the helper, so that only the program's own threads make progress. Has no effect if there is no
// helper. No other thread may be in MPI.
void stop_helper();
// Creates a helper if the settings request one and none runs. Requires a runtime. No other thread may be in
// MPI. If the system has no descriptors for a helper, a warning is logged.
void start_helper();
// [owner] A barrier of all ranks by the launcher. Until the last rank has arrived, this process makes
// progress, so it answers its peers. Returns an error if the launcher does not answer.
Error meet_others(Runtime &runtime);
// Creates the runtime for an MPI function whose name is `call`: joins the job, finds a path to every rank,
// and creates the predefined communicators. Called once in each process. After an error, runtime() is nullptr
// if the process could not join the job. Otherwise other ranks may wait for this rank, so the caller must end
// the job.
Error make_runtime(const char *call);

// [owner] Polls for a short time. True if the wait is over. Always false if a profile was requested, because
// a profile counts every wait.
template <class Awaited>
bool met_soon(const Runtime &runtime, const Awaited &awaited) {
    return !runtime.profile && runtime.engine->met_soon(awaited);
}

}  // namespace lanyard
