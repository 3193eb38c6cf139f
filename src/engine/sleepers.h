// Sleepers manages the threads of this process that sleep inside MPI. One of these threads is the watcher: it
// sleeps where other processes wake this process (Idle). Each of the others sleeps on a word of its own,
// until its condition is met or pass_watch() chooses it as the new watcher.
// Invariant: while any thread sleeps, there is a watcher among the sleeping threads, or at least one waiting
// thread is awake. A thread that stops waiting while others sleep without a watcher wakes one of them
// (pass_watch). The woken thread becomes the watcher when it falls asleep again; if the woken thread stops
// waiting instead, it wakes the next sleeping thread.
// The watcher also wakes when a step is due, even if another thread has brought about that time since the
// watcher fell asleep (set_deadline, tell).
// Thread rule: any() and leave() by any thread; sleep() by a thread that does not own the engine; the rest by
// the owner.
// Tested by: tests/unit/engine/engine_test.cc.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/list.h"
#include "base/spin_lock.h"
#include "engine/condition.h"
#include "engine/idle.h"
#include "path/path.h"

namespace lanyard {

// Lives on the stack of a thread that sleeps.
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
    // Called before a thread sleeps. The thread becomes the watcher if there is none. Whatever other
    // processes publish from now on wakes the watcher. The thread calls leave() after sleep(), or instead of
    // sleep().
    void enter(Sleeper &sleeper);
    // Called between enter() and sleep(), with the time at which a step is due. The watcher sleeps until
    // then. If the watcher is another thread and would sleep for longer, it is woken, and sets its deadline
    // anew when it falls asleep again.
    void set_deadline(const Sleeper &sleeper, uint64_t deadline_ns);
    // Sleeps until the thread is woken. Only the watcher also wakes at its deadline.
    void sleep(Sleeper &sleeper);
    // Ends what enter() began. The caller need not own the engine.
    void leave(Sleeper &sleeper);
    // Wakes one of the sleeping threads if none of them is the watcher.
    void pass_watch();
    // Wakes the threads whose conditions are met. `step_is_due`: there is work to do, so the watcher is woken
    // too. `deadline_ns`: the time at which a step is due; a watcher that would sleep longer is woken too.
    void tell(bool step_is_due, uint64_t deadline_ns);

private:
    static void wake(Sleeper &sleeper);

    Idle &idle_;
    std::atomic<uint32_t> count_{0};
    SpinLock lock_;
    List<Sleeper, &Sleeper::hook> list_;
    bool watched_ = false;
    uint64_t watched_until_ns_ = no_deadline;  // the watcher's deadline
};

}  // namespace lanyard
