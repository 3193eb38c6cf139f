// The threads of this process that sleep inside MPI. One is the watcher: it sleeps where other processes wake this one (Idle); each of the
// rest sleeps on a word of its own, until its condition is met or the last thread awake leaves and names a new watcher.
// Rule: while anyone sleeps, somebody watches or is awake and waits. Who stops waiting while others sleep and nobody watches wakes one of
// them (pass_watch): it becomes the watcher by falling asleep again, or stops waiting in its turn and wakes the next.
// Thread rule: any() by any thread; sleep() by a thread that does not own the engine; the rest by the owner.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/list.h"
#include "base/spin_lock.h"
#include "engine/condition.h"
#include "engine/idle.h"

namespace lanyard {

// On the stack of a thread that sleeps.
struct Sleeper {
    explicit Sleeper(const Condition &awaited) : condition(awaited) {}

    Hook hook;
    const Condition &condition;
    std::atomic<uint32_t> signal{0};
    bool watcher = false;
};

class Sleepers {
public:
    explicit Sleepers(Idle &idle) : idle_(idle) {}
    Sleepers(const Sleepers &) = delete;
    Sleepers &operator=(const Sleepers &) = delete;

    bool any(std::memory_order order = std::memory_order_relaxed) const { return count_.load(order) > 0; }
    // Before a thread sleeps: whatever comes from now on wakes it. After it, or instead of it, leave().
    void enter(Sleeper &sleeper);
    // Until it is woken, or, the watcher alone, until the deadline.
    void sleep(Sleeper &sleeper, uint64_t deadline_ns);
    // By any thread, which need not own the engine.
    void leave(Sleeper &sleeper);
    void pass_watch();
    // Wakes those whose conditions are met; `step_is_due`: the watcher too, as there is work.
    void tell(bool step_is_due);

private:
    static void wake(Sleeper &sleeper);

    Idle &idle_;
    std::atomic<uint32_t> count_{0};
    SpinLock lock_;
    List<Sleeper, &Sleeper::hook> list_;
    bool watched_ = false;
};

}  // namespace lanyard
