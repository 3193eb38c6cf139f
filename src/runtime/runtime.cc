// Creates the runtime; see runtime.h.
#include "runtime/runtime.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/barriers.h"
#include "base/copy.h"
#include "base/fetch.h"
#include "base/log.h"
#include "base/no_memory.h"
#include "coll/shm/node_area.h"
#include "engine/helper.h"
#include "engine/process_idle.h"
#include "net/packet_io.h"
#include "net/system_sockets.h"
#include "path/dgram/dgram_path.h"
#include "path/self/self_path.h"
#include "path/shm/shm_path.h"
#include "path/tcp/tcp_path.h"
#include "runtime/counters.h"
#include "runtime/network_agreement.h"
#include "runtime/node_services.h"
#include "runtime/segment_maker.h"
#include "runtime/segment_memory.h"
#include "tool/cvar.h"
#include "tool/event.h"

extern char **environ;

namespace lanyard {

namespace {

Runtime *the_runtime = nullptr;

bool some_share_a_node(const Bootstrap &bootstrap) {
    std::vector<int> node = bootstrap.identity().node_of_rank;
    std::sort(node.begin(), node.end());
    return std::adjacent_find(node.begin(), node.end()) != node.end();
}

// Puts the wait record of a process that is alone on its node into a segment, if the launcher offers a file.
// No other process uses this segment, but the launcher may read the record.
void keep_record_alone(Runtime &made) {
    int descriptor = made.bootstrap->segment_fd();
    if (descriptor < 0) return;
    Error error = made.segment.create(descriptor, 1);
    if (!error) error = made.segment.attach(descriptor);
    if (error) error.discard();
    else made.record = &made.segment.member(0).wait;
}

void make_shm_path(Runtime &made) {
    const Bootstrap &bootstrap = *made.bootstrap;
    std::vector<uint32_t> here;
    const std::vector<int> &node = bootstrap.identity().node_of_rank;
    for (int rank = 0; rank < bootstrap.size(); ++rank)
        if (node[static_cast<size_t>(rank)] == node[static_cast<size_t>(bootstrap.rank())])
            here.push_back(static_cast<uint32_t>(rank));
    made.shm_path = std::make_unique<ShmPath>(made.segment, static_cast<uint32_t>(bootstrap.local_rank()),
                                              here, made.settings.cma);
    made.node_memory = std::make_unique<SegmentMemory>(made.segment);
    made.node_reach = std::make_unique<ShmReach>(*made.shm_path);
}

// Finds out what all processes of a node can do. First, can they read each other's memory? Collectives use
// this. Second, can they make memory barriers in each other (base/barriers.h)? A process that publishes
// something and a process that falls asleep each need a barrier. If all processes of the node can make
// barriers in each other, the process that falls asleep makes both barriers, and the publisher makes none.
// Oversubscribed ranks sleep too often for this, so each of them makes its own barriers. Called by every rank
// of the job.
Error agree_with_node(Runtime &made) {
    if (!made.shm_path) return made.bootstrap->barrier();
    SegmentHeader &header = made.segment.header();
    if (!made.shm_path->direct_copies().work_with_all())
        header.reads_refused.fetch_add(1, std::memory_order_relaxed);
    if (!register_for_barriers()) header.barriers_refused.fetch_add(1, std::memory_order_relaxed);
    if (Error error = made.bootstrap->barrier()) return error;
    made.direct_reads = header.reads_refused.load(std::memory_order_relaxed) == 0;
    bool oversubscribed = made.shared.oversubscribed();
    bool barriers = header.barriers_refused.load(std::memory_order_relaxed) == 0;
    made.node_reach->sleepers_make_barriers = barriers && !oversubscribed;
    made.shm_path->sleep_word().makes_both_barriers.store(barriers && !oversubscribed,
                                                          std::memory_order_relaxed);
    return {};
}

// Finds out how many ranks share how many processors, on this node or on its kernel. `noted`: the processors
// are noted in the segment. `others`: there may be ranks of other nodes on the same kernel.
Error learn_shared(Runtime &made, bool noted, bool others) {
    made.shared = shared_on_node(*made.bootstrap, noted ? &made.segment.header() : nullptr);
    if (!others || made.shared.oversubscribed()) return {};
    Shared on_kernel;
    if (Error error = shared_on_kernel(*made.bootstrap, on_kernel)) return error;
    if (on_kernel.oversubscribed()) made.shared = on_kernel;
    return {};
}

// Lets all ranks use messages over a network, because some node has no shared memory. Called by every rank of
// the job, or by none.
Error do_without_shared_memory(Runtime &made, const SegmentMaker &segment, bool kernel_told) {
    std::string left;
    for (const std::string &word : split_words(made.settings.paths))
        if (word != "shm") left += (left.empty() ? "" : ",") + word;
    made.settings.paths = left;
    std::string network = network_word(made.settings);
    if (network.empty())
        return Error(ErrorClass::other,
                     segment.lack() + "; LANYARD_PATHS leaves no other path: add tcp or dgram");
    segment.tell_lack();
    if (Error error = open_network_instead(made.settings, *made.bootstrap, made.processes, network == "dgram",
                                           made.network))
        return error;
    if (!kernel_told)
        if (Error error = tell_kernel(*made.bootstrap)) return error;
    return made.bootstrap->barrier();
}

// Creates the paths, after the network and the segment that they need. Each barrier is entered by all ranks
// of the job or by none of them. If the launcher offers a file for a segment, a segment is created even
// without shm in LANYARD_PATHS, because it holds the wait records and the processors of the node's ranks
// (machine.h).
Error make_paths(Runtime &made) {
    Bootstrap &bootstrap = *made.bootstrap;
    bool shm = names_path(made.settings, "shm");
    std::string chosen = network_word(made.settings);
    made.self_path = std::make_unique<SelfPath>(static_cast<uint32_t>(bootstrap.rank()));
    bool alone = bootstrap.local_size() == 1;
    bool segments = (shm || bootstrap.segment_fd() >= 0) && some_share_a_node(bootstrap);
    bool network = network_needed(bootstrap, !chosen.empty(), shm);
    if (alone) keep_record_alone(made);
    SegmentMaker segment(made);
    Error error;
    if (network)
        error = open_network(made.settings, bootstrap, made.processes, chosen == "dgram", shm, made.network);
    if (!error && segments && !alone) error = segment.create();
    if (!error && (segments || network)) error = tell_paths(made.settings, bootstrap);
    if (!error && network) error = tell_kernel(bootstrap);
    if (!error && (segments || network)) error = bootstrap.barrier();
    if (!error && (segments || network)) error = compare_paths(made.settings, bootstrap);
    if (!error && segments && segment.lacking()) {
        segments = false;
        if (shm) error = do_without_shared_memory(made, segment, network);
        network = network || shm;
        shm = false;
    }
    if (!error && network) error = join_network(bootstrap, made.network);
    if (!error && segments && !alone) error = segment.attach();
    if (!error && segments && !alone && shm) make_shm_path(made);
    if (!error && segments) error = bootstrap.barrier();
    if (!alone && segments) segment.unlink();
    if (!error) error = learn_shared(made, !alone && segments, network);
    if (!error && segments && shm) error = agree_with_node(made);
    if (error || alone || !segments) return error;
    made.record = &made.segment.member(static_cast<uint32_t>(bootstrap.local_rank())).wait;
    return {};
}

// Chooses the path to each rank. Returns an error if there is no path to some rank.
Error make_routes(Runtime &made) {
    const Bootstrap &bootstrap = *made.bootstrap;
    for (int rank = 0; rank < bootstrap.size(); ++rank) {
        auto peer = static_cast<uint32_t>(rank);
        std::vector<Path *> paths = made.paths();
        auto path =
            std::find_if(paths.begin(), paths.end(), [&](const Path *each) { return each->reaches(peer); });
        if (path != paths.end()) {
            made.messenger->route(peer, **path);
            continue;
        }
        const std::vector<int> &node = bootstrap.identity().node_of_rank;
        bool here = node[static_cast<size_t>(rank)] == node[static_cast<size_t>(bootstrap.rank())];
        std::string who =
            "rank " + std::to_string(bootstrap.rank()) + " cannot reach rank " + std::to_string(rank);
        const char *whom = here ? "another process of this node; add shm, tcp or dgram"
                                : "a process of another node; add tcp or dgram";
        return Error(ErrorClass::other,
                     who + ": LANYARD_PATHS=" + made.settings.paths + " leaves no path to " + whom);
    }
    return {};
}

void abort_job(Universe &, int code, std::string_view message, bool asked) {
    the_runtime->bootstrap->abort(code, message, asked);
    std::fflush(nullptr);
    _exit(code & 255 ? code & 255 : 1);
}

// Logs the settings and how the process was started. Called after the rank is known, so that each line of the
// log names the rank.
void tell_start(const Runtime &made) {
    if (!log_enabled(LogLevel::debug)) return;
    const Settings usual;
    for (const SettingRow &row : setting_table())
        if (std::string value = setting_value(made.settings, row); value != setting_value(usual, row))
            log(LogLevel::debug, "settings", "LANYARD_%s=%s", row.name.c_str(), value.c_str());
    const Bootstrap &bootstrap = *made.bootstrap;
    log(LogLevel::debug, "launch",
        "process %d is rank %d of %d in job %s, started by %s; rank %d of %d on this node", getpid(),
        bootstrap.rank(), bootstrap.size(), bootstrap.job().c_str(), bootstrap.identity().launcher.c_str(),
        bootstrap.local_rank(), bootstrap.local_size());
}

// Adds the processes of this job to the table of processes. The job is the launcher's first job, so the peer
// number of each process is its rank.
Error list_processes(Runtime &made) {
    const std::vector<int> &node = made.bootstrap->identity().node_of_rank;
    for (uint32_t rank = 0; rank < node.size(); ++rank)
        if (made.processes.append({0, rank}, static_cast<uint32_t>(node[rank])) == nobody)
            return {ErrorClass::no_mem,
                    "there is no memory for the table of " + std::to_string(node.size()) + " processes"};
    return {};
}

Error make_universe(Runtime &made) {
    const Bootstrap &bootstrap = *made.bootstrap;
    made.universe = std::make_unique<Universe>(*made.messenger, made.settings, made.processes,
                                               static_cast<uint32_t>(bootstrap.rank()));
    Universe &universe = *made.universe;
    universe.node_memory = made.node_memory.get();
    universe.nodes_share_memory = names_path(made.settings, "shm");
    made.executor = std::make_unique<Executor>(*made.messenger, made.node_reach.get());
    if (Error error = parse_selection(made.settings.coll, made.executor->selection())) return error;
    universe.executor = made.executor.get();
    Machine machine;
    int64_t speed_mbit = network_speed_mbit(made.settings);
    if (Error error = agree_on_machine(*made.bootstrap, made.shared, speed_mbit, machine)) return error;
    universe.processors = machine.oversubscribed;
    universe.direct_reads = made.direct_reads;
    Costs &costs = made.executor->selection().costs;
    if (bootstrap.local_size() == bootstrap.size()) set_network_of_one_host(costs);
    else set_network(costs, machine.speed_mbit);
    universe.abort = abort_job;
    if (bootstrap.appnum() >= 0) universe.predefined.appnum = bootstrap.appnum();
    universe.predefined.universe_size =
        bootstrap.universe_size() >= 0 ? bootstrap.universe_size() : bootstrap.size();
    Peers world(static_cast<size_t>(bootstrap.size()));
    for (size_t i = 0; i < world.size(); ++i) world[i] = static_cast<uint32_t>(i);
    std::byte *area = nullptr;
    size_t area_bytes = 0;
    if (made.shm_path && made.segment.header().world_area) {
        area_bytes = node_area_bytes(bootstrap.size());
        area = made.segment.map(made.segment.header().world_area, area_bytes);
        if (!area) end_without_memory();
    }
    return make_predefined(universe, std::move(world), area, area_bytes);
}

void connect_to_all(Runtime &made) {
    auto connected = [](const void *network) {
        return static_cast<const Network *>(network)->path->connected_to_all();
    };
    EngineGuard guard(*made.engine);
    made.engine->wait_owned(Condition{connected, &made.network});
}

// With LANYARD_DGRAM_PROGRESS=thread, the helper wakes by itself at this interval, to send again what has not
// been acknowledged, and to answer peers. MVAPICH over unreliable datagrams, by Koop and others 2007
// (bench/RESULTS.md), has such a thread too. But that thread only sends again what was lost. It wakes every
// second and sends again after two seconds. Intervals of that length would be too long here, because a peer
// that waits for an answer of this process would wait for seconds.
constexpr uint64_t datagrams_period_ns = 10'000'000;

void make_helper(Runtime &made) {
    bool periodic = made.network.datagrams && made.settings.dgram_progress == "thread";
    auto helper =
        std::make_unique<Helper>(*made.engine, made.idle->descriptor(), periodic ? datagrams_period_ns : 0);
    if (!helper->usable()) {
        log(LogLevel::warn, "engine",
            "no descriptors to sleep at (%s): messages move only while the program is inside MPI",
            system_text(errno).c_str());
        return;
    }
    bool memory = made.settings.progress == "helper" && !periodic;
    if (made.engine->oversubscribed() && !memory && !periodic) helper->prefer_dozing();
    made.engine->set_helper(helper.get(), memory);
    if (periodic) helper->start();
    made.helper = std::move(helper);
    // At exit the helper must stop before the objects that it uses are destroyed.
    static const bool registered = std::atexit(stop_helper) == 0;
    static_cast<void>(registered);
}

IdlePolicy idle_policy(const Runtime &made) {
    return choose_idle_policy(made.shared.ranks, made.shared.processors, made.network.path != nullptr,
                              made.settings.spin_us);
}

void set_copy_loop(const std::string &name) {
    set_long_copy(name == "memcpy"    ? LongCopy::by_memcpy
                  : name == "vectors" ? LongCopy::by_vectors
                                      : LongCopy::automatic);
}

void set_demotion(const Runtime &made) {
    demotes.store(made.settings.demote && !idle_policy(made).oversubscribed, std::memory_order_relaxed);
}

void set_test_pace(Runtime &made) {
    made.engine->test_pace().set_tests_per_yield(static_cast<uint32_t>(made.settings.tests_per_yield));
}

class ToolHost final : public tool::Host {
public:
    explicit ToolHost(Runtime &runtime) : runtime_(runtime) {}

