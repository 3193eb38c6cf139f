// Plans trees of messages for the creation of communicators (plan_spread() and plan_tell_all(),
// collectives.h). The trees use only messages, so they also work on the team of an intercommunicator, whose
// two groups are treated as one here.
// Tested by: tests/sim/communicators_test.cc, tests/unit/comm/create_test.cc.
#include "coll/collectives.h"
#include "coll/tree.h"

namespace lanyard {

namespace {

// When `after` is done, receives the data from the parent and sends it to the children.
void spread(const BinomialTree &tree, const Block &all, StepId after, Schedule &schedule) {
    StepId known = tree.is_root() ? after : schedule.receive(tree.parent(), all, after, 1);
    tree.each_child_largest_first([&](int child, int, int) { schedule.send(child, all, known, 1); });
}

}  // namespace

void plan_spread(Executor &, Team &team, Plan &plan, void *data, int64_t bytes, int first) {
    plan.describe({}, nullptr, data);
    spread(BinomialTree(team.index, team.size, first), {Space::receive, 0, bytes, &packed_bytes()}, no_step,
           plan.schedule());
}

void plan_tell_all(Executor &, Team &team, Plan &plan, void *entries, int64_t entry_bytes) {
    plan.describe({}, nullptr, entries);
    Schedule &schedule = plan.schedule();
    BinomialTree tree(team.index, team.size, 0);
    auto entries_of = [&](int first, int members) {
        return Block{Space::receive, first * entry_bytes, members * entry_bytes, &packed_bytes()};
    };
    std::vector<StepId> heard;
    tree.each_child_smallest_first([&](int child, int position, int members) {
        heard.push_back(schedule.receive(child, entries_of(position, members), no_step));
    });
    StepId known = schedule.join(heard);
    if (!tree.is_root())
        known = schedule.send(tree.parent(), entries_of(tree.position(), tree.subtree()), known);
    spread(tree, entries_of(0, team.size), known, schedule);
}

}  // namespace lanyard
