// Tests OwnPost and Taking without the rest of an exchange. One rank posts data and another takes it: in a
// slot, at an address, or through the stage. In further tests, a rank waits for free slots, expects something
// else than was posted, or must request the memory because the kernel refuses reads.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/abi_constants.h"
#include "coll/shm/own_post.h"
#include "coll/shm/peer_memory.h"
#include "coll/shm/taking.h"
#include "datatype/predefined.h"
#include "one_area.h"

namespace lanyard {
namespace {

using testing::Broadcast;
using testing::OneArea;
using testing::Side;

constexpr CollectiveCall call{1, 0};

// Rank 0, which posts data in use 1. The data consists of different bytes, so that misplaced bytes
// are noticed.
struct Poster : Broadcast {
    Poster(OneArea &area, int64_t bytes, const char *method) : Broadcast(area, 0, bytes, method) {
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

// Rank 1 of 2, which adds up `count` numbers of each rank.
struct Adder : Side {
    Adder(OneArea &area, int64_t count) : Side(area, 1, schedule_of(count), count * 8, "once") {
        check.begin(call.word, call.number);
    }
    bool take() { return taking.take({task, 1, false, false, check}); }
    CallCheck check;
    Taking taking;

private:
    static Schedule schedule_of(int64_t count) {
        const Datatype &type = *predefined_datatype(abi::type_int64_t);
        ReduceShape shape;
        shape.index = 1;
        shape.size = 2;
        shape.contribution = {Space::send, 0, count, &type};
        shape.result = {Space::receive, 0, count, &type};
        shape.op = predefined_op(abi::op_sum);
        Schedule schedule;
        allreduce_exchange(shape, schedule);
        return schedule;
    }
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
        const char *method;
        int least_calls;
    } cases[] = {{100, "once", 1}, {5000, "twice", 1},
                 {100'000, "once", 1}, {5 << 20, "once", 5}, {100'000, "twice", 1}, {5 << 20, "twice", 5}};
    for (const auto &each : cases) {
        OneArea area(2);
        Poster poster(area, each.bytes, each.method);
        Taker taker(area, each.bytes);
        ASSERT_TRUE(poster.write());
        int calls = 1;
        for (; !taker.take(); ++calls) {
            bool taken = taker.taking.got_on(), posted = poster.post.go_on(poster.task);
            EXPECT_TRUE(taken || posted);
        }
        EXPECT_GE(calls, each.least_calls);
        EXPECT_TRUE(poster.post.is_whole());
        EXPECT_TRUE(taker.data == poster.data) << each.bytes << " bytes, " << each.method;
        EXPECT_FALSE(taker.check.error());
    }
}

TEST(Taking, TellsOtherLengthsAndLeavesStreams) {
    for (const char *method : {"once", "twice"}) {
        OneArea area(2);
        constexpr int64_t bytes = 100 * StageMemory::piece_bytes;
        Poster poster(area, bytes, method);
        Taker taker(area, bytes + 8);
        ASSERT_TRUE(poster.write());
        EXPECT_TRUE(taker.take());
        EXPECT_EQ(taker.check.error().take().sentence,
                  "rank 0 takes part with " + std::to_string(bytes) + " bytes, this rank expects " +
                      std::to_string(bytes + 8) + "; count and datatype must agree on all ranks");
        while (!poster.post.is_whole()) ASSERT_TRUE(poster.post.go_on(poster.task));
    }
}

// A rank whose own contribution fits into a slot must also leave the stream of a longer contribution.
TEST(Taking, LeavesStreamsAlsoWhereSlotsAreCombined) {
    OneArea area(2);
    Poster poster(area, 100 * StageMemory::piece_bytes, "twice");
    Adder adder(area, 1);
    ASSERT_TRUE(poster.write());
    ASSERT_FALSE(poster.post.is_whole());
    EXPECT_TRUE(adder.take());
    EXPECT_NE(adder.check.error().take().sentence.find("this rank expects 8;"), std::string::npos);
    while (!poster.post.is_whole()) ASSERT_TRUE(poster.post.go_on(poster.task));
}

// If reads are refused, a call returns even though the owner of the memory does not answer.
TEST(Taking, DoesNotWaitForRequestedMemory) {
    constexpr int64_t bytes = 10'000, lent = NodeArea::lent_bytes;
    OneArea area(2);
    area.refuses_reads = true;
    Poster poster(area, bytes, "once");
    Taker taker(area, bytes);
    ASSERT_TRUE(poster.write());
    EXPECT_FALSE(taker.take());
    EXPECT_FALSE(taker.taking.got_on());
    EXPECT_EQ(poster.task.area.asking().load(), 1u);
    int64_t answers = 0;
    for (; answers < bytes && !taker.take(); ++answers) {
        area.fall_asleep(1);
        answer_askers(poster.task);
        EXPECT_FALSE(area.asleep(1));
    }
    EXPECT_EQ(answers, (bytes + lent - 1) / lent);
    EXPECT_TRUE(taker.data == poster.data);
    EXPECT_EQ(poster.task.area.asking().load(), 0u);
}

// A rank has only one request under way, so its uses must take turns.
TEST(Taking, SeveralUsesRequestMemoryInTurn) {
    constexpr int64_t bytes = 10'000;
    OneArea area(2);
    area.refuses_reads = true;
    Poster poster(area, bytes, "once");
    Taker first(area, bytes), second(area, bytes);
    ASSERT_TRUE(poster.write());
    bool first_over = false, second_over = false;
    for (int turn = 0; turn < 100 && !(first_over && second_over); ++turn) {
        first_over = first_over || first.take();
        second_over = second_over || second.take();
        answer_askers(poster.task);
    }
    EXPECT_TRUE(first_over && first.data == poster.data);
    EXPECT_TRUE(second_over && second.data == poster.data);
}

TEST(Taking, WithdrawsItsRequest) {
    constexpr int64_t bytes = 10'000;
    OneArea area(2);
    area.refuses_reads = true;
    Poster poster(area, bytes, "once");
    Taker taker(area, bytes);
    ASSERT_TRUE(poster.write());
    EXPECT_FALSE(taker.take());
    taker.taking.abandon(taker.task);
    EXPECT_EQ(poster.task.area.asking().load(), 0u);
    answer_all_askers(poster.task);
    EXPECT_EQ(poster.task.area.header(1).answered.load(), 0u);
}

// Rank 2 has answered request 7 of rank 0. Now it reads the number of that request once more, but the other
// fields of request 8, which rank 1 has already answered.
TEST(PeerMemory, WhatIsAnsweredIsNotAnsweredAgain) {
    OneArea area(3);
    AreaTeam late = area.seen_by(2);
    std::byte other{1};
    RankHeader &header = late.area.header(0);
    header.asked.store(7);
    header.owner.store(2);
    header.address.store(reinterpret_cast<uintptr_t>(&other));
    header.bytes.store(1);
    header.answered.store(8);
    answer_all_askers(late);
    EXPECT_EQ(header.answered.load(), 8u);
    EXPECT_EQ(*late.area.lent_piece(0), std::byte{0});
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
