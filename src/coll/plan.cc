// See plan.h.
#include "coll/plan.h"

#include <memory>

namespace lanyard {

void Plan::describe(const Agreement &agreement, const void *send, void *receive) {
    name_ = name_of(agreement.kind);
    word_ = agreement.word();
    spaces_.use(send, receive);
}

void Plan::stand_for(CollectiveKind kind) {
    name_ = name_of(kind);
    word_ = Agreement{kind}.word();
}

void Plan::write_to_keep(Team &team, CollectiveKind kind, const PlanKey &key, int root) {
    if (!team.kept || !key.comparable()) return;
    std::unique_ptr<KeptPlan> &plan = team.kept->of(kind, root);
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

void Plan::keep(const Team &team) {
    if (!kept_) return;
    kept_->name = name_;
    kept_->word = word_;
    kept_->valid = schedule_->steps().size() <= KeptPlan::most_steps;
    kept_->empty = schedule_->steps().empty();
    if (kept_->valid) kept_->short_use.prepare(*schedule_, team);
}

void Plan::clear() {
    spaces_.give_back_much();
    own_schedule_.clear();
    if (!kept_) return;
    if (schedule_->steps().size() > KeptPlan::most_steps) *schedule_ = Schedule();
    clear_kept();
}

}  // namespace lanyard
