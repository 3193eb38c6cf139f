// Progress makes turns. One turn advances everything that moves in this process: it makes the alarm's task
// ready if the alarm's time has come, polls the paths, polls the pollers, and runs the tasks that are ready.
// This class does not depend on threads, on waiting, or on its caller (engine.h), so tests drive it alone.
// Tasks and pollers belong to the objects that embed them, and must not be destroyed while they are linked.
// Thread rule: the owner of the engine, except for hand_in(), has_posted() and read_now_ns(), which any
// thread may call.
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

    // Sets where the paths deliver. Must be called before the first turn if there are paths. The sink must
    // outlive the turns.
    void set_sink(Sink &sink) { sink_ = &sink; }

    // Runs `task` once: in the present turn if it has not begun to run its tasks, otherwise in the next turn.
    // No effect if the task is ready already.
    void ready(Task &task) {
        if (task.hook.linked()) return;
        tasks_.push_back(task);
        work_left_ = true;
    }
    // Any thread: runs `task` in the next turn. Wakes no thread. The task must not be in a list.
    void hand_in(Task &task) { posted_.post(task); }
    bool has_posted() const { return posted_.any(); }
    // Sets the alarm: `task` becomes ready at `at_ns`. There is only one alarm, so set_alarm() has no effect
    // while one is set. An alarm cannot be cancelled, so the task must live until it has run.
    void set_alarm(uint64_t at_ns, Task &task) {
        if (alarm_) return;
        alarm_ = &task;
        alarm_ns_ = at_ns;
    }
    // Polls `poller` in every turn from now on, until it is unlinked. It must not be linked yet.
    void watch(Poller &poller) { pollers_.push_back(poller); }

    // Count the operations that advance without the program as long as turns are made, such as transfers with
    // peers. Each begin_under_way() needs one end_under_way().
    void begin_under_way() { ++under_way_; }
    void end_under_way() { --under_way_; }
    // under_way(): do turns advance anything now without the program? has_unacknowledged(): must peers still
    // acknowledge anything, or may they still wait for an acknowledgement from here?
    bool under_way() const {
        return under_way_ > 0 || !tasks_.empty() || has_posted() ||
               paths_.any([](const PathActivity &activity) { return activity.io_pending; });
    }
    bool has_unacknowledged() const {
        return paths_.any([](const PathActivity &activity) { return activity.unacknowledged; });
    }

    // Takes at most `frames` frames from each path. `system_calls`: also poll the paths that need a system
    // call. Returns the amount of work done.
    int turn(int frames, bool system_calls);
    // work_left(): may the next turn have work even if nothing arrives? deadline_ns(): the time at which a
    // turn is due even if nothing arrives, because of the alarm, a path, or a task that is ready.
    bool work_left() const { return work_left_; }
    uint64_t deadline_ns();

    // The time at which the clock was last read.
    uint64_t now_ns() const { return now_ns_; }
    // Any thread: the current time, read from the clock.
    uint64_t read_now_ns() const { return idle_.now_ns(); }
    // Reads the clock, for now_ns().
    void read_clock() {
        now_ns_ = read_now_ns();
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
