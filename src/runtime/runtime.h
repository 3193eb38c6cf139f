// The runtime of this process: everything below the API, made at the first initialisation and living until exit. The only
// process-wide object that owns communication; layers below take what they need from it as arguments.
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
    Network network;  // empty where nobody needs it
    Shared shared;  // by the ranks on this node, or on its kernel
    std::unique_ptr<NodeMemory> node_memory;
    std::unique_ptr<NodeReach> node_reach;
    bool direct_reads = false;  // all processes of this node can read each other's memory; known alike to all
    std::unique_ptr<ProcessIdle> idle;
    std::unique_ptr<Engine> engine;
    std::unique_ptr<Helper> helper;  // after the engine; none where nobody may move messages but the program
    std::unique_ptr<Messenger> messenger;
    std::unique_ptr<Executor> executor;
    std::unique_ptr<Universe> universe;
    std::unique_ptr<tool::Profile> profile;  // where one is wanted
    WaitRecord own_record;  // used where there is no segment
    WaitRecord *record = &own_record;
    std::optional<CounterSource> record_counted;  // once the record stays where it is
    std::vector<Path *> paths() const;
    class Waiting *waits = nullptr;  // the one that the record shows
    int thread_level = 0;  // of the world model
    std::thread::id main_thread;
};

// nullptr before the first initialisation.
Runtime *runtime();
// No message moves any more but by the program's threads; and again by the helper, where there is to be one.
void stop_helper();
void start_helper();
// Answers peers until all processes have come here: the launcher's barrier, whose end wakes this one. [owner]
Error meet_others(Runtime &runtime);
// Makes it for a function of MPI: joins the job, finds paths to every rank, makes the predefined communicators.
Error make_runtime(const char *call);

// Is it over after a short look? Not asked where a profile wants to know of every wait. [owner]
template <class Awaited>
bool comes_soon(const Runtime &runtime, const Awaited &awaited) {
    return !runtime.profile && runtime.engine->comes_soon(awaited);
}

}  // namespace lanyard
