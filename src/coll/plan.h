// What one collective operation is to do: its schedule, the meaning of the spaces of the schedule's blocks,
// and what all ranks must agree upon. Planners (collectives.h) write it, or find that an earlier call has
// left the same (kept_plans.h). The executor (executor.h) runs it, once or, for persistent operations, many
// times.
// Thread rule: the owner of the engine.
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
    uint32_t word() const { return word_; }     // what all ranks must agree upon (agreement.h)
    const Schedule &schedule() const { return *schedule_; }
    const Spaces &spaces() const { return spaces_; }

    // The schedule to be written, and its description: what it does, and what the spaces of its blocks mean.
    Schedule &schedule() { return *schedule_; }
    void describe(const Agreement &agreement, const void *send, void *receive);
    // To be called first. True: an earlier call on the team has left all of this. False: what is written and
    // described next is kept by keep().
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
    // It runs for this call of the program, whatever was planned for it.
    void stand_for(CollectiveKind kind);
    void make_persistent() { word_ = persistent_form(word_); }

    // The recalled plan, if all of it is a short use of the node area; else nullptr.
    const KeptPlan *short_one() const { return kept_ && kept_->short_use.ready() ? kept_ : nullptr; }

    // Allocates memory for the schedule's scratch blocks. False: there is not enough.
    bool make_scratch() { return spaces_.make_scratch(schedule_->scratch_size()); }
    // The operation has ended, and nothing is planned.
    void clear();
    // The same for a short one.
    void clear_short() {
        --kept_->users;
        kept_ = nullptr;
        schedule_ = &own_schedule_;
    }

private:
    void write_to_keep(Team &team, CollectiveKind kind, const PlanKey &key);

    Schedule own_schedule_;
    Schedule *schedule_ = &own_schedule_;
    KeptPlan *kept_ = nullptr;  // the owner of the schedule, unless it is the own one
    const char *name_ = "";
    uint32_t word_ = 0;
    Spaces spaces_;
};

}  // namespace lanyard
