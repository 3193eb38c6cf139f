// The engine of one runtime: one owner at a time polls the paths, runs what is ready and fires timers. It has no locks
// inside; taking it is one compare-and-swap. Threads that find it taken wait for it or for their own completion.
// Waiting is here and nowhere else (wait.h): spin, yield, sleep.
//
// Thread rule: functions marked [owner] need the engine taken by the calling thread (EngineGuard).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/list.h"
#include "engine/completion.h"
#include "engine/idle.h"
#include "path/path.h"

namespace lanyard {

// Work to be done at the next step, once: a schedule whose steps became ready, a protocol that found no room.
struct Task {
    Hook hook;
    void (*run)(Task &) = nullptr;
};

// Looked at on every step until unlinked: memory that another process changes (shared-memory collectives).
struct Poller {
    Hook hook;
    int (*poll)(Poller &, uint64_t now_ns) = nullptr;  // returns the work done; may unlink itself
};

class Engine {
public:
    Engine(std::vector<Path *> paths, Sink &sink, Idle &idle);

    bool try_take() {
        uint32_t expected = 0;
        return owned_.load(std::memory_order_relaxed) == 0 && owned_.compare_exchange_strong(expected, 1, std::memory_order_acquire);
    }
    void take() {
        if (!try_take()) take_slowly();
    }
    void give_up() {
        if (owned_.exchange(0, std::memory_order_release) == 2) wake_contender();
    }

    // [owner] One turn of everything; the amount of work done, 0 when nothing moved.
    int step();
    // [owner] Runs `task` in the next step.
    void ready(Task &task) {
        if (!task.hook.linked()) tasks_.push_back(task);
    }
    void watch(Poller &poller) { pollers_.push_back(poller); }

    // Not owning the engine: drives it (or lets another thread) until waiter.done(). Returns early, false, when `interrupted`
    // says so (used by the launcher-facing abort path); else true.
    void wait(Waiter &waiter);
    // [owner] The same for the blocking calls' fast path: steps while owning until the completion is done; may give the engine up
    // and take it again in between.
    void wait_owned(const Completion &completion);
    // A nonblocking call that found nothing: after several of these in a row the processor is given away once.
    void found_nothing();
    void found_something() { empty_tests_ = 0; }

    uint64_t now_ns() const { return now_ns_; }

private:
    void take_slowly();
    void wake_contender();

    alignas(64) std::atomic<uint32_t> owned_{0};  // 0 free, 1 taken, 2 taken and somebody sleeps for it
    std::atomic<int32_t> contenders_{0};
    std::vector<Path *> paths_;
    Sink &sink_;
    Idle &idle_;
    List<Task, &Task::hook> tasks_;
    List<Poller, &Poller::hook> pollers_;
    uint64_t now_ns_ = 0;
    uint32_t empty_tests_ = 0;
};

class EngineGuard {
public:
    explicit EngineGuard(Engine &engine) : engine_(engine) { engine_.take(); }
    ~EngineGuard() { engine_.give_up(); }
    EngineGuard(const EngineGuard &) = delete;
    EngineGuard &operator=(const EngineGuard &) = delete;

private:
    Engine &engine_;
};

}  // namespace lanyard
