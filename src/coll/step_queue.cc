// See step_queue.h.
#include "coll/step_queue.h"

#include <algorithm>

namespace lanyard {

void StepQueue::begin(const Schedule &schedule) {
    const std::vector<Step> &steps = schedule.steps();
    schedule_ = &schedule;
    left_ = static_cast<int32_t>(steps.size());
    before_.resize(steps.size());
    ready_.clear();
    next_ready_ = 0;
    for (StepId id = 0; id < left_; ++id) {
        before_[id] = steps[id].before;
        if (steps[id].before == 0) ready_.push_back(id);
    }
}

void StepQueue::begin_started(const Schedule &schedule) {
    schedule_ = &schedule;
    left_ = 1;
    before_.assign(1, 0);
}

StepId StepQueue::take() {
    StepId id = ready_[next_ready_++];
    if (next_ready_ < ready_.size()) return id;
    ready_.clear();
    next_ready_ = 0;
    return id;
}

void StepQueue::done(StepId id) {
    --left_;
    before_[id] = step_done;
    if (stopped_) return;
    for (int32_t edge = schedule_->steps()[id].first_edge; edge >= 0; edge = schedule_->edges()[edge].next) {
        StepId later = schedule_->edges()[edge].to;
        if (--before_[later] == 0) ready_.push_back(later);
    }
}

void StepQueue::leave_the_rest(const std::vector<StepId> &over) {
    for (; next_ready_ < ready_.size(); ++next_ready_) before_[ready_[next_ready_]] = 1;
    for (StepId id : over) before_[id] = step_done;
    left_ = static_cast<int32_t>(std::count(before_.begin(), before_.end(), 0));
}

}  // namespace lanyard
