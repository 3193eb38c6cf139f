// One turn of everything that moves in this process: poll the paths, run the tasks that are ready, poll the
// pollers, ring the alarm. This class does not depend on threads, on waiting, or on its caller (engine.h), so
// tests drive it alone.
// Thread rule: the owner of the engine, except for hand_in().
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
    // `idle` provides the time.
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
    // Any thread: runs `task` in the next turn. Wakes no thread.
    void hand_in(Task &task) { posted_.post(task); }
    bool has_posted() const { return posted_.any(); }
    // Makes `task` ready at that time, unless an alarm is set already.
    void set_alarm(uint64_t at_ns, Task &task) {
        if (alarm_) return;
        alarm_ = &task;
        alarm_ns_ = at_ns;
    }
    // Polls `poller` in every turn from now on.
    void watch(Poller &poller) { pollers_.push_back(poller); }

    // Something that advances without the program, as long as turns are made, has begun or is over: a
    // transfer in which peers take part.
    void begin_under_way() { ++under_way_; }
    void end_under_way() { --under_way_; }
    // under_way(): would anything advance now without the program? unsettled(): must peers still acknowledge
    // anything?
    bool under_way() const {
        return under_way_ > 0 || !tasks_.empty() || has_posted() ||
               paths_.any([](const PathActivity &activity) { return activity.io_pending; });
    }
    bool unsettled() const {
        return paths_.any([](const PathActivity &activity) { return activity.unacknowledged; });
    }

    // Takes at most `frames` frames from each path. `system_calls`: includes the paths that are polled by
    // system calls. Returns the amount of work done.
    int turn(int frames, bool system_calls);
    // May the next turn have work even if nothing arrives, and at what time is it due to have some?
    bool work_left() const { return work_left_; }
    uint64_t deadline_ns() const { return std::min(alarm_ns_, paths_.deadline_ns()); }

    // As of the last reading of the clock.
    uint64_t now_ns() const { return now_ns_; }
    void read_clock() {
        now_ns_ = idle_.now_ns();
        turns_since_clock_ = 0;
    }
    // Reads the clock only every few turns, since reading it costs as much as a turn that finds nothing.
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
    bool work_left_ = false;  // a task may advance further in the next turn
};

}  // namespace lanyard
