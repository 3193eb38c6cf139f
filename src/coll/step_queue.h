// Decides which steps of a running schedule may start: those whose predecessors are all done. The owner of
// the queue (collective.h) carries out the steps.
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/schedule.h"

namespace lanyard {

class StepQueue {
public:
    // Begins with all steps of the schedule. The schedule must live until all steps are done.
    void begin(const Schedule &schedule);
    // Begins with the schedule's only step, which has already been started.
    void begin_started(const Schedule &schedule);

    int32_t left() const { return left_; }  // steps that are not done
    // next() and take() return ready steps in the order in which they became ready. Steps that become ready
    // by the same call of done() come in the reverse of the order in which they were added.
    bool any_ready() const { return next_ready_ < ready_.size() && !stopped_; }
    StepId next() const { return ready_[next_ready_]; }
    StepId take();
    void done(StepId id);
    // For a step that is not done: are all its predecessors done, so that it has been started or could be?
    bool is_under_way(StepId id) const { return before_[static_cast<size_t>(id)] == 0; }

    // From now on no step is ready, until resume() is called.
    void stop() { stopped_ = true; }
    bool stopped() const { return stopped_; }
    void resume() { stopped_ = false; }
    // To be called when the queue is stopped. Drops all steps that have not been started, and counts the
    // steps in `over` as done. The steps that have been started and are not done remain.
    void leave_the_rest(const std::vector<StepId> &over);

private:
    static constexpr int32_t step_done = -1;

    const Schedule *schedule_ = nullptr;
    // By step: how many of its predecessors are not done; step_done: the step itself is done.
    std::vector<int32_t> before_;
    std::vector<StepId> ready_;  // the ready steps, from next_ready_ on
    size_t next_ready_ = 0;
    int32_t left_ = 0;
    bool stopped_ = false;
};

}  // namespace lanyard
