// A Plan describes one collective operation: its schedule, the addresses of the memory on which the schedule
// works (spaces.h), and what all ranks must agree upon (agreement.h). Planners (collectives.h) write the
// plan, or recall the schedule that an earlier call has left (kept_plans.h). The executor (executor.h) runs
// the plan, once or, for persistent operations, many times.
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
    const char *name() const { return name_; }  // the operation's name, for reports
    uint32_t word() const { return word_; }     // what all ranks must agree upon (agreement.h)
    const Schedule &schedule() const { return *schedule_; }
    const Spaces &spaces() const { return spaces_; }

    // A planner writes the schedule, and then calls describe() with the call's agreement and the addresses of
    // the program's buffers.
    Schedule &schedule() { return *schedule_; }
    void describe(const Agreement &agreement, const void *send, void *receive);
    // A planner whose schedules are kept calls this first. True: an earlier call on the team with the same
    // key has left a schedule, and the plan is complete. False: the planner must write and describe the plan,
    // and then call keep(). `root` selects the place where the schedule is kept; the key contains it too.
    bool recall(Team &team, CollectiveKind kind, const PlanKey &key, const void *send, void *receive,
                int root = 0) {
        KeptPlan *plan = team.kept ? team.kept->of(kind, root).get() : nullptr;
        if (!plan || !plan->valid || !(key == plan->key)) return write_to_keep(team, kind, key, root), false;
        kept_ = plan;
        ++plan->users;
        schedule_ = &plan->schedule;
        name_ = plan->name;
        word_ = plan->word;
        spaces_.use(send, receive);
        return true;
    }
    void keep(const Team &team);
    // Gives the plan the name and word of the MPI call for which it runs, in place of those of the planned
    // operation.
    void stand_for(CollectiveKind kind);
    void make_persistent() { word_ = persistent_form(word_); }

    // The kept plan, if it consists of one short use of the node area (ShortUse); else nullptr.
    const KeptPlan *short_one() const { return kept_ && kept_->short_use.ready() ? kept_ : nullptr; }
    // Is there a kept plan without steps?
    bool is_kept_empty() const { return kept_ && kept_->empty; }

    // Allocates memory for the schedule's scratch blocks. False: there is not enough memory.
    bool make_scratch() { return spaces_.make_scratch(schedule_->scratch_size()); }
    // Empties the plan after the operation has ended.
    void clear();
    // The same for a plan for which short_one() is not nullptr, or is_kept_empty().
    void clear_kept() {
        --kept_->users;
        kept_ = nullptr;
        schedule_ = &own_schedule_;
    }

private:
    void write_to_keep(Team &team, CollectiveKind kind, const PlanKey &key, int root);

    Schedule own_schedule_;
    Schedule *schedule_ = &own_schedule_;
    KeptPlan *kept_ = nullptr;  // the owner of `*schedule_`, unless that is own_schedule_
    const char *name_ = "";
    uint32_t word_ = 0;
    Spaces spaces_;
};

}  // namespace lanyard
