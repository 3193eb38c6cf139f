// The engine makes the progress of one runtime. To Progress (progress.h) it adds ownership, and threads that
// wait. One thread at a time owns the engine and makes its turns. A thread that finds the engine taken waits
// for the engine (engine_lock.h) or for its own completion.
// All waiting is done here. The Idle (idle.h) decides how long to spin and when to sleep; sleepers.h
// describes who wakes which thread.
//
// While the program is outside MPI, a helper may own the engine instead (helper.h). Some requests may arrive
// even while this process has nothing under way: a peer accesses the memory of a window, or connects to a
// port. A process that must answer such requests holds attention (see Attention and attend()).
//
// Thread rule: the caller of a function marked [owner], or of any function of Progress except hand_in(),
// has_posted() and read_now_ns(), must have taken the engine (EngineGuard). Functions without a mark state
// their own rule.
// Paths, tasks, the helper and the Idle belong to the callers that pass them, and must live as long as the
// engine uses them. No function here returns an error.
#pragma once

#include <atomic>
#include <cassert>
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

    // Called before the first turn, by the thread that creates the runtime. Paths are polled in the order in
    // which they are added.
    void add_path(Path &path) {
        paths().add(path);
        batching_.allow(helper_);
    }
    // [owner] Requires that nothing is under way on the old path.
    void replace_path(const Path &old, Path &path) {
        check_owner();
        paths().replace(old, path);
        batching_.allow(helper_);
    }

    // Sets the helper. Requires that no thread is in MPI and that the engine is not single-threaded. nullptr
    // removes the helper, which must have been stopped; no other thread may be in MPI then. `memory`: peers
    // also wake the helper when they have written to shared memory, which costs them a system call.
    void set_helper(Helper *helper, bool memory = false) {
        helper_ = helper;
        helped_by_memory_ = memory;
        batching_.allow(helper_);
        leaves_slowly_.store(helper_ || after_leaving_.load(), std::memory_order_relaxed);
    }
    // Any thread. From now on, each thread of the program calls `function` after it has left the engine. The
    // function may call functions of the program. nullptr: no function is called any more.
    void call_after_leaving(void (*function)()) {
        after_leaving_.store(function);
        leaves_slowly_.store(helper_ || function, std::memory_order_relaxed);
    }
    // Called before the first turn. true: ranks outnumber processors on this node, so a thread that waits for
    // another process yields its processor.
    void set_oversubscribed(bool oversubscribed) { oversubscribed_ = oversubscribed; }
    bool oversubscribed() const { return oversubscribed_; }
    // true: the program has promised that no two threads are in MPI at once, and no helper exists, so taking
    // the engine needs no atomic operation. Called by a thread that is alone in MPI, and never while a helper
    // exists, since the helper reads this value.
    void set_single_threaded(bool single) { lock_.set_single_threaded(single); }
    bool single_threaded() const { return lock_.single_threaded(); }

    // In builds for tests, fails if the caller has not taken the engine. Functions that begin an operation,
    // wait or make turns call check_owner(), here and in the messenger and the collectives. Functions that
    // only these call, and short ones that read or set one value, do not.
    void check_owner() const { assert(lock_.allows_caller() && "the caller has not taken the engine"); }

    // For the helper, and for code that pauses its ownership: such callers do not enter or leave MPI by the
    // call. try_take() and take() are for any thread that does not own the engine; try_take() does not wait.
    // give_up() is for the owner, and wakes the threads whose completions this owner has brought about. With
    // left_open, the helper learns when the program returns.
    bool try_take() { return lock_.try_take(); }
    void take() { lock_.take(); }
    void give_up(EngineLock::State as = EngineLock::free) {
        if (lock_.single_threaded()) return;
        if (sleepers_.any()) tell_sleepers();
        lock_.release(as);
    }

    // enter() and leave() take and give up the engine for a thread of the program that enters or leaves MPI
    // (EngineGuard). leave() may call the function of call_after_leaving().
    void enter() {
        if (!lock_.take_if_free()) enter_slowly();
    }
    void leave() {
        if (leaves_slowly_.load(std::memory_order_relaxed)) [[unlikely]] leave_slowly();
        else give_up();
    }

    // [owner] Makes one turn. Returns the amount of work done, 0 if nothing moved.
    int make_turn();
    // Called by any thread, even one that never enters MPI. Lets the owner's next turn run `task`. Wakes a
    // sleeping thread, if there is one, to make this turn. If the process has no helper and no thread in MPI,
    // the task runs when a thread enters MPI and makes a turn. `task` must live until it runs, and must not
    // be posted again before. post() must not be called during set_helper().
    void post(Task &task);

    // The waiting functions below make turns, and a turn may run any task, poller or continuation. During the
    // wait other threads may own the engine, so the caller's state may have changed afterwards.
    //
    // [owner] Makes a few turns for a condition that is likely to be met soon. They take less than a
    // microsecond if the paths poll only memory, and some microseconds with sockets. Returns whether the
    // condition is met. If so, the caller need not write a wait record.
    bool met_soon(const Condition &condition);
    // [owner] Makes turns until the completion is done. Gives the engine up while it sleeps or yields, and
    // when other threads want the engine. No other thread may wait for this completion.
    void wait_owned(Completion &completion);
    // [owner] The same until the condition is met. Whichever thread owns the engine evaluates the condition;
    // this may be the helper. The condition must therefore neither block nor call the program's functions.
    void wait_owned(const Condition &condition);
    // [owner] The same, but at the latest until read_now_ns() reaches `limit_ns`. Returns whether the
    // condition is met. Only one thread at a time may make such a wait.
    bool wait_owned(const Condition &condition, uint64_t limit_ns);
    // [owner] For MPI calls that need no turn: makes a turn in every glances_per_turn-th call, so that other
    // operations advance.
    void glance() {
        check_owner();
        if (++glances_ % glances_per_turn == 0) make_turn();
    }
    // [owner] Makes one turn for a call of MPI_Test or a similar function that found nothing. Paths that are
    // polled by system calls are polled only every few microseconds. If many such calls in a row find nothing
    // either, and the Idle does not choose to spin, the call also yields the processor (TestPace). By default
    // the Idle does not spin where ranks outnumber processors.
    void turn_for_test();
    // [owner]
    TestPace &test_pace() { return pace_; }
    // [owner]
    Batching &batching() { return batching_; }

    // [owner] From now on peers may request something of this process at any time. Whenever no thread is in
    // MPI, the helper (if one exists) is armed (helper.h), however soon the program may return and however
    // scarce processors are. Each attend() needs one attend_no_more().
    void attend();
    void attend_no_more();

    // [owner] For the helper: makes turns until nothing moves any more. Returns false if help() stopped
    // because another thread wants the engine.
    bool help();
    // [owner] Does the helper make the current turn? The helper must not call the program's functions.
    bool helping() const { return helping_; }
    // Does a thread of the program sleep inside MPI? Any thread may call this.
    bool someone_sleeps() const { return sleepers_.any(std::memory_order_seq_cst); }
    // [owner] Is the current turn made for a wait whose condition is already met?
    bool wait_is_over() const { return awaited_ && (*awaited_)(); }
    // [owner] The time at which a turn is due even if nothing arrives.
    uint64_t deadline_ns() { return std::min(Progress::deadline_ns(), wait_limit_ns_); }

