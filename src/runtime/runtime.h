// The runtime of this process: everything below the API, created at the first initialisation and living until
// exit. It is the only process-wide object that owns communication. The layers below receive what they need
// from it as arguments.
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
    Network network;  // empty if no pair of processes needs it
    Shared shared;  // shared by the ranks on this node, or on its kernel
    std::unique_ptr<NodeMemory> node_memory;
    std::unique_ptr<NodeReach> node_reach;
    // All processes of this node can read each other's memory; equal on all of them.
    bool direct_reads = false;
    std::unique_ptr<ProcessIdle> idle;
    std::unique_ptr<Engine> engine;
    // Declared after the engine; null if only the program's own threads may make progress.
    std::unique_ptr<Helper> helper;
    std::unique_ptr<Messenger> messenger;
    std::unique_ptr<Executor> executor;
    std::unique_ptr<Universe> universe;
    std::unique_ptr<tool::Profile> profile;  // if a profile was requested
    WaitRecord own_record;  // used if there is no segment
    WaitRecord *record = &own_record;
    std::optional<CounterSource> record_counted;  // set when the record no longer moves
    std::vector<Path *> paths() const;
    class Waiting *waits = nullptr;  // the wait that the record shows
    int thread_level = 0;  // of the world model
    std::thread::id main_thread;
};

// nullptr before the first initialisation.
Runtime *runtime();
// stop_helper() ends progress by any but the program's own threads. start_helper() allows it again, if the
// settings ask for the helper.
void stop_helper();
void start_helper();
// Answers peers until all processes have called it. This is the launcher's barrier, whose end wakes this
// process. [owner]
Error meet_others(Runtime &runtime);
// Creates the runtime for an MPI function: joins the job, finds paths to every rank, creates the predefined
// communicators.
Error make_runtime(const char *call);

// True if the wait is over after a short poll. Always false under a profile, which counts every wait. [owner]
template <class Awaited>
bool comes_soon(const Runtime &runtime, const Awaited &awaited) {
    return !runtime.profile && runtime.engine->comes_soon(awaited);
}

}  // namespace lanyard
