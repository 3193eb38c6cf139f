#include "coll/kept_plans.h"

#include "coll/executor.h"

namespace lanyard {

bool Collective::recall(Team &team, CollectiveKind kind, const PlanKey &key, const void *send, void *receive) {
    if (!team.kept || !key.comparable()) return false;
    std::unique_ptr<KeptPlan> &plan = team.kept->of(kind);
    if (!plan) plan = std::make_unique<KeptPlan>();
    bool known = plan->valid && plan->key == key;
    if (!known && plan->users > 0) return false;
    kept_ = plan.get();
    ++kept_->users;
    schedule_ = &kept_->schedule;
    if (known) {
        name = kept_->name;
        word_ = kept_->word;
        use_buffers(send, receive);
        return true;
    }
    kept_->valid = false;
    kept_->key = key;
    schedule_->clear();
    return false;
}

void Collective::keep_plan() {
    if (!kept_) return;
    kept_->name = name;
    kept_->word = word_;
    kept_->valid = schedule_->steps().size() <= KeptPlan::most_steps;
}

void Collective::release_plan() {
    if (!kept_) return;
    --kept_->users;
    if (schedule_->steps().size() > KeptPlan::most_steps) *schedule_ = Schedule();
    kept_ = nullptr;
    schedule_ = &own_schedule_;
}

}  // namespace lanyard
