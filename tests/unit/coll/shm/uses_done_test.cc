// Tests how ranks find out which ranks are done with which uses of a node area (uses_done.h). Uses are
// counted in order. A rank can wait until all ranks are done, and the last rank to be done wakes it. A slot
// also shows up to which use its rank is done. A rank may abandon a use (exchange_run.h).
#include "coll/shm/uses_done.h"

#include <gtest/gtest.h>

#include "coll/shm/exchange_run.h"
#include "one_area.h"

namespace lanyard {
namespace {

using testing::Broadcast;
using testing::OneArea;

TEST(UsesDone, AreCountedInOrder) {
    OneArea area(2);
    AreaTeam own = area.seen_by(0);
    auto through = [&] { return own.area.header(0).done_through.load(); };
    own.team.node_use.started = 70;
    for (uint32_t use : {2u, 3u, 5u}) tell_done(own, use);
    EXPECT_EQ(through(), 0u);
    tell_done(own, 1);
    EXPECT_EQ(through(), 3u);
    tell_done(own, 4);
    EXPECT_EQ(through(), 5u);
    for (uint32_t use = 5 + most_uses_ahead; use > 5; --use) tell_done(own, use);
    EXPECT_EQ(through(), 5 + most_uses_ahead);
    EXPECT_EQ(own.team.node_use.done_beyond, 0u);
}

TEST(UsesDone, TheLastOneWakesWhoWaits) {
    OneArea area(3);
    AreaTeam waiter = area.seen_by(0);
    for (int rank : {0, 1, 2}) area.seen_by(rank).team.node_use.started = 1;
    tell_done(waiter, 1);
    DoneWait wait;
    EXPECT_FALSE(wait.all_done(waiter, 1));
    EXPECT_TRUE(wait.waits());
    EXPECT_EQ(waiter.area.awaited().load(), 1u);
    EXPECT_FALSE(wait.all_done(waiter, 1));
    EXPECT_EQ(waiter.area.awaited().load(), 1u);
    area.fall_asleep(0);
    tell_done(area.seen_by(1), 1);
    EXPECT_TRUE(area.asleep(0));
    tell_done(area.seen_by(2), 1);
    EXPECT_FALSE(area.asleep(0));
    EXPECT_TRUE(wait.all_done(waiter, 1));
    EXPECT_FALSE(wait.waits());
    EXPECT_EQ(waiter.area.awaited().load(), 0u);
}

TEST(UsesDone, SlotsTellToo) {
    OneArea area(2);
    AreaTeam own = area.seen_by(0);
    own.team.node_use.started = own.team.node_use.done_through = 100;
    own.area.slot(1, 100).begin(100, 0, 0, 98, 0);
    learn_who_is_done(own, 100, 8);
    EXPECT_EQ(own.team.node_use.known_done, 98u);
    own.area.slot(1, 101).begin(101, 0, 0, 100, 0);
    learn_who_is_done(own, 101, 8);  // does not look at the slots yet, because it is too early
    EXPECT_EQ(own.team.node_use.known_done, 98u);
}

// Abandoned uses count as done, and the rank does not count as waiting. Entries of the stage are free again
// once the other rank has left the stream.
TEST(UsesDone, AbandonedUsesAreDone) {
    constexpr int64_t bytes = 100 * StageMemory::piece_bytes;
    for (bool by_stage : {false, true}) {
        OneArea area(2);
        Broadcast root(area, 0, bytes, by_stage ? "twice" : "once"), other(area, 1, bytes, "once");
        ExchangeRun posting, taking, not_started;
        posting.begin(root.task.team, 0, 0);
        for (ExchangeRun *run : {&taking, &not_started}) run->begin(other.task.team, 0, 0);
        EXPECT_FALSE(posting.advance(root.task));
        EXPECT_EQ(root.task.area.awaited().load(), by_stage ? 0u : 1u);
        EXPECT_FALSE(taking.advance(other.task));
        posting.abandon(root.task);
        EXPECT_EQ(root.task.area.awaited().load(), 0u);
        EXPECT_EQ(root.task.area.header(0).done_through.load(), 1u);
        not_started.abandon(other.task);
        EXPECT_EQ(root.task.area.header(1).done_through.load(), 0u);
        taking.abandon(other.task);
        EXPECT_EQ(root.task.area.header(1).done_through.load(), 2u);
        if (!by_stage) continue;
        AreaTeam reader = area.seen_by(1);
        IncomingStream(reader, 0, *reinterpret_cast<const SlotPlace *>(root.slot(1).short_payload)).leave();
        int first = 0;
        EXPECT_TRUE(root.stage.allot(StageMemory::entries, first));
    }
}

}  // namespace
}  // namespace lanyard
