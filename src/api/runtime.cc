#include "api/runtime.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "api/node_services.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/processors.h"
#include "coll/node_area.h"

extern char **environ;

namespace lanyard {

namespace {

Runtime *the_runtime = nullptr;

// The name of the node's file where no launcher hands one down: the job's, the user's and the node's own.
std::string segment_name(const Bootstrap &bootstrap) {
    std::string job;
    for (char c : bootstrap.job()) job += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    int node = bootstrap.identity().node_of_rank.empty() ? 0 : bootstrap.identity().node_of_rank[static_cast<size_t>(bootstrap.rank())];
    return "lanyard-" + std::to_string(getuid()) + "-" + job + "-" + std::to_string(node);
}

// What every rank of the node must know alike, as algorithms are chosen by it: the processors they have together, though
// each may be bound to another.
void note_processors(SegmentHeader &header, bool first) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (size_t i = 0; i < std::size(header.processors) * 64; ++i)
        if (CPU_ISSET(i, &allowed)) header.processors[i / 64].fetch_or(uint64_t{1} << i % 64, std::memory_order_relaxed);
    int granted = granted_processors();
    if (first && granted < CPU_COUNT(&allowed)) header.processor_quota = static_cast<uint32_t>(granted);
}

// After the barrier that follows.
int noted_processors(const SegmentHeader &header) {
    int together = 0;
    for (const std::atomic<uint64_t> &word : header.processors) together += std::popcount(word.load(std::memory_order_relaxed));
    return header.processor_quota ? std::min(together, static_cast<int>(header.processor_quota)) : together;
}

// The first rank of the node makes the segment, the others map it once the barrier has told them that it is there.
Error make_segment(Runtime &made) {
    Bootstrap &bootstrap = *made.bootstrap;
    bool first = bootstrap.local_rank() == 0;
    auto members = static_cast<uint32_t>(bootstrap.local_size());
    int descriptor = bootstrap.segment_fd();
    bool named = descriptor < 0;
    std::string name = named ? segment_name(bootstrap) : "";
    Error error;
    if (first && named) error = open_named(made.settings.shm_dir, name, true, descriptor);
    if (first && !error) error = made.segment.create(descriptor, members);
    if (error && named) unlink_named(made.settings.shm_dir, name);
    if (error) return error;
    if ((error = bootstrap.barrier())) return error;
    if (!first && named) error = open_named(made.settings.shm_dir, name, false, descriptor);
    if (!error) error = made.segment.attach(descriptor);
    if (!error) note_processors(made.segment.header(), first);
    if (first && !error) {
        size_t bytes = bootstrap.local_size() == bootstrap.size() ? node_area_bytes(bootstrap.size()) : 0;
        made.segment.header().world_area = bytes ? made.segment.append_area(bytes) : 0;
    }
    if (error) return error;
    error = bootstrap.barrier();
    if (first && named) unlink_named(made.settings.shm_dir, name);
    return error;
}

// A process alone on its node has nobody to share a segment with, but its launcher may look into it.
void keep_record_alone(Runtime &made) {
    int descriptor = made.bootstrap->segment_fd();
    if (descriptor < 0) return;
    Error error = made.segment.create(descriptor, 1);
    if (!error) error = made.segment.attach(descriptor);
    if (error) error.discard();
    else made.record = &made.segment.member(0).wait;
}

Error make_paths(Runtime &made) {
    const Bootstrap &bootstrap = *made.bootstrap;
    std::vector<std::string> words = split_words(made.settings.paths);
    bool shm = std::find(words.begin(), words.end(), "shm") != words.end();
    made.self_path = std::make_unique<SelfPath>(static_cast<uint32_t>(bootstrap.rank()));
    if (bootstrap.local_size() == 1) keep_record_alone(made);
    if (!shm || bootstrap.local_size() == 1) return {};
    if (Error error = make_segment(made)) return error;
    std::vector<uint32_t> here;
    const std::vector<int> &node = bootstrap.identity().node_of_rank;
    for (int rank = 0; rank < bootstrap.size(); ++rank)
        if (node[static_cast<size_t>(rank)] == node[static_cast<size_t>(bootstrap.rank())]) here.push_back(static_cast<uint32_t>(rank));
    made.shm_path = std::make_unique<ShmPath>(made.segment, static_cast<uint32_t>(bootstrap.local_rank()), here, made.settings.cma);
    made.node_memory = std::make_unique<SegmentMemory>(made.segment);
    made.node_bell = std::make_unique<ShmBell>(*made.shm_path);
    made.record = &made.segment.member(static_cast<uint32_t>(bootstrap.local_rank())).wait;
    return {};
}

// Each rank must be reached by some path before anything is sent.
Error make_routes(Runtime &made) {
    const Bootstrap &bootstrap = *made.bootstrap;
    for (int rank = 0; rank < bootstrap.size(); ++rank) {
        auto peer = static_cast<uint32_t>(rank);
        if (made.self_path->reaches(peer)) {
            made.messenger->route(peer, *made.self_path);
        } else if (made.shm_path && made.shm_path->reaches(peer)) {
            made.messenger->route(peer, *made.shm_path);
        } else {
            const std::vector<int> &node = bootstrap.identity().node_of_rank;
            bool here = node[static_cast<size_t>(rank)] == node[static_cast<size_t>(bootstrap.rank())];
            return Error(ErrorClass::other,
                         "rank " + std::to_string(bootstrap.rank()) + " cannot reach rank " + std::to_string(rank) +
                             (here ? ": LANYARD_PATHS=" + made.settings.paths + " leaves no path to another process of this node; add shm"
                                   : " on another node: this version of Lanyard reaches processes of one node only"));
        }
    }
    return {};
}

void abort_job(Universe &, int code, std::string_view message) {
    the_runtime->bootstrap->abort(code, message);
    std::fflush(nullptr);
    _exit(code & 255 ? code & 255 : 1);
}

// Logged once the rank is known, so that the lines say whose they are.
void tell_start(const Runtime &made) {
    if (!log_enabled(LogLevel::debug)) return;
    const Settings usual;
    for (const SettingRow &row : setting_table())
        if (std::string value = setting_value(made.settings, row); value != setting_value(usual, row))
            log(LogLevel::debug, "settings", "LANYARD_%s=%s", row.name, value.c_str());
    const Bootstrap &bootstrap = *made.bootstrap;
    log(LogLevel::debug, "launch", "process %d is rank %d of %d in job %s, started by %s; rank %d of %d on this node", getpid(), bootstrap.rank(),
        bootstrap.size(), bootstrap.job().c_str(), bootstrap.identity().launcher.c_str(), bootstrap.local_rank(), bootstrap.local_size());
}

int node_processors(const Runtime &made) { return made.shm_path ? noted_processors(made.segment.header()) : granted_processors(); }

Error make_universe(Runtime &made) {
    const Bootstrap &bootstrap = *made.bootstrap;
    made.universe = std::make_unique<Universe>(*made.messenger, made.settings, static_cast<uint32_t>(bootstrap.rank()));
    Universe &universe = *made.universe;
    for (int node : bootstrap.identity().node_of_rank) universe.node_of_peer.push_back(static_cast<uint32_t>(node));
    universe.node_memory = made.node_memory.get();
    made.executor = std::make_unique<Executor>(*made.messenger, made.node_bell.get());
    universe.executor = made.executor.get();
    int processors = node_processors(made);
    universe.processors = bootstrap.local_size() > processors ? processors : 0;
    universe.abort = abort_job;
    if (bootstrap.appnum() >= 0) universe.predefined.appnum = bootstrap.appnum();
    universe.predefined.universe_size = bootstrap.universe_size() >= 0 ? bootstrap.universe_size() : bootstrap.size();
    Peers world(static_cast<size_t>(bootstrap.size()));
    for (size_t i = 0; i < world.size(); ++i) world[i] = static_cast<uint32_t>(i);
    std::byte *area = nullptr;
    size_t area_bytes = 0;
    if (made.shm_path && made.segment.header().world_area) {
        area = made.segment.at(made.segment.header().world_area);
        area_bytes = node_area_bytes(bootstrap.size());
    }
    return make_predefined(universe, std::move(world), area, area_bytes);
}

void copy_text(char *to, size_t room, const char *text) {
    size_t length = std::min(std::strlen(text), room - 1);
    std::memcpy(to, text, length);
    to[length] = 0;
}

}  // namespace

