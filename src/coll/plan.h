// What one collective operation is to do: its schedule, what the spaces of the schedule's blocks mean, and what all ranks must agree upon. Planners
// (collectives.h) write it, or find that an earlier call has left the same (kept_plans.h); the executor (executor.h) runs it, once or, of persistent
// operations, many times. By the engine's owner.
#pragma once

#include <cstdint>

#include "coll/agreement.h"
#include "coll/kept_plans.h"
#include "coll/schedule.h"
#include "coll/spaces.h"
#include "coll/team.h"

namespace lanyard {

class Plan {
public:
    const char *name() const { return name_; }  // of the operation, for reports
    uint32_t word() const { return word_; }     // what all ranks must agree upon (coll/agreement.h)
    const Schedule &schedule() const { return *schedule_; }
    const Spaces &spaces() const { return spaces_; }

    // The schedule is to be written, and described: what it does, and what the spaces of its blocks mean.
    Schedule &schedule() { return *schedule_; }
    void describe(const Agreement &agreement, const void *send, void *receive);
    // Before that: true when an earlier call of the team's has left all this. Else what is now written and described becomes that with keep().
    bool recall(Team &team, CollectiveKind kind, const PlanKey &key, const void *send, void *receive) {
        KeptPlan *plan = team.kept ? team.kept->of(kind).get() : nullptr;
        if (!plan || !plan->valid || !(key == plan->key)) return write_to_keep(team, kind, key), false;
        kept_ = plan;
        ++plan->users;
        schedule_ = &plan->schedule;
        name_ = plan->name;
        word_ = plan->word;
        spaces_.use(send, receive);
        return true;
    }
    void keep(const Team &team);
    // It stands for this call of the program, whatever was planned for it.
    void stand_for(CollectiveKind kind);
    void make_persistent() { word_ = persistent_form(word_); }

    // The kept one that was recalled, where all of it is a short use of the node area; else nullptr.
    const KeptPlan *short_one() const { return kept_ && kept_->short_use.ready() ? kept_ : nullptr; }

    // Memory for the schedule's scratch blocks; false when there is not enough.
    bool make_scratch() { return spaces_.make_scratch(schedule_->scratch_size()); }
    // The operation is over: nothing is planned.
    void clear();
    // The same of a short one.
    void clear_short() {
        --kept_->users;
        kept_ = nullptr;
        schedule_ = &own_schedule_;
    }

private:
    void write_to_keep(Team &team, CollectiveKind kind, const PlanKey &key);

    Schedule own_schedule_;
    Schedule *schedule_ = &own_schedule_;
    KeptPlan *kept_ = nullptr;  // whose schedule it is, if not the own one
    const char *name_ = "";
    uint32_t word_ = 0;
    Spaces spaces_;
};

}  // namespace lanyard
