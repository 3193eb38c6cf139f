#include "coll/kept_plans.h"

#include "coll/executor.h"

namespace lanyard {

void Collective::plan_to_keep(Team &team, CollectiveKind kind, const PlanKey &key) {
    if (!team.kept || !key.comparable()) return;
    std::unique_ptr<KeptPlan> &plan = team.kept->of(kind);
    if (!plan) plan = std::make_unique<KeptPlan>();
    if (plan->users > 0) return;
    kept_ = plan.get();
    ++kept_->users;
    schedule_ = &kept_->schedule;
    kept_->valid = false;
    kept_->short_use.forget();
    kept_->key = key;
    schedule_->clear();
}

void Collective::keep_plan(const Team &team) {
    if (!kept_) return;
    kept_->name = name;
    kept_->word = word_;
    kept_->valid = schedule_->steps().size() <= KeptPlan::most_steps;
    if (kept_->valid) kept_->short_use.prepare(*schedule_, team);
}

void Collective::release_plan() {
    --kept_->users;
    if (schedule_->steps().size() > KeptPlan::most_steps) *schedule_ = Schedule();
    kept_ = nullptr;
    schedule_ = &own_schedule_;
}

}  // namespace lanyard