private:
    static constexpr uint32_t glances_per_turn = 64;

    void await_peers();
    void enter_slowly();
    void leave_slowly();
    void leave_to_helper();
    void leave_nothing_out();
    void sleep(const Condition &condition);
    void tell_sleepers();

    alignas(64) EngineLock lock_;
    std::atomic<bool> leaves_slowly_{false};  // a helper exists, or after_leaving_ is set
    const Condition *awaited_ = nullptr;      // set during a turn that is made for a wait
    Idle &idle_;
    Sleepers sleepers_;
    Batching batching_;
    TestPace pace_;
    Helper *helper_ = nullptr;
    bool helping_ = false, helped_by_memory_ = false, oversubscribed_ = false;
    uint32_t attentions_ = 0;  // how often attention is held; each counts as something under way
    uint32_t glances_ = 0;
    uint64_t trimmed_ns_ = 0;
    uint64_t wait_limit_ns_ = no_deadline;
    std::atomic<void (*)()> after_leaving_{nullptr};
    EngineCounts counts_;
    CounterSource counted_{engine_counters(), counts_};
};

// A thread of the program inside an MPI call owns the engine while its EngineGuard exists. The thread must
// not own the engine before.
class EngineGuard {
public:
    explicit EngineGuard(Engine &engine) : engine_(engine) { engine_.enter(); }
    ~EngineGuard() { engine_.leave(); }
    EngineGuard(const EngineGuard &) = delete;
    EngineGuard &operator=(const EngineGuard &) = delete;

private:
    Engine &engine_;
};

// [owner] While an Attention exists, the process holds attention (Engine::attend).
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
