// See engine.h.
#include "engine/engine.h"

#include "engine/helper.h"

namespace lanyard {

namespace {
constexpr int frames_per_poll = 64;
constexpr int frames_per_help = 1;  // a thread that returns to MPI waits for at most this many frames
// Memory is trimmed at most this often, since memory that is returned and requested again costs a page fault
// for each page.
constexpr uint64_t trim_every_ns = 50'000'000;
constexpr int soon_turns = 16;
}  // namespace

// A sleeping thread does not miss the task, since it announced its sleep first and then looked for posted
// tasks once more (SleepWord, Helper).
void Engine::post(Task &task) {
    hand_in(task);
    if (someone_sleeps()) idle_.wake();
    // A thread that was awake in MPI at that moment may leave without a turn, so the helper is informed too.
    if (helper_) helper_->task_posted();
}

int Engine::make_turn() {
    check_owner();
    read_clock_sometimes();
    return turn(frames_per_poll, true);
}

bool Engine::met_soon(const Condition &met) {
    check_owner();
    int turns = oversubscribed_ ? 1 : soon_turns;
    for (int turn = 0; turn < turns && !met() && !paths().prefer_sleep() && !lock_.is_wanted(); ++turn) {
        awaited_ = &met;
        make_turn();
        awaited_ = nullptr;
    }
    return met();
}

void Engine::wait_owned(Completion &completion) {
    check_owner();
    Waiter waiter;
    waiter.remaining.store(1, std::memory_order_relaxed);
    if (completion.await(waiter)) wait_owned(Condition(waiter));
}

void Engine::wait_owned(const Condition &met) {
    check_owner();
    if (helper_ && !met()) helper_->program_waits();
    uint64_t idle_since_ns = 0;
    uint32_t idle_turns = 0;
    while (!met()) {
        awaited_ = &met;
        int work = make_turn();
        awaited_ = nullptr;
        if (work > 0) {
            idle_turns = 0;
            continue;
        }
        if (lock_.is_wanted()) {
            give_up();
            lock_.step_aside();
            take();
        }
        if (idle_turns++ == 0) {
            read_clock();
            idle_since_ns = now_ns();
        }
        // next() also writes into the wait record the time since which the process has been idle.
        Idle::Action action = idle_.next(idle_turns, idle_since_ns, now_ns());
        switch (paths().prefer_sleep() ? Idle::Action::sleep : action) {
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
    if (sleepers_.any()) [[unlikely]] sleepers_.pass_watch();
}

bool Engine::wait_owned(const Condition &condition, uint64_t limit_ns) {
    check_owner();
    struct Limited {
        const Condition &condition;
        const Engine &engine;
    } limited{condition, *this};
    wait_limit_ns_ = limit_ns;
    wait_owned(Condition{[](const void *subject) {
                             const Limited &wait = *static_cast<const Limited *>(subject);
                             return wait.condition() || wait.engine.now_ns() >= wait.engine.wait_limit_ns_;
                         },
                         &limited});
    wait_limit_ns_ = no_deadline;
    return condition();
}

void Engine::turn_for_test() {
    check_owner();
    bool any_sockets = paths().any_sockets(), system_calls = any_sockets && pace_.is_due(*this);
    if (!any_sockets) read_clock_sometimes();
    if (turn(frames_per_poll, system_calls) > 0) return pace_.found_something();
    if (!pace_.is_yield_due() || idle_.next(1, now_ns(), now_ns()) == Idle::Action::spin) return;
    ++counts_.yields;
    give_up();
    idle_.yield();
    take();
}

void Engine::leave_nothing_out() {
    paths().prepare_to_sleep(true);
    if (!sink() || now_ns() - trimmed_ns_ < trim_every_ns || has_unacknowledged()) return;
    trimmed_ns_ = now_ns();
    sink()->trim_memory();
}

// The caller owns the engine before and after the call, but not during the sleep.
void Engine::sleep(const Condition &met) {
    Sleeper self(met);
    sleepers_.enter(self);
    leave_nothing_out();
    bool nothing_moved = make_turn() == 0 && !met();
    uint64_t since_ns = 0;
    if (nothing_moved) {
        sleepers_.set_deadline(self, deadline_ns());
        ++counts_.sleeps;
        since_ns = idle_.now_ns();
        give_up();
        sleepers_.sleep(self);
    }
    sleepers_.leave(self);
    if (!nothing_moved) return;
    take();
    counts_.slept_ns += idle_.now_ns() - since_ns;
}

// Wakes the threads whose completions this owner has brought about, and the watcher if this owner leaves work
// behind.
void Engine::tell_sleepers() {
    uint64_t due_ns = deadline_ns();
    sleepers_.tell(work_left() || due_ns <= now_ns(), due_ns);
}

// From now on, a peer that writes to shared memory wakes the helper, which sleeps on the Idle's descriptor.
// No effect if the helper was set without `memory`.
void Engine::await_peers() {
    if (!helped_by_memory_) return;
    idle_.arm();
    while (turn(frames_per_poll, false) > 0) {
    }
}

void Engine::enter_slowly() {
    if (!lock_.try_take_left_open()) lock_.take_slowly();
    if (helper_) helper_->program_enters();
}

void Engine::attend() {
    check_owner();
    begin_under_way();
    if (attentions_++ == 0 && helper_) helper_->pay_attention(true);
}

void Engine::attend_no_more() {
    check_owner();
    end_under_way();
    if (--attentions_ == 0 && helper_) helper_->pay_attention(false);
}

void Engine::leave_slowly() {
    batching_.leave();
    if (helper_) leave_to_helper();
    else give_up();
    if (auto function = after_leaving_.load(std::memory_order_acquire)) function();
}

void Engine::leave_to_helper() {
    bool going_on = under_way();
    if (going_on && helper_->armed()) {
        paths().prepare_to_sleep(false);
    } else if (going_on && helper_->expects_absence()) {
        leave_nothing_out();
        await_peers();
        going_on = under_way();
    }
    if (going_on) helper_->begin_absence();
    else helper_->end_spell();
    bool open = going_on || has_unacknowledged();
    give_up(going_on ? EngineLock::left_open : EngineLock::free);
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
    } while (work > 0 && !lock_.is_wanted());
    leave_nothing_out();
    helping_ = false;
    return work == 0;
}

}  // namespace lanyard
