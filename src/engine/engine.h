// The engine of one runtime: progress (progress.h), plus ownership, plus threads that wait. One thread at a
// time owns the engine and makes its turns. A thread that finds it taken waits for the engine (engine_lock.h)
// or for its own completion.
// All waiting is done here. The Idle decides how long to spin and when to sleep; sleepers.h describes who
// wakes which thread.
//
// While the program is outside MPI, a helper may own the engine instead (helper.h). Requests that peers may
// send at any time, not only while this process has something under way (access to a window's memory, a
// connection to a port), need its attention: see Attention and attend().
//
// Thread rule: the caller of a function marked [owner], or of any function of Progress except hand_in(), must
// have taken the engine (EngineGuard).
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/batching.h"
#include "engine/condition.h"
#include "engine/counters.h"
#include "engine/engine_lock.h"
#include "engine/idle.h"
#include "engine/progress.h"
#include "engine/sleepers.h"
#include "engine/test_pace.h"

namespace lanyard {

class Helper;

class Engine : public Progress {
public:
    explicit Engine(Idle &idle) : Progress(idle), idle_(idle), sleepers_(idle), batching_(paths()) {}

    // Before the first step. Paths are polled in the order in which they are added.
    void add_path(Path &path) {
        paths().add(path);
        batching_.allow(helper_);
    }
    // [owner] While nothing is under way on the old path.
    void replace_path(const Path &old, Path &path) {
        paths().replace(old, path);
        batching_.allow(helper_);
    }

    // While no thread is in MPI, and the engine is not single-threaded. nullptr: the helper has been stopped,
    // and no other thread is in MPI. `memory`: peers also wake the helper when they have written to shared
    // memory, which costs them a system call.
    void set_helper(Helper *helper, bool memory = false) {
        helper_ = helper;
        helped_by_memory_ = memory;
        batching_.allow(helper_);
        leaves_slowly_.store(helper_ || after_leaving_.load(), std::memory_order_relaxed);
    }
    // From now on, a thread of the program calls `function` each time after it has left the engine. The
    // function may call functions of the program. nullptr: none.
    void call_after_leaving(void (*function)()) {
        after_leaving_.store(function);
        leaves_slowly_.store(helper_ || function, std::memory_order_relaxed);
    }
    // Ranks outnumber processors here, so a thread that waits for another process yields its processor.
    void set_oversubscribed(bool oversubscribed) { oversubscribed_ = oversubscribed; }
    bool oversubscribed() const { return oversubscribed_; }
    // The program has promised that no two threads are in MPI at once, and no helper exists: taking the
    // engine needs no atomic operation. Changed by a thread that is alone in MPI, and never while a helper
    // exists, since it reads this value.
    void set_single_threaded(bool single) { lock_.set_single_threaded(single); }
    bool single_threaded() const { return lock_.single_threaded(); }

    bool try_take() { return lock_.try_take(); }
    void take() { lock_.take(); }
    void give_up() { give_up_as(EngineLock::free); }

    // The same for a thread of the program that enters or leaves MPI.
    void enter() {
        if (!lock_.take_if_free()) enter_slowly();
    }
    void leave() {
        if (leaves_slowly_.load(std::memory_order_relaxed)) [[unlikely]] leave_slowly();
        else give_up();
    }

    // [owner] Makes one turn. Returns the amount of work done, 0 if nothing moved.
    int step();
    // Any thread, also one that is never in MPI: runs `task` at the owner's next step, and wakes a thread
    // that sleeps for it. If the process has no helper and no thread in MPI, the task runs when a thread
    // enters and steps. The engine owns `task` until it runs; from then on it may be posted again. Not to be
    // called while the helper is being set.
    void post(Task &task);

