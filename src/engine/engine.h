// The engine of one runtime: one owner at a time polls the paths, runs what is ready and fires timers. It has no locks
// inside; taking it is one compare-and-swap, and nothing at all while the program promised one thread at a
// time. Threads that find it taken wait for it, or for their own completion.
// Waiting is here and nowhere else; how long to spin and when to sleep is the Idle's decision.
//
// While the program is outside MPI a helper may own the engine instead (helper.h). What others may ask of this process at any time, and not only
// while something of its own is under way (a window's memory, a port), holds its attention: an Attention, or attend().
//
// Thread rule: functions marked [owner] need the engine taken by the calling thread (EngineGuard).
// Of several threads that sleep one is the watcher: it sleeps where other processes wake this one; the rest sleep each on
// a word of their own until their completion or until the last thread awake leaves and names a new watcher.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/list.h"
#include "base/spin_lock.h"
#include "engine/completion.h"
#include "engine/counters.h"
#include "engine/idle.h"
#include "path/path.h"

namespace lanyard {

// Work to be done at the next step, once: a schedule whose steps became ready, a protocol that found no room.
struct Task {
    Hook hook;
    int (*run)(Task &) = nullptr;  // returns the work done; may make itself ready again
};

// Looked at on every step until unlinked: memory that another process changes (shared-memory collectives).
struct Poller {
    Hook hook;
    int (*poll)(Poller &, uint64_t now_ns) = nullptr;  // returns the work done; may unlink itself
};

// What a thread waits for.
struct Condition {
    bool (*met)(const void *subject);
    const void *subject;
    bool operator()() const { return met(subject); }
};

class Helper;

class Engine {
public:
    explicit Engine(Idle &idle) : idle_(idle) {}
    Engine(const Engine &) = delete;
    Engine &operator=(const Engine &) = delete;

    // Before the first step: what is polled, in order, and where it delivers.
    void add_path(Path &path) {
        bool by_system_call = path.info.descriptor >= 0;
        paths_.push_back({&path, by_system_call});
        any_sockets_ |= by_system_call;
        weigh_gathering();
    }
    // [owner] While nothing is under way on it.
    void replace_path(const Path &old, Path &path);
    void set_sink(Sink &sink) { sink_ = &sink; }

    // While nobody is in MPI, and the engine is not single-threaded. nullptr: it has been stopped, and nobody else is in MPI. `memory`:
    // peers wake it too when they have written to shared memory, which costs them a system call.
    void set_helper(Helper *helper, bool memory = false) {
        helper_ = helper;
        helped_by_memory_ = memory;
        weigh_gathering();
        leaves_slowly_.store(helper_ || after_leaving_.load(), std::memory_order_relaxed);
    }
    // What a thread of the program calls from now on each time it has left: there it may call the program's functions. nullptr: nothing.
    void call_after_leaving(void (*function)()) {
        after_leaving_.store(function);
        leaves_slowly_.store(helper_ || function, std::memory_order_relaxed);
    }
    // Ranks outnumber processors here: who waits for another gives its processor up.
    void set_crowded(bool crowded) { crowded_ = crowded; }
    bool crowded() const { return crowded_; }
    // The program promised that no two threads are in MPI at once, and there is no helper: taking the engine needs no atomic operation.
    // Changed by a thread that is alone in MPI, and never while there is a helper, which reads it.
    void set_single_threaded(bool single) {
        if (single_threaded_ != single) single_threaded_ = single;
    }

    bool single_threaded() const { return single_threaded_; }

    bool try_take() { return take_from(free) || take_from(left_open); }
    void take() {
        if (!single_threaded_ && !take_from(free)) take_slowly();
    }
    void give_up() { give_up_as(free); }

    // The same, by a thread of the program that enters MPI, and that leaves it.
    void enter() {
        if (!single_threaded_ && !take_from(free)) enter_slowly();
    }
    void leave() {
        if (leaves_slowly_.load(std::memory_order_relaxed)) [[unlikely]] leave_slowly();
        else give_up();
    }

