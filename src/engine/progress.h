// One turn of everything that moves in this process: paths are polled, tasks that are ready run, pollers have a look, the alarm rings. It knows
// nothing of threads, of waiting, or of who calls it (engine.h): tests drive it alone.
// Thread rule: the owner of the engine, but for hand_in().
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/idle.h"
#include "engine/polled_paths.h"
#include "engine/posted_tasks.h"
#include "engine/task.h"

namespace lanyard {

class Progress {
public:
    // `idle` knows the time.
    explicit Progress(Idle &idle) : idle_(idle) {}
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    // Before the first turn: where paths deliver.
    void set_sink(Sink &sink) { sink_ = &sink; }

    // Runs `task` in the next turn.
    void ready(Task &task) {
        if (task.hook.linked()) return;
        tasks_.push_back(task);
        work_left_ = true;
    }
    // By any thread: runs `task` in the next turn. It wakes nobody.
    void hand_in(Task &task) { posted_.post(task); }
    bool has_posted() const { return posted_.any(); }
    // Makes `task` ready at that time, unless another time is set already.
    void set_alarm(uint64_t at_ns, Task &task) {
        if (alarm_) return;
        alarm_ = &task;
        alarm_ns_ = at_ns;
    }
    // Polls `poller` in every turn from now on.
    void watch(Poller &poller) { pollers_.push_back(poller); }

    // Something began, or is over, that goes on without the program if somebody steps: a transfer that peers take part in.
    void begin_under_way() { ++under_way_; }
    void end_under_way() { --under_way_; }
    // Would anything go on without the program, now; and is anything still to be acknowledged by peers?
    bool under_way() const {
        return under_way_ > 0 || !tasks_.empty() || has_posted() || paths_.any([](const PathActivity &activity) { return activity.io_pending; });
    }
    bool unsettled() const {
        return paths_.any([](const PathActivity &activity) { return activity.unacknowledged; });
    }

    // At most so many frames of each path; with or without those that are polled by system calls. The amount of work done.
    int turn(int frames, bool system_calls);
    // May the next turn have work though nothing comes, and when is it due to have some?
    bool work_left() const { return work_left_; }
    uint64_t deadline_ns() const { return std::min(alarm_ns_, paths_.deadline_ns()); }

    // As of the last look at the clock.
    uint64_t now_ns() const { return now_ns_; }
    void read_clock() {
        now_ns_ = idle_.now_ns();
        turns_since_clock_ = 0;
    }
    // In every few turns, as it costs as much as a turn that finds nothing.
    void read_clock_sometimes() {
        if (++turns_since_clock_ >= turns_per_clock) read_clock();
    }

protected:
    PolledPaths &paths() { return paths_; }
    const PolledPaths &paths() const { return paths_; }
    Sink *sink() const { return sink_; }

private:
    static constexpr uint32_t turns_per_clock = 8;

    void ring_alarm();

    Idle &idle_;
    PolledPaths paths_;
    PostedTasks posted_;
    Sink *sink_ = nullptr;
    Tasks tasks_;
    List<Poller, &Poller::hook> pollers_;
    Task *alarm_ = nullptr;
    uint64_t alarm_ns_ = no_deadline;
    uint64_t now_ns_ = 0;
    uint32_t turns_since_clock_ = 0;
    uint32_t under_way_ = 0;
    bool work_left_ = false;  // a task may get further in the next turn
};

}  // namespace lanyard