    // [owner] Makes a few steps, which take a fraction of a microsecond, for a condition that is likely to be
    // met soon. Returns whether it is met. In this case the caller need not write a wait record.
    bool comes_soon(const Condition &condition);
    // [owner] Drives the engine until the completion is done. Gives the engine up in between if other threads
    // want it, or to sleep.
    void wait_owned(Completion &completion);
    // [owner] The same until the condition is met. Whichever thread owns the engine evaluates the condition.
    void wait_owned(const Condition &condition);
    // [owner] The same, but at the latest until read_now_ns() reaches `limit_ns`. Returns whether the
    // condition is met. Only one such wait at a time.
    bool wait_owned(const Condition &condition, uint64_t limit_ns);
    // [owner] For a call that needed no step: makes one step every few calls nevertheless, so that other
    // operations advance.
    void glance() {
        if (++glances_ % glances_per_turn == 0) step();
    }
    // [owner] Makes one turn for a test that found nothing. Where ranks outnumber processors, it yields the
    // processor after every few of these in a row. Paths that are polled by system calls take part only every
    // few microseconds.
    void step_for_test();
    void found_something() { fruitless_tests_ = 0; }
    Batching &batching() { return batching_; }

    // [owner] From now on peers may request something of this process at any time. Whenever no thread is in
    // MPI, the helper (if one exists) is armed, however soon the program may return and however scarce
    // processors are. Each attend() needs one attend_no_more().
    void attend();
    void attend_no_more();

    // For the helper, which has taken the engine: steps until nothing moves any more. Returns false if it
    // stopped because another thread wants the engine.
    bool help();
    // [owner] Is the helper the one that steps? It must not call the program's functions.
    bool helping() const { return helping_; }
    // Does a thread of the program sleep inside MPI? Any thread may call this.
    bool someone_sleeps() const { return sleepers_.any(std::memory_order_seq_cst); }
    // [owner] Is the current step made for a wait whose condition is already met?
    bool wait_is_over() const { return awaited_ && (*awaited_)(); }
    // [owner] The time at which a step is due even if nothing arrives.
    uint64_t deadline_ns() const { return std::min(Progress::deadline_ns(), wait_limit_ns_); }

    // The current time; reads the clock.
    uint64_t read_now_ns() const { return idle_.now_ns(); }

private:
    static constexpr uint32_t glances_per_turn = 64;

    void give_up_as(EngineLock::State state) {
        if (lock_.single_threaded()) return;
        if (sleepers_.any()) tell_sleepers();
        lock_.release(state);
    }
    void await_peers();
    void enter_slowly();
    void leave_slowly();
    void leave_to_helper();
    void leave_nothing_out();
    void sleep(const Condition &condition);
    void tell_sleepers();

    alignas(64) EngineLock lock_;
    std::atomic<bool> leaves_slowly_{false};  // a helper exists, or a function to call
    const Condition *awaited_ = nullptr;      // during a step for a wait
    Idle &idle_;
    Sleepers sleepers_;
    Batching batching_;
    TestPace pace_;
    Helper *helper_ = nullptr;
    bool helping_ = false, helped_by_memory_ = false, oversubscribed_ = false;
    uint32_t attentions_ = 0;  // each of them also counts as under way
    uint32_t fruitless_tests_ = 0, glances_ = 0;
    uint64_t rested_ns_ = 0;
    uint64_t wait_limit_ns_ = no_deadline;
    std::atomic<void (*)()> after_leaving_{nullptr};
    EngineCounts counts_;
    CounterSource counted_{engine_counters(), counts_};
};

class EngineGuard {
public:
    explicit EngineGuard(Engine &engine) : engine_(engine) { engine_.enter(); }
    ~EngineGuard() { engine_.leave(); }
    EngineGuard(const EngineGuard &) = delete;
    EngineGuard &operator=(const EngineGuard &) = delete;

private:
    Engine &engine_;
};

// [owner] Holds the process's attention while it lives.
class Attention {
public:
    explicit Attention(Engine &engine) : engine_(engine) { engine_.attend(); }
    ~Attention() { engine_.attend_no_more(); }
    Attention(const Attention &) = delete;
    Attention &operator=(const Attention &) = delete;

private:
    Engine &engine_;
};

}  // namespace lanyard
