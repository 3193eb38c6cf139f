// Which steps of a schedule may start, while it is run: a step may when all are done that must come before it. What a step does is its user's matter
// (executor.h). By the engine's owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/schedule.h"

namespace lanyard {

class StepQueue {
public:
    // All steps are to be done; the schedule must live until they are.
    void begin(const Schedule &schedule);
    // Its only step, which has been started.
    void begin_started(const Schedule &schedule);

    int32_t left() const { return left_; }  // steps that are not done
    // In the order in which they became ready.
    bool any_ready() const { return next_ready_ < ready_.size() && !stopped_; }
    StepId next() const { return ready_[next_ready_]; }
    StepId take();
    void done(StepId id);
    // Of those that are not done: has it been started, or could it be?
    bool is_under_way(StepId id) const { return before_[static_cast<size_t>(id)] == 0; }

    // From now on, until it is resumed, nothing is ready.
    void stop() { stopped_ = true; }
    bool stopped() const { return stopped_; }
    void resume() { stopped_ = false; }
    // Once stopped: these are over too, and only those are left that have been started.
    void leave_the_rest(const std::vector<StepId> &over);

private:
    static constexpr int32_t step_done = -1;

    const Schedule *schedule_ = nullptr;
    std::vector<int32_t> before_;  // by step: how many it still waits for; step_done when it is done
    std::vector<StepId> ready_;    // from next_ready_ on
    size_t next_ready_ = 0;
    int32_t left_ = 0;
    bool stopped_ = false;
};

}  // namespace lanyard
