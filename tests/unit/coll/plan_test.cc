// Tests plans without running them: plans that an earlier call has kept, the memory of blocks, and the
// numbers and tags of calls. Also tests which team the messages concern that arrive before a call.
#include "coll/plan.h"

#include <gtest/gtest.h>

#include "base/abi_constants.h"
#include "coll/early_messages.h"
#include "coll/team_call.h"
#include "datatype/predefined.h"

namespace lanyard {
namespace {

constexpr CollectiveKind bcast = CollectiveKind::bcast;

PlanKey key_of(int64_t value) {
    PlanKey key;
    return key.add(value);
}

// Uses the plan that an earlier call with this key has kept, and returns true. If there is none, writes a
// plan of `steps` steps, keeps it, and returns false.
bool make(Plan &plan, Team &team, int64_t key, int steps, void *receive) {
    if (plan.recall(team, bcast, key_of(key), nullptr, receive)) return true;
    for (int i = 0; i < steps; ++i) plan.schedule().signal(1, {});
    plan.describe({bcast, 0, 0, key}, nullptr, receive);
    plan.keep(team);
    return false;
}

int64_t steps_of(const Plan &plan) { return static_cast<int64_t>(plan.schedule().steps().size()); }

TEST(Plan, ALaterCallWithTheSameArgumentsFindsIt) {
    KeptPlans kept;
    Team team;
    team.kept = &kept;
    Plan plan, other;
    std::byte first[8], second[8];
    EXPECT_FALSE(make(plan, team, 1, 3, first));
    uint32_t word = plan.word();
    plan.clear();
    EXPECT_EQ(steps_of(plan), 0);
    EXPECT_TRUE(make(plan, team, 1, 99, second));
    EXPECT_EQ(steps_of(plan), 3);
    EXPECT_STREQ(plan.name(), "bcast");
    EXPECT_EQ(plan.word(), word);
    EXPECT_EQ(plan.spaces().buffer({Space::receive, 4, 1, &packed_bytes()}).base, second + 4);
    // Two operations use the kept plan at the same time. A third operation with other arguments
    // must not disturb them.
    EXPECT_TRUE(make(other, team, 1, 99, first));
    Plan third;
    EXPECT_FALSE(make(third, team, 2, 5, first));
    EXPECT_EQ(steps_of(plan), 3);
    EXPECT_EQ(steps_of(third), 5);
    for (Plan *each : {&plan, &other, &third}) each->clear();
    EXPECT_FALSE(make(third, team, 2, 5, first));
    third.clear();
    EXPECT_FALSE(make(plan, team, 1, 3, first));
    plan.clear();
}

TEST(Plan, CallsWhoseRootsTakeTurnsFindTheirs) {
    KeptPlans kept;
    Team team;
    team.kept = &kept;
    for (int turn = 0; turn < 2; ++turn)
        for (int root = abi::root; root < abi::root + static_cast<int>(KeptPlans::roots); ++root)
            for (CollectiveKind kind : {bcast, CollectiveKind::reduce}) {
                Plan plan;
                ASSERT_EQ(plan.recall(team, kind, key_of(root), nullptr, nullptr, root), turn > 0) << root;
                if (turn == 0) plan.describe({kind, root, 0, 8}, nullptr, nullptr), plan.keep(team);
                EXPECT_EQ(plan.word(), (Agreement{kind, root, 0, 8}.word()));
                plan.clear();
            }
}

TEST(Plan, EmptyOnesPassAtOnce) {
    KeptPlans kept;
    Team team;
    team.kept = &kept;
    Plan plan;
    for (int turn = 0; turn < 2; ++turn) {
        EXPECT_EQ(make(plan, team, 1, 0, nullptr), turn > 0);
        EXPECT_EQ(plan.short_one(), nullptr);
        ASSERT_TRUE(plan.is_kept_empty());
        plan.clear_kept();
    }
    EXPECT_FALSE(make(plan, team, 2, 1, nullptr));
    EXPECT_FALSE(plan.is_kept_empty());
    plan.clear();
}

TEST(Plan, LongOnesAreNotKept) {
    KeptPlans kept;
    Team team;
    team.kept = &kept;
    Plan plan;
    for (int turn = 0; turn < 2; ++turn) {
        EXPECT_FALSE(make(plan, team, 1, KeptPlan::most_steps + 1, nullptr));
        plan.clear();
    }
}

TEST(Plan, StandsForAnotherCall) {
    Team team;
    Plan plan;
    EXPECT_FALSE(make(plan, team, 1, 1, nullptr));
    EXPECT_EQ(plan.short_one(), nullptr);
    plan.stand_for(CollectiveKind::comm_dup);
    EXPECT_STREQ(plan.name(), "comm_dup");
    EXPECT_EQ(plan.word(), Agreement{CollectiveKind::comm_dup}.word());
    plan.make_persistent();
    EXPECT_EQ(plan.word(), persistent_form(Agreement{CollectiveKind::comm_dup}.word()));
    plan.clear();
}

TEST(Spaces, ScratchIsAlignedAndKeptUnlessItIsMuch) {
    const Datatype &type = *predefined_datatype(abi::type_int64_t);
    Spaces spaces;
    EXPECT_TRUE(spaces.make_scratch(0));
    ASSERT_TRUE(spaces.make_scratch(1000));
    std::byte *start = spaces.buffer({Space::scratch, 0, 10, &type}).base;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(start) % 64, 0u);
    EXPECT_EQ(spaces.buffer({Space::scratch, 40, 10, &type}).base, start + 40);
    spaces.give_back_much();
    ASSERT_TRUE(spaces.make_scratch(1000));
    EXPECT_EQ(spaces.buffer({Space::scratch, 0, 10, &type}).base, start);
    ASSERT_TRUE(spaces.make_scratch(2 << 20));
    std::byte *much = spaces.buffer({Space::scratch, 0, 10, &type}).base;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(much) % 64, 0u);
    much[(2 << 20) - 1] = std::byte{1};
    spaces.give_back_much();
    EXPECT_TRUE(spaces.make_scratch(1000));
}

