// Tests CallCheck in isolation. It must detect different calls, calls in another order, different lengths,
// and mismatches in earlier uses.
#include "coll/shm/call_check.h"

#include <gtest/gtest.h>

#include "one_area.h"

namespace lanyard {
namespace {

using testing::OneArea;

const uint32_t barrier_word = Agreement{CollectiveKind::barrier}.word(),
               bcast_word = Agreement{CollectiveKind::bcast, 0, 0, 8}.word();

std::string sentence(const CallCheck &check) {
    Error error = check.error();
    return error ? error.take().sentence : "";
}

TEST(CallCheck, SameCallsFit) {
    CallCheck check;
    check.begin(barrier_word, 7);
    EXPECT_TRUE(check.compare(1, {7, barrier_word}));
    EXPECT_TRUE(check.fits(1, 8, 8));
    EXPECT_FALSE(check.disagrees());
    EXPECT_EQ(sentence(check), "");
}

// A slot stores only the lower bits of a call's number, so stored numbers wrap around.
TEST(CallCheck, NumbersWrap) {
    CallCheck check;
    check.begin(barrier_word, Slot::most_numbers + 3);
    EXPECT_TRUE(check.compare(1, {2, barrier_word}));
}

TEST(CallCheck, TellsAnotherCall) {
    CallCheck check;
    check.begin(barrier_word, 7);
    EXPECT_FALSE(check.compare(1, {7, bcast_word}));
    EXPECT_TRUE(check.disagrees());
    EXPECT_EQ(check.disputed_word(), barrier_word);
    EXPECT_EQ(check.disputed_age(), 0u);
    EXPECT_EQ(sentence(check),
              "rank 1 calls MPI_Bcast where this rank calls MPI_Barrier; all ranks must call the same "
              "collective operations on a communicator in the same order");
    check.begin(barrier_word, 8);
    EXPECT_FALSE(check.disagrees());
    EXPECT_EQ(sentence(check), "");
}

TEST(CallCheck, TellsAnotherOrder) {
    CallCheck check;
    check.begin(barrier_word, 7);
    EXPECT_FALSE(check.compare(2, {8, barrier_word}));
    EXPECT_EQ(
        sentence(check),
        "rank 2 calls MPI_Barrier as collective operation 9 of this communicator, this rank "
        "MPI_Barrier as operation 8; all ranks must call the same collective operations in the same order");
}

// The sentence states whole numbers, although posts have only their low bits.
TEST(CallCheck, TellsHighNumbersInFull) {
    const uint32_t round = Slot::most_numbers + 1, numbers[][2] = {{3 * round + 7, 3 * round + 6},
                                                                   {3 * round, 3 * round - 1},
                                                                   {3 * round - 1, 3 * round + 1}};
    for (const auto &[own, other] : numbers) {
        CallCheck check;
        check.begin(barrier_word, own);
        EXPECT_FALSE(check.compare(2, {other & Slot::most_numbers, barrier_word}));
        EXPECT_EQ(sentence(check), "rank 2 calls MPI_Barrier as collective operation " +
                                       std::to_string(other + 1) +
                                       " of this communicator, this rank MPI_Barrier as operation " +
                                       std::to_string(own + 1) +
                                       "; all ranks must call the same collective operations in the same "
                                       "order");
    }
}

TEST(CallCheck, TellsAnotherLength) {
    CallCheck check;
    check.begin(bcast_word, 7);
    EXPECT_FALSE(check.fits(2, 16, 8));
    EXPECT_FALSE(check.disagrees());
    EXPECT_EQ(
        sentence(check),
        "rank 2 takes part with 16 bytes, this rank expects 8; count and datatype must agree on all ranks");
}

// Rank 0 posts in use 1 and waits for no other rank. It waits for rank 1 only two uses later, and must then
// detect that rank 1 made another call in use 1.
TEST(CallCheck, RemembersUsesInWhichARankWasAlone) {
    OneArea area(2);
    AreaTeam own = area.seen_by(0);
    CallCheck check;
    check.begin(bcast_word, 1);
    own.area.calls(0).tell(1, check.own());
    check.remember_alone(own, 1);
    own.area.calls(1).tell(1, {1, barrier_word});
    check.begin(bcast_word, 2);
    check.compare_alone(own, false);
    EXPECT_FALSE(check.disagrees());
    check.begin(barrier_word, 3);
    check.compare_alone(own, true);
    EXPECT_TRUE(check.disagrees());
    EXPECT_EQ(check.disputed_word(), bcast_word);
    EXPECT_EQ(check.disputed_age(), 2u);
    EXPECT_EQ(own.team.node_use.alone_count, 0);
    check.error().discard();
}

// Uses that have not been compared yet are remembered, and must be compared before there is no room
// for more.
TEST(CallCheck, ComparesManyUsesAtOnce) {
    OneArea area(2);
    AreaTeam own = area.seen_by(0);
    CallCheck check;
    for (uint32_t use = 1; use <= 3 * NodeUse::most_alone; ++use) {
        check.begin(bcast_word, use);
        for (int rank : {0, 1}) own.area.calls(rank).tell(use, check.own());
        check.compare_alone(own, false);
        check.remember_alone(own, use);
    }
    EXPECT_FALSE(check.disagrees());
    EXPECT_EQ(own.team.node_use.alone_count, NodeUse::most_alone);
}

}  // namespace
}  // namespace lanyard