    Settings &settings() override { return runtime_.settings; }
    // EngineGuard is not used here. When an EngineGuard leaves the engine, it may call functions of the tool,
    // which take tool_lock(). The caller of while_still() holds this lock already.
    void while_still(const std::function<void()> &act) override {
        runtime_.engine->take();
        act();
        runtime_.engine->give_up();
    }
    void settings_changed() override {
        set_log(runtime_.settings.log.c_str());
        set_copy_loop(runtime_.settings.copy_loop);
        set_demotion(runtime_);
        runtime_.messenger->limits_changed();
        runtime_.idle->set_policy(idle_policy(runtime_));
        set_test_pace(runtime_);
        if (runtime_.shm_path) runtime_.shm_path->direct_copies().allow(runtime_.settings.cma);
    }
    void call_after_leaving(void (*function)()) override { runtime_.engine->call_after_leaving(function); }

private:
    Runtime &runtime_;
};

void show_to_tools(Runtime &made) {
    declare_counters();
    made.record_counted.emplace(wait_counters(), *made.record);
    std::lock_guard guard(tool::tool_lock());
    tool::set_host(new ToolHost(made));  // exists until exit, like the runtime
}

}  // namespace

Runtime *runtime() { return the_runtime; }

std::vector<Path *> Runtime::paths() const {
    std::vector<Path *> all;
    for (Path *path : {static_cast<Path *>(self_path.get()), static_cast<Path *>(shm_path.get()),
                       static_cast<Path *>(network.path.get())})
        if (path) all.push_back(path);
    return all;
}

bool wants_helper(const Runtime &made) {
    const Settings &settings = made.settings;
    if (settings.progress != "auto") return settings.progress == "helper";
    return made.network.path && !(made.network.datagrams && settings.dgram_progress == "engine");
}

void stop_helper() {
    if (!the_runtime || !the_runtime->helper) return;
    the_runtime->helper->stop();
    the_runtime->engine->set_helper(nullptr);
}

void start_helper() {
    bool there = the_runtime->helper && !the_runtime->helper->stopped();
    if (!there && wants_helper(*the_runtime)) make_helper(*the_runtime);
}

// While waiting for the launcher's answer, this process makes progress. If it sleeps, the answer wakes it.
Error meet_others(Runtime &runtime) {
    if (Error error = runtime.bootstrap->enter_barrier()) return error;
    const int answer = runtime.bootstrap->barrier_descriptor();
    auto is_there = [](const void *descriptor) {
        pollfd look{*static_cast<const int *>(descriptor), POLLIN, 0};
        return look.fd < 0 || poll(&look, 1, 0) > 0;
    };
    if (answer >= 0 && runtime.idle->watch(answer)) {
        runtime.engine->wait_owned(Condition{is_there, &answer});
        runtime.idle->forget(answer);
    }
    constexpr uint64_t look_every_ns = 100'000;  // used if the answer cannot wake this process
    while (!is_there(&answer))
        runtime.engine->wait_owned(Condition{is_there, &answer},
                                   runtime.engine->read_now_ns() + look_every_ns);
    return runtime.bootstrap->leave_barrier();
}

Error make_runtime(const char *call) {
    auto *made = new Runtime;  // never deleted, because other threads and exit handlers may still use it
    std::vector<std::string> warnings;
    if (Error error = read_settings(environ, made->settings, warnings)) return error;
    Selection judged;
    if (Error error = parse_selection(made->settings.coll, judged)) return error;
    tool::apply_written_cvars(made->settings);
    if (std::string wrong = contradiction(made->settings); !wrong.empty())
        return Error(ErrorClass::arg, wrong);
    set_log(made->settings.log.c_str());
    Error error;
    made->bootstrap = connect_bootstrap(error);
    if (error) return error;
    made->bootstrap->in_call(call);
    int rank = made->bootstrap->rank();
    set_log_name(("rank " + std::to_string(rank)).c_str());
    if (rank == 0 && made->bootstrap->identity().launcher != "mpirun")  // mpirun itself prints such warnings
        for (const std::string &warning : warnings) log(LogLevel::warn, "settings", "%s", warning.c_str());
    the_runtime = made;
    tell_start(*made);
    if ((error = list_processes(*made))) return error;
    if ((error = make_paths(*made))) return error;
    IdlePolicy policy = idle_policy(*made);
    made->idle = std::make_unique<ProcessIdle>(
        policy, made->shm_path ? &made->shm_path->sleep_word() : nullptr, made->record);
    if (policy.oversubscribed && made->network.path) made->network.path->share_processors();
    bool wakes = !(made->network.path || wants_helper(*made)) || made->idle->use_descriptors();
    if (made->network.path && wakes) wakes = made->idle->watch(made->network.path->info.descriptor);
    if (!wakes)
        return Error(ErrorClass::other,
                     "a process that sleeps at its sockets could not be woken: " + system_text(errno));
    set_copy_loop(made->settings.copy_loop);
    set_demotion(*made);
    made->engine = std::make_unique<Engine>(*made->idle);
    made->engine->set_oversubscribed(policy.oversubscribed);
    set_test_pace(*made);
    auto peers = static_cast<uint32_t>(made->bootstrap->size());
    made->messenger =
        std::make_unique<Messenger>(*made->engine, made->settings, static_cast<uint32_t>(rank), peers);
    for (Path *path : made->paths()) made->engine->add_path(*path);
    if ((error = make_routes(*made))) return error;
    if ((error = make_universe(*made))) return error;
    if ((error = prove_datagrams(*made))) return error;
    start_helper();
    if (made->network.path && made->settings.connect == "all") connect_to_all(*made);
    made->record->world_rank = rank;
    made->record->process = getpid();
    made->record->state = 1;
    show_to_tools(*made);
    for (Path *path : made->paths()) log(LogLevel::info, "paths", "%s", path->describe().c_str());
    const Shared &shared = made->shared;
    log(LogLevel::info, "engine", "%d ranks share %d processors: a waiting rank %s", shared.ranks,
        shared.processors,
        shared.oversubscribed() ? "yields its processor" : "polls for a moment");
    return {};
}

}  // namespace lanyard