TEST(TeamCall, NumbersAndTagsFollowTheTeam) {
    Team team;
    team.context = 5;
    team.index = 3;
    team.sequence += collective_numbers - 1;
    TeamCall call;
    call.begin(team, 17);
    EXPECT_EQ(call.number(), collective_numbers);
    EXPECT_EQ(number_of(call.tag()), collective_numbers - 1);
    EXPECT_EQ(team.recent[number_of(call.tag()) % recent_collectives], 17u);
    MatchKey key = call.message_from(2, 9);
    EXPECT_EQ(key.context, 5u);
    EXPECT_EQ(key.rank, 2);
    EXPECT_EQ(key.tag, call.tag() + 9);
    call.begin(team, 18);
    EXPECT_EQ(number_of(call.tag()), 0u);
}

TEST(TeamCall, APersistentOneKeepsItsTag) {
    Team team;
    TeamCall call;
    call.make_persistent(team, 17);
    // the creation of a persistent operation counts as a call
    EXPECT_EQ(static_cast<uint32_t>(team.sequence), 1u);
    EXPECT_EQ(team.recent[0], 17u);
    int32_t tag = call.tag();
    EXPECT_TRUE(is_persistent(tag));
    for (int turn = 0; turn < 2; ++turn) {
        call.begin(team, 17);
        EXPECT_EQ(call.tag(), tag);
        EXPECT_EQ(call.number(), 0u);
    }
    EXPECT_EQ(static_cast<uint32_t>(team.sequence), 1u);
    call.end();
    call.begin(team, 18);
    EXPECT_FALSE(is_persistent(call.tag()));
    EXPECT_EQ(call.number(), 2u);
}

TEST(EarlyMessages, ConcernOnlyTheirTeam) {
    Team team, other;
    team.context = 5;
    other.context = 6;
    EarlyMessages early;
    early.add({other.context, 0, false, 17, 1});
    EXPECT_FALSE(early.concern(team));
    EXPECT_TRUE(early.concern(other));
    // Messages of a persistent operation are compared when that operation starts.
    early.add({team.context, 0, true, 17, 1});
    EXPECT_FALSE(early.concern(team));
    EarlyMessage found;
    EXPECT_FALSE(early.take_disagreeing(other, 0, found));
    EXPECT_FALSE(early.concern(other));
    EXPECT_FALSE(early.empty());
}

}  // namespace
}  // namespace lanyard