    // [owner] One turn of everything; the amount of work done, 0 when nothing moved.
    int step();
    // [owner] Runs `task` in the next step.
    void ready(Task &task) {
        if (task.hook.linked()) return;
        tasks_.push_back(task);
        work_left_ = true;
    }
    // Any thread, one that is never in MPI too: runs `task` at the owner's next step, and wakes whoever sleeps for it. A process of which nobody
    // is in MPI, and which has no helper, runs it when a thread enters and steps. `task` is the engine's until it runs, and may be posted again
    // from then on. Not while the helper is being set.
    void post(Task &task);
    bool has_posted() const { return any_posted_.load(std::memory_order_relaxed); }
    // [owner] Makes `task` ready at that time, unless another time is set already.
    void set_alarm(uint64_t at_ns, Task &task) {
        if (alarm_) return;
        alarm_ = &task;
        alarm_ns_ = at_ns;
    }
    // [owner] Polls `poller` on every step from now on.
    void watch(Poller &poller) { pollers_.push_back(poller); }

    // [owner] Some steps, a fraction of a microsecond, for a completion that is likely to be near; is it there? Spares who waits the record of
    // what it waits for.
    bool comes_soon(const Completion &completion) {
        return comes_soon(Condition{[](const void *subject) { return static_cast<const Completion *>(subject)->complete(); }, &completion});
    }
    bool comes_soon(const Waiter &waiter) {
        return comes_soon(Condition{[](const void *subject) { return static_cast<const Waiter *>(subject)->done(); }, &waiter});
    }
    bool comes_soon(const Condition &condition);
    // [owner] Drives the engine until the completion is done. Gives it up in between where others want it or it sleeps.
    void wait_owned(Completion &completion);
    // [owner] The same for several completions that count this waiter down.
    void wait_owned(Waiter &waiter);
    // [owner] The same until `met` says so; it is asked by whichever thread owns the engine.
    void wait_owned(const Condition &condition);
    // [owner] The same, until that time of read_now_ns() at the latest; is it met then? One such wait at a time.
    bool wait_owned(const Condition &condition, uint64_t limit_ns);
    // [owner] For a call that found all it needed there: now and then a turn nevertheless, so that what else is under way goes on.
    void glance() {
        if (++glances_ % glances_per_turn == 0) step();
    }
    // [owner] By a call that another must follow and complete (a nonblocking send), before it sends: paths may keep envelopes until a thread
    // leaves that is in no such call, to send them with those that follow. Whoever completes what was sent so enters for this. Only where a
    // path batches, and a helper looks after what it keeps should the program stay away.
    bool gathers() const { return gathers_; }
    void gather() {
        gathers_for_call_ = true;
        if (!gathering_) tell_to_gather(true);
    }
    void gather_no_more() {
        gathers_for_call_ = false;
        if (gathering_) tell_to_gather(false);
    }

    // [owner] One turn on behalf of a test that found nothing; where ranks outnumber processors every few of these in a row
    // give the processor away. Paths that are polled by system calls have their turn every few microseconds only.
    void step_for_test();
    void found_something() { fruitless_tests_ = 0; }

    // [owner] Something began, or is over, that goes on without the program if somebody steps: a transfer that peers take part in.
    void begin_under_way() { ++under_way_; }
    void end_under_way() { --under_way_; }
    // [owner] From now on others may ask something of this process at any time: whenever nobody is in MPI the helper is armed, if there is one,
    // however soon the program may be back and however scarce processors are. Each call is ended by one of attend_no_more().
    void attend();
    void attend_no_more();
    // [owner] Would anything go on without the program, now; and is anything still to be acknowledged by peers?
    bool under_way() const;
    bool unsettled() const;

    // For the helper, which has taken the engine: steps until nothing moves any more; false when it stopped as somebody wants the engine.
    bool help();
    // [owner] Is it the helper who steps? It must not call the program's functions.
    bool helping() const { return helping_; }
    // Does a thread of the program sleep inside MPI? Any thread may ask.
    bool someone_sleeps() const { return sleepers_.load(std::memory_order_seq_cst) > 0; }
    // [owner] Does it step for a wait that is over?
    bool wait_is_over() const { return awaited_ && (*awaited_)(); }
    // [owner] When a step is due though nothing comes.
    uint64_t deadline_ns() const;