Runtime *runtime() { return the_runtime; }

Error make_runtime() {
    auto *made = new Runtime;  // lives until exit: other threads and exit handlers may still look at it
    std::vector<std::string> warnings;
    if (Error error = read_settings(environ, made->settings, warnings)) return error;
    set_log(made->settings.log.c_str());
    Error error;
    made->bootstrap = connect_bootstrap(error);
    if (error) return error;
    int rank = made->bootstrap->rank();
    set_log_name(("rank " + std::to_string(rank)).c_str());
    if (rank == 0 && made->bootstrap->identity().launcher != "mpirun")  // which has said so itself
        for (const std::string &warning : warnings) log(LogLevel::warn, "settings", "%s", warning.c_str());
    the_runtime = made;
    tell_start(*made);
    if ((error = make_paths(*made))) return error;
    IdlePolicy policy = choose_idle_policy(made->bootstrap->local_size(), node_processors(*made), made->settings.spin_us);
    made->idle = std::make_unique<ProcessIdle>(policy, made->shm_path.get(), made->record);
    made->engine = std::make_unique<Engine>(*made->idle);
    auto peers = static_cast<uint32_t>(made->bootstrap->size());
    made->messenger = std::make_unique<Messenger>(*made->engine, made->settings, static_cast<uint32_t>(rank), peers);
    for (Path *path : {static_cast<Path *>(made->self_path.get()), static_cast<Path *>(made->shm_path.get())})
        if (path) made->engine->add_path(*path);
    if ((error = make_routes(*made))) return error;
    if ((error = make_universe(*made))) return error;
    made->record->world_rank = rank;
    made->record->process = getpid();
    made->record->state = 1;
    for (Path *path : {static_cast<Path *>(made->self_path.get()), static_cast<Path *>(made->shm_path.get())})
        if (path) log(LogLevel::info, "paths", "%s", path->describe().c_str());
    return {};
}

