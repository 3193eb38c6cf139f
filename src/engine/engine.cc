#include "engine/engine.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/futex.h"
#include "engine/helper.h"

namespace lanyard {

namespace {
constexpr int frames_per_poll = 64;
constexpr int frames_per_help = 1;  // a thread of the program that comes back waits for so long
constexpr uint64_t test_sockets_every_ns = 8'000;
constexpr uint64_t rest_every_ns = 50'000'000;  // at the most, as memory that is given back and had again costs a fault for each page
constexpr uint32_t steps_per_clock = 8;  // the clock costs as much as a step that finds nothing
constexpr int soon_turns = 16;
constexpr int spins_for_engine = 2000;
constexpr int yields_for_engine = 20;
}  // namespace

void Engine::read_clock() {
    now_ns_ = idle_.now_ns();
    steps_since_clock_ = 0;
}

void Engine::ring_alarm() {
    alarm_ns_ = no_deadline;
    ready(*std::exchange(alarm_, nullptr));
}

// The flag is set behind the task, and read again after whoever sleeps has said so (SleepWord, Helper): one of the two sees the other.
void Engine::post(Task &task) {
    {
        SpinGuard guard(posted_lock_);
        posted_.push_back(task);
        any_posted_.store(true, std::memory_order_seq_cst);
    }
    if (someone_sleeps()) idle_.wake();
    if (helper_) helper_->task_posted();  // whoever was awake in MPI just now may leave without a step
}

void Engine::take_posted() {
    SpinGuard guard(posted_lock_);
    any_posted_.store(false, std::memory_order_relaxed);
    tasks_.take_all(posted_);
}

int Engine::step() {
    if (++steps_since_clock_ >= steps_per_clock) read_clock();
    return turn(frames_per_poll, true);
}

int Engine::turn(int frames, bool system_calls) {
    int work = 0;
    if (now_ns_ >= alarm_ns_) [[unlikely]] ring_alarm();
    if (has_posted()) [[unlikely]] take_posted();
    for (const Polled &polled : paths_)
        if (system_calls || !polled.by_system_call) work += polled.path->poll(*sink_, frames, now_ns_);
    for (Poller *poller = pollers_.front(); poller;) {
        Poller *next = pollers_.after(*poller);
        work += poller->poll(*poller, now_ns_);
        poller = next;
    }
    // What a task makes ready again waits for the next step, so that no task can keep the others out.
    List<Task, &Task::hook> due;
    due.take_all(tasks_);
    while (Task *task = due.pop_front()) work += task->run(*task);
    if (work == 0) work_left_ = false;  // what is still ready waits for a peer
    return work;
}

bool Engine::comes_soon(const Condition &met) {
    int turns = crowded_ ? 1 : soon_turns;
    for (int turn = 0; turn < turns && !met() && !patient() && contenders_.load(std::memory_order_relaxed) == 0; ++turn) {
        awaited_ = &met;
        step();
        awaited_ = nullptr;
    }
    return met();
}

void Engine::wait_owned(Completion &completion) {
    Waiter waiter;
    waiter.remaining.store(1, std::memory_order_relaxed);
    if (completion.await(waiter)) wait_owned(waiter);
}

void Engine::wait_owned(Waiter &waiter) {
    wait_owned(Condition{[](const void *subject) { return static_cast<const Waiter *>(subject)->done(); }, &waiter});
}

void Engine::wait_owned(const Condition &met) {
    if (helper_ && !met()) helper_->program_waits();
    uint64_t idle_since_ns = 0;
    uint32_t idle_turns = 0;
    while (!met()) {
        awaited_ = &met;
        int work = step();
        awaited_ = nullptr;
        if (work > 0) {
            idle_turns = 0;
            continue;
        }
        if (contenders_.load(std::memory_order_relaxed) > 0) let_contenders_in();
        if (idle_turns++ == 0) {
            read_clock();
            idle_since_ns = now_ns_;
        }
        Idle::Action action = idle_.next(idle_turns, idle_since_ns, now_ns_);  // which also records that somebody waits
        switch (patient() ? Idle::Action::sleep : action) {
            case Idle::Action::spin: break;
            case Idle::Action::yield:
                ++counts_.yields;
                give_up();
                idle_.yield();
                take();
                read_clock();
                break;
            case Idle::Action::sleep:
                sleep(met);
                read_clock();
                break;
        }
    }
    if (sleepers_.load(std::memory_order_relaxed)) [[unlikely]] pass_watch();
}

bool Engine::wait_owned(const Condition &condition, uint64_t limit_ns) {
    struct Limited {
        const Condition &condition;
        const Engine &engine;
    } limited{condition, *this};
    wait_limit_ns_ = limit_ns;
    wait_owned(Condition{[](const void *subject) {
                             const Limited &wait = *static_cast<const Limited *>(subject);
                             return wait.condition() || wait.engine.now_ns_ >= wait.engine.wait_limit_ns_;
                         },
                         &limited});
    wait_limit_ns_ = no_deadline;
    return condition();
}

// Is it time to poll paths by system calls, for a test? If so the clock is read.
bool Engine::sockets_are_due() {
    uint64_t ticks = clock_ticks(), passed = ticks - sockets_tested_ticks_;
    if (passed < ticks_between_tests_) return false;
    read_clock();
    uint64_t passed_ns = now_ns_ - sockets_tested_ns_;
    constexpr uint64_t measurable_ns = 1'000'000'000;  // in which no product overflows
    if (passed_ns > 0 && passed_ns < measurable_ns) ticks_between_tests_ = passed * test_sockets_every_ns / passed_ns;
    sockets_tested_ns_ = now_ns_;
    sockets_tested_ticks_ = ticks;
    return true;
}

void Engine::step_for_test() {
    bool system_calls = any_sockets_ && sockets_are_due();
    if (!any_sockets_ && ++steps_since_clock_ >= steps_per_clock) read_clock();
    if (turn(frames_per_poll, system_calls) > 0) {
        fruitless_tests_ = 0;
        return;
    }
    if (idle_.next(++fruitless_tests_, now_ns_, now_ns_) == Idle::Action::spin) return;
    fruitless_tests_ = 0;
    ++counts_.yields;
    give_up();
    idle_.yield();
    take();
}

void Engine::leave_nothing_out() {
    for (const Polled &polled : paths_) polled.path->prepare_to_sleep(true);
    if (!sink_ || now_ns_ - rested_ns_ < rest_every_ns || unsettled()) return;
    rested_ns_ = now_ns_;
    sink_->rests();
}

// Owning the engine; owns it again on return.
void Engine::sleep(const Condition &met) {
    Sleeper self;
    self.condition = &met;
    {
        SpinGuard guard(sleeping_lock_);
        self.watcher = !watched_;
        if (self.watcher) watched_ = true;
        sleeping_.push_back(self);
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
    }
    if (self.watcher) idle_.arm();
    leave_nothing_out();
    bool quiet = step() == 0 && !met();
    uint64_t deadline = deadline_ns(), since_ns = 0;
    if (quiet) {
        ++counts_.sleeps;
        since_ns = idle_.now_ns();
        give_up();
        if (self.watcher) idle_.sleep(deadline);
        else futex_wait(self.signal, 0, no_limit, false);
    }
    if (self.watcher) idle_.disarm();
    {
        SpinGuard guard(sleeping_lock_);
        self.hook.unlink();
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
        if (self.watcher) watched_ = false;
    }
    if (!quiet) return;
    take();
    counts_.slept_ns += idle_.now_ns() - since_ns;
}

// [owner] Who stops waiting while others sleep and nobody watches wakes one of them. It becomes the watcher by falling asleep
// again, or leaves in its turn and wakes the next. So while anyone sleeps, somebody watches or is awake in wait_owned.
void Engine::pass_watch() {
    SpinGuard guard(sleeping_lock_);
    Sleeper *successor = watched_ ? nullptr : sleeping_.front();
    if (!successor) return;
    successor->signal.store(1, std::memory_order_release);
    futex_wake(successor->signal, 1, false);
}

// Wakes the threads whose completions this owner has brought about, and the watcher where this owner leaves work behind.
void Engine::tell_sleepers() {
    bool due = step_is_due();
    SpinGuard guard(sleeping_lock_);
    for (Sleeper *sleeper = sleeping_.front(); sleeper; sleeper = sleeping_.after(*sleeper)) {
        if (!(due && sleeper->watcher) && !(*sleeper->condition)()) continue;
        if (sleeper->watcher) {
            idle_.wake();
        } else {
            sleeper->signal.store(1, std::memory_order_release);
            futex_wake(sleeper->signal, 1, false);
        }
    }
}

bool Engine::step_is_due() const { return work_left_ || deadline_ns() <= now_ns_; }

uint64_t Engine::deadline_ns() const {
    uint64_t earliest = std::min(alarm_ns_, wait_limit_ns_);
    for (const Polled &polled : paths_) earliest = std::min(earliest, polled.path->deadline_ns());
    return earliest;
}

bool Engine::under_way() const {
    if (under_way_ > 0 || !tasks_.empty() || has_posted()) return true;
    if (!any_sockets_) return false;
    for (const Polled &polled : paths_)
        if (polled.by_system_call && polled.path->activity().io_pending) return true;
    return false;
}

bool Engine::patient() const {
    for (const Polled &polled : paths_)
        if (polled.by_system_call && polled.path->activity().prefers_sleep) return true;
    return false;
}

bool Engine::unsettled() const {
    if (!any_sockets_) return false;
    for (const Polled &polled : paths_)
        if (polled.by_system_call && polled.path->activity().unacknowledged) return true;
    return false;
}

// What a peer writes to shared memory from now on wakes whoever sleeps at the idle's descriptor.
void Engine::await_peers() {
    if (!helped_by_memory_) return;
    idle_.arm();
    while (turn(frames_per_poll, false) > 0) {
    }
}

void Engine::enter_slowly() {
    if (!take_from(left_open)) take_slowly();
    if (helper_) helper_->program_enters();
}

void Engine::attend() {
    begin_under_way();
    if (attentions_++ == 0 && helper_) helper_->pay_attention(true);
}

void Engine::attend_no_more() {
    end_under_way();
    if (--attentions_ == 0 && helper_) helper_->pay_attention(false);
}

void Engine::replace_path(const Path &old, Path &path) {
    for (Polled &polled : paths_)
        if (polled.path == &old) polled = {&path, path.info.descriptor >= 0};
    weigh_gathering();
}

void Engine::weigh_gathering() {
    gathers_ = helper_ && std::any_of(paths_.begin(), paths_.end(), [](const Polled &polled) { return polled.path->info.batches; });
    if (gathering_ && !gathers_) tell_to_gather(false);
}

void Engine::tell_to_gather(bool on) {
    gathering_ = on;
    for (const Polled &polled : paths_) {
        if (!polled.path->info.batches) continue;
        if (on) polled.path->more_follows();
        else polled.path->flush();
    }
}

void Engine::leave_slowly() {
    if (gathering_ && !std::exchange(gathers_for_call_, false)) tell_to_gather(false);
    if (helper_) leave_to_helper();
    else give_up();
    if (auto function = after_leaving_.load(std::memory_order_acquire)) function();
}

void Engine::leave_to_helper() {
    bool going_on = under_way();
    if (going_on && helper_->armed()) {
        for (const Polled &polled : paths_) polled.path->prepare_to_sleep(false);
    } else if (going_on && helper_->expects_absence()) {
        leave_nothing_out();
        await_peers();
        going_on = under_way();
    }
    if (going_on) helper_->begin_absence();
    else helper_->end_spell();
    bool open = going_on || unsettled();
    give_up_as(going_on ? left_open : free);
    if (open || helper_->listens()) helper_->program_leaves(going_on, open);
}

bool Engine::help() {
    helping_ = true;
    idle_.quieten();
    int work;
    do {
        read_clock();
        work = turn(frames_per_help, true);
        if (work == 0 && under_way()) await_peers();
    } while (work > 0 && contenders_.load(std::memory_order_relaxed) == 0);
    leave_nothing_out();
    helping_ = false;
    return work == 0;
}

void Engine::take_slowly() {
    contenders_.fetch_add(1, std::memory_order_relaxed);
    for (int turn = 0;; ++turn) {
        if (turn < spins_for_engine + yields_for_engine) {
            if (is_free(owned_.load(std::memory_order_relaxed)) && try_take()) break;
            if (turn < spins_for_engine) cpu_relax();
            else sched_yield();
        } else {
            // Who has slept may not be the last that slept: it takes the engine as "wanted", so that it wakes the next one.
            uint32_t before = owned_.exchange(taken_and_wanted, std::memory_order_acquire);
            if (is_free(before)) break;
            futex_wait(owned_, taken_and_wanted, no_limit, false);
        }
    }
    contenders_.fetch_sub(1, std::memory_order_relaxed);
}

void Engine::wake_contender() { futex_wake(owned_, 1, false); }

// An owner that found nothing to do steps aside long enough for one of those who wait to get in.
void Engine::let_contenders_in() {
    give_up();
    for (int turn = 0; turn < 64 && contenders_.load(std::memory_order_relaxed) > 0 && is_free(owned_.load(std::memory_order_relaxed)); ++turn)
        cpu_relax();
    take();
}

}  // namespace lanyard