    uint64_t now_ns() const { return now_ns_; }
    // The same of this moment, by a look at the clock.
    uint64_t read_now_ns() const { return idle_.now_ns(); }

    const EngineCounts &counts() const { return counts_; }

private:
    // A path, and whether polling it is a system call.
    struct Polled {
        Path *path;
        bool by_system_call;
    };

    // Of owned_. left_open: free too, but the program left with something under way, and the helper is told when it is back.
    static constexpr uint32_t free = 0, taken = 1, taken_and_wanted = 2, left_open = 3;

    // A thread asleep for its waiter.
    struct Sleeper {
        Hook hook;
        const Condition *condition;
        std::atomic<uint32_t> signal{0};
        bool watcher = false;
    };

    static bool is_free(uint32_t state) { return state == free || state == left_open; }
    bool take_from(uint32_t state) {
        return owned_.compare_exchange_strong(state, taken, std::memory_order_acquire, std::memory_order_relaxed);
    }
    void give_up_as(uint32_t state) {
        if (single_threaded_) return;
        if (sleepers_.load(std::memory_order_relaxed)) tell_sleepers();
        if (owned_.exchange(state, std::memory_order_release) == taken_and_wanted) wake_contender();
    }
    void read_clock();
    void ring_alarm();
    void take_posted();
    bool sockets_are_due();
    int turn(int frames, bool system_calls);
    void await_peers();
    void enter_slowly();
    void leave_slowly();
    void leave_to_helper();
    void weigh_gathering();
    void tell_to_gather(bool on);
    void take_slowly();
    void wake_contender();
    void let_contenders_in();
    void leave_nothing_out();
    void sleep(const Condition &condition);
    void pass_watch();
    void tell_sleepers();
    bool step_is_due() const;
    bool patient() const;

    alignas(64) std::atomic<uint32_t> owned_{free};
    bool single_threaded_ = false;
    std::atomic<bool> leaves_slowly_{false};  // there is a helper, or something to call
    uint32_t steps_since_clock_ = 0;
    std::atomic<uint32_t> sleepers_{0};
    std::atomic<int32_t> contenders_{0};
    std::vector<Polled> paths_;
    const Condition *awaited_ = nullptr;  // during a step for a wait
    Helper *helper_ = nullptr;
    bool helping_ = false, helped_by_memory_ = false;
    bool gathers_ = false, gathering_ = false, gathers_for_call_ = false;
    uint32_t under_way_ = 0;
    uint32_t attentions_ = 0;  // each is under way, too
    bool crowded_ = false;
    bool any_sockets_ = false;  // among the paths
    // When step_for_test() last had paths polled by system calls, by both clocks, and how many ticks later it does so again.
    uint64_t sockets_tested_ns_ = 0, sockets_tested_ticks_ = 0, ticks_between_tests_ = 0;
    Sink *sink_ = nullptr;
    uint64_t rested_ns_ = 0;
    Idle &idle_;
    List<Task, &Task::hook> tasks_;
    std::atomic<bool> any_posted_{false};
    List<Poller, &Poller::hook> pollers_;
    Task *alarm_ = nullptr;
    uint64_t alarm_ns_ = no_deadline;
    uint64_t wait_limit_ns_ = no_deadline;
    uint64_t now_ns_ = 0;
    uint32_t fruitless_tests_ = 0;
    static constexpr uint32_t glances_per_turn = 64;
    uint32_t glances_ = 0;
    bool work_left_ = false;  // a task may get further in the next step
    std::atomic<void (*)()> after_leaving_{nullptr};
    EngineCounts counts_;

    SpinLock posted_lock_;
    List<Task, &Task::hook> posted_;  // by other threads, not ready yet

    SpinLock sleeping_lock_;
    List<Sleeper, &Sleeper::hook> sleeping_;
    bool watched_ = false;
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
