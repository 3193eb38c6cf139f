// The engine of one runtime: progress (progress.h) with an owner, and with threads that wait for it. One owner at a time makes its turns;
// threads that find it taken wait for it (engine_lock.h), or for their own completion.
// Waiting is here and nowhere else; how long to spin and when to sleep is the Idle's decision, who wakes whom is in sleepers.h.
//
// While the program is outside MPI a helper may own the engine instead (helper.h). What others may ask of this process at any time, and not only
// while something of its own is under way (a window's memory, a port), holds its attention: an Attention, or attend().
//
// Thread rule: functions marked [owner], and those of Progress, need the engine taken by the calling thread (EngineGuard).
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/condition.h"
#include "engine/counters.h"
#include "engine/engine_lock.h"
#include "engine/batching.h"
#include "engine/idle.h"
#include "engine/progress.h"
#include "engine/sleepers.h"
#include "engine/test_pace.h"

namespace lanyard {

class Helper;

class Engine : public Progress {
public:
    explicit Engine(Idle &idle) : Progress(idle), idle_(idle), sleepers_(idle), batching_(paths()) {}

    // Before the first step: what is polled, in order.
    void add_path(Path &path) {
        paths().add(path);
        batching_.allow(helper_);
    }
    // [owner] While nothing is under way on it.
    void replace_path(const Path &old, Path &path) {
        paths().replace(old, path);
        batching_.allow(helper_);
    }

    // While nobody is in MPI, and the engine is not single-threaded. nullptr: it has been stopped, and nobody else is in MPI. `memory`:
    // peers wake it too when they have written to shared memory, which costs them a system call.
    void set_helper(Helper *helper, bool memory = false) {
        helper_ = helper;
        helped_by_memory_ = memory;
        batching_.allow(helper_);
        leaves_slowly_.store(helper_ || after_leaving_.load(), std::memory_order_relaxed);
    }
    // What a thread of the program calls from now on each time it has left: there it may call the program's functions. nullptr: nothing.
    void call_after_leaving(void (*function)()) {
        after_leaving_.store(function);
        leaves_slowly_.store(helper_ || function, std::memory_order_relaxed);
    }
    // Ranks outnumber processors here: who waits for another gives its processor up.
    void set_oversubscribed(bool oversubscribed) { oversubscribed_ = oversubscribed; }
    bool oversubscribed() const { return oversubscribed_; }
    // The program promised that no two threads are in MPI at once, and there is no helper: taking the engine needs no atomic operation.
    // Changed by a thread that is alone in MPI, and never while there is a helper, which reads it.
    void set_single_threaded(bool single) { lock_.set_single_threaded(single); }
    bool single_threaded() const { return lock_.single_threaded(); }

    bool try_take() { return lock_.try_take(); }
    void take() { lock_.take(); }
    void give_up() { give_up_as(EngineLock::free); }

    // The same, by a thread of the program that enters MPI, and that leaves it.
    void enter() {
        if (!lock_.take_if_free()) enter_slowly();
    }
    void leave() {
        if (leaves_slowly_.load(std::memory_order_relaxed)) [[unlikely]] leave_slowly();
        else give_up();
    }

    // [owner] One turn of everything; the amount of work done, 0 when nothing moved.
    int step();
    // Any thread, one that is never in MPI too: runs `task` at the owner's next step, and wakes whoever sleeps for it. A process of which nobody
    // is in MPI, and which has no helper, runs it when a thread enters and steps. `task` is the engine's until it runs, and may be posted again
    // from then on. Not while the helper is being set.
    void post(Task &task);

    // [owner] Some steps, a fraction of a microsecond, for what is likely to be near; is it there? Spares who waits the record of what it waits
    // for.
    bool comes_soon(const Condition &condition);
    // [owner] Drives the engine until the completion is done. Gives it up in between where others want it or it sleeps.
    void wait_owned(Completion &completion);
    // [owner] The same until the condition is met; it is asked by whichever thread owns the engine.
    void wait_owned(const Condition &condition);
    // [owner] The same, until that time of read_now_ns() at the latest; is it met then? One such wait at a time.
    bool wait_owned(const Condition &condition, uint64_t limit_ns);
    // [owner] For a call that found all it needed there: now and then a turn nevertheless, so that what else is under way goes on.
    void glance() {
        if (++glances_ % glances_per_turn == 0) step();
    }
    // [owner] One turn on behalf of a test that found nothing; where ranks outnumber processors every few of these in a row
    // give the processor away. Paths that are polled by system calls have their turn every few microseconds only.
    void step_for_test();
    void found_something() { fruitless_tests_ = 0; }
    Batching &batching() { return batching_; }

    // [owner] From now on others may ask something of this process at any time: whenever nobody is in MPI the helper is armed, if there is one,
    // however soon the program may be back and however scarce processors are. Each call is ended by one of attend_no_more().
    void attend();
    void attend_no_more();

    // For the helper, which has taken the engine: steps until nothing moves any more; false when it stopped as somebody wants the engine.
    bool help();
    // [owner] Is it the helper who steps? It must not call the program's functions.
    bool helping() const { return helping_; }
    // Does a thread of the program sleep inside MPI? Any thread may ask.
    bool someone_sleeps() const { return sleepers_.any(std::memory_order_seq_cst); }
    // [owner] Does it step for a wait that is over?
    bool wait_is_over() const { return awaited_ && (*awaited_)(); }
    // [owner] When a step is due though nothing comes.
    uint64_t deadline_ns() const { return std::min(Progress::deadline_ns(), wait_limit_ns_); }

    // The time of this moment, by a look at the clock.
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
    std::atomic<bool> leaves_slowly_{false};  // there is a helper, or something to call
    const Condition *awaited_ = nullptr;  // during a step for a wait
    Idle &idle_;
    Sleepers sleepers_;
    Batching batching_;
    TestPace pace_;
    Helper *helper_ = nullptr;
    bool helping_ = false, helped_by_memory_ = false, oversubscribed_ = false;
    uint32_t attentions_ = 0;  // each is under way, too
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