Waiting::Waiting(const char *call, const Comm *comm, int peer, int tag, uint64_t sequence)
    : call_(call), comm_(comm), peer_(peer), tag_(tag), sequence_(sequence), others_(the_runtime->waits) {
    show();
}

Waiting::Waiting(const char *call, const Comm *comm, const WaitParts &parts)
    : call_(call), comm_(comm), peer_(abi::undefined), tag_(abi::undefined), sequence_(0), parts_(&parts), others_(the_runtime->waits) {
    show();
}

void Waiting::show() {
    if (others_) others_->since_ns_ = the_runtime->record->since_ns;
    the_runtime->waits = this;
    publish();
}

Waiting::~Waiting() {
    Waiting *&shown = the_runtime->waits;
    if (shown == this) {
        shown = others_;
        if (others_) others_->publish();
        else the_runtime->record->waiting.store(0, std::memory_order_release);
        return;
    }
    Waiting *newer = shown;  // another thread's
    while (newer->others_ != this) newer = newer->others_;
    newer->others_ = others_;
}

void Waiting::publish() const {
    WaitRecord &record = *the_runtime->record;
    copy_text(record.call, sizeof record.call, call_);
    if (comm_) copy_text(record.communicator, sizeof record.communicator, comm_->name.c_str());
    else record.communicator[0] = 0;
    record.peer = peer_;
    record.tag = tag_;
    record.context = comm_ ? comm_->context : 0;
    record.sequence = sequence_;
    if (parts_) record.parts = *parts_;
    else record.parts.requests = 0;
    record.since_ns = since_ns_;
    const MessageCounts &counts = the_runtime->messenger->counts();
    record.sent.store(counts.sent, std::memory_order_relaxed);
    record.matched.store(counts.matched, std::memory_order_relaxed);
    record.waiting.store(1, std::memory_order_release);
}

}  // namespace lanyard
