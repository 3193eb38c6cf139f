// Decides which steps of a running schedule may start: those whose predecessors are all done. The user
// carries out the steps (collective.h).
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/schedule.h"

namespace lanyard {

class StepQueue {
public:
    // Begins with all steps of the schedule, which must live until all are done.
    void begin(const Schedule &schedule);
    // Begins with the schedule's only step, which has already been started.
    void begin_started(const Schedule &schedule);

    int32_t left() const { return left_; }  // steps that are not done
    // In the order in which they became ready.
    bool any_ready() const { return next_ready_ < ready_.size() && !stopped_; }
    StepId next() const { return ready_[next_ready_]; }
    StepId take();
    void done(StepId id);
    // For a step that is not done: has it been started, or could it be?
    bool is_under_way(StepId id) const { return before_[static_cast<size_t>(id)] == 0; }

    // From now on nothing is ready, until resume().
    void stop() { stopped_ = true; }
    bool stopped() const { return stopped_; }
    void resume() { stopped_ = false; }
    // Once stopped: the steps `over` have ended too, and of the others only those remain that have been
    // started.
    void leave_the_rest(const std::vector<StepId> &over);

private:
    static constexpr int32_t step_done = -1;

    const Schedule *schedule_ = nullptr;
    std::vector<int32_t> before_;  // by step: how many predecessors it waits for; step_done if it is done
    std::vector<StepId> ready_;    // from next_ready_ on
    size_t next_ready_ = 0;
    int32_t left_ = 0;
    bool stopped_ = false;
};

}  // namespace lanyard
