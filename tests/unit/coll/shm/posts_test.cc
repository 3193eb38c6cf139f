// Tests OwnPost and Taking without the rest of an exchange. One rank posts data and another takes it: in a
// slot, at an address, or through the stage. In further tests, a rank waits for free slots, or expects
// something else than was posted.
#include <gtest/gtest.h>

#include <algorithm>

#include "coll/shm/own_post.h"
#include "coll/shm/taking.h"
#include "one_area.h"

namespace lanyard {
namespace {

using testing::Broadcast;
using testing::OneArea;

constexpr CollectiveCall call{1, 0};

// Rank 0, which posts data in use 1. The data consists of different bytes, so that misplaced bytes
// are noticed.
struct Poster : Broadcast {
    Poster(OneArea &area, int64_t bytes, const char *way) : Broadcast(area, 0, bytes, way) {
        for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i % 251);
        post.forget();
    }
    bool write() {
        if (!post.has_room(task, 1, all_done)) return false;
        post.write(task, 1, call);
        return true;
    }
    DoneWait all_done;
    OwnPost post;
};

// Rank 1, which expects `bytes` bytes and takes them.
struct Taker : Broadcast {
    Taker(OneArea &area, int64_t bytes) : Broadcast(area, 1, bytes, "once") {
        check.begin(call.word, call.number);
    }
    bool take() { return taking.take({task, 1, false, false, check}); }
    CallCheck check;
    Taking taking;
};

TEST(OwnPost, GoesWhereThereIsRoom) {
    OneArea area(2);
    Poster few(area, 100, "once");
    ASSERT_TRUE(few.write());
    EXPECT_EQ(few.slot(1).bytes(), 100u);
    EXPECT_FALSE(few.post.at_address() || few.post.by_stage());
    Poster many(area, 100'000, "once");
    ASSERT_TRUE(many.write());
    EXPECT_EQ(many.slot(1).bytes(), uint32_t{Slot::at_address});
    EXPECT_TRUE(many.post.at_address() && many.post.is_whole());
    Poster staged(area, 100 * StageMemory::piece_bytes, "twice");
    ASSERT_TRUE(staged.write());
    EXPECT_TRUE(staged.post.by_stage());
    EXPECT_FALSE(staged.post.at_address() || staged.post.is_whole());
    staged.post.give_up();
    EXPECT_TRUE(staged.post.is_whole());
}

TEST(OwnPost, WaitsUntilAllAreDoneWithWhatWasThere) {
    OneArea area(2);
    Poster poster(area, 100, "once");
    AreaTeam other = area.seen_by(1);
    uint32_t apart = other.area.uses_apart(100);
    for (int rank : {0, 1}) area.seen_by(rank).team.node_use.started = apart + 1;
    tell_done_through(area.seen_by(0), apart);
    EXPECT_TRUE(poster.post.has_room(poster.task, apart, poster.all_done));
    EXPECT_FALSE(poster.post.has_room(poster.task, apart + 1, poster.all_done));
    EXPECT_TRUE(poster.all_done.waits());
    tell_done_through(other, 1);
    // If a rank has to wait, it waits until there is room for several uses.
    EXPECT_FALSE(poster.post.has_room(poster.task, apart + 1, poster.all_done));
    tell_done_through(other, apart / 2 + 1);
    EXPECT_TRUE(poster.post.has_room(poster.task, apart + 1, poster.all_done));
    EXPECT_FALSE(poster.all_done.waits());
}

TEST(Taking, GetsAllInEveryWay) {
    struct {
        int64_t bytes;
        const char *way;
        int least_calls;
    } cases[] = {{100, "once", 1}, {5000, "twice", 1},
                 {100'000, "once", 1}, {5 << 20, "once", 5}, {100'000, "twice", 1}, {5 << 20, "twice", 5}};
    for (const auto &each : cases) {
        OneArea area(2);
        Poster poster(area, each.bytes, each.way);
        Taker taker(area, each.bytes);
        ASSERT_TRUE(poster.write());
        int calls = 1;
        for (; !taker.take(); ++calls) {
            bool taken = taker.taking.got_on(), posted = poster.post.go_on(poster.task);
            EXPECT_TRUE(taken || posted);
        }
        EXPECT_GE(calls, each.least_calls);
        EXPECT_TRUE(poster.post.is_whole());
        EXPECT_TRUE(taker.data == poster.data) << each.bytes << " bytes, " << each.way;
        EXPECT_FALSE(taker.check.error());
    }
}

TEST(Taking, TellsOtherLengthsAndLeavesStreams) {
    for (const char *way : {"once", "twice"}) {
        OneArea area(2);
        constexpr int64_t bytes = 100 * StageMemory::piece_bytes;
        Poster poster(area, bytes, way);
        Taker taker(area, bytes + 8);
        ASSERT_TRUE(poster.write());
        EXPECT_TRUE(taker.take());
        EXPECT_EQ(taker.check.error().take().sentence,
                  "rank 0 takes part with " + std::to_string(bytes) + " bytes, this rank expects " +
                      std::to_string(bytes + 8) + "; count and datatype must agree on all ranks");
        while (!poster.post.is_whole()) ASSERT_TRUE(poster.post.go_on(poster.task));
    }
}

TEST(Taking, UsesNothingOfAnotherCall) {
    OneArea area(2);
    Poster poster(area, 100, "once");
    Taker taker(area, 100);
    ASSERT_TRUE(poster.write());
    EXPECT_FALSE(taker.check.compare(0, {2, 0}));
    EXPECT_TRUE(taker.take());
    EXPECT_FALSE(taker.taking.got_on());
    EXPECT_EQ(std::count(taker.data.begin(), taker.data.end(), std::byte{0}), 100);
    taker.check.error().discard();
}

}  // namespace
}  // namespace lanyard
