// Compares the record of which packets have arrived with a plain set. Also tests when an acknowledgement is
// due.
#include "path/dgram/arrivals.h"

#include <gtest/gtest.h>

#include "net/sim/random.h"

namespace lanyard::dgram {
namespace {

constexpr AnswerLimits answer_limits{.packets = 4, .delay_ns = 1000};
constexpr uint64_t never = UINT64_MAX;

std::set<uint64_t> said_to_have_arrived(const Acknowledgement &said, uint64_t next) {
    std::set<uint64_t> received;
    for (uint32_t i = 0; i < said.count; ++i)
        for (uint32_t j = 0; j < said.ranges[i].length; ++j) received.insert(next + said.ranges[i].begin + j);
    return received;
}

TEST(Arrivals, AcknowledgeEveryFewPacketsOrAfterAWhile) {
    Arrivals arrivals;
    EXPECT_EQ(arrivals.due_ns(), never);
    arrivals.add(1, false, answer_limits, 100);
    EXPECT_EQ(arrivals.due_ns(), 1100u);
    arrivals.add(2, false, answer_limits, 200);
    arrivals.add(3, false, answer_limits, 300);
    EXPECT_EQ(arrivals.due_ns(), 1100u);
    arrivals.add(4, false, answer_limits, 400);
    EXPECT_EQ(arrivals.due_ns(), 400u);
    Acknowledgement said;
    arrivals.acknowledge(said, 5'400, 1000);
    EXPECT_EQ(said.cumulative, 5u);
    EXPECT_EQ(said.delay_us, 5);
    EXPECT_EQ(said.count, 0u);
    EXPECT_EQ(arrivals.due_ns(), never);
    arrivals.add(5, true, answer_limits, 6000);
    EXPECT_EQ(arrivals.due_ns(), 6000u) << "when asked, at once";
}

TEST(Arrivals, SayForHowLongTheHighestMayHaveWaited) {
    Arrivals arrivals;
    Acknowledgement said;
    arrivals.add(2, false, answer_limits, 1000, 10'000'000);
    arrivals.add(1, false, answer_limits, 2000, 20'000'000);
    arrivals.acknowledge(said, 2000, 1000);
    EXPECT_EQ(said.away_us, 10'000);
    arrivals.add(3, false, answer_limits, 3000, 49'000);
    arrivals.acknowledge(said, 3000, 1000);
    EXPECT_EQ(said.away_us, 0) << "too little to be said";
    arrivals.add(4, false, answer_limits, 4000, 100'000'000);
    arrivals.acknowledge(said, 4000, 1000);
    EXPECT_EQ(said.away_us, UINT16_MAX);
}

TEST(Arrivals, AcknowledgeGapsAtOnceAndTheThirdPacketBehind) {
    Arrivals arrivals;
    Acknowledgement said;
    arrivals.add(1, false, answer_limits, 10);
    arrivals.add(3, false, answer_limits, 20);
    EXPECT_EQ(arrivals.due_ns(), 20u);
    arrivals.acknowledge(said, 20, 1000);
    EXPECT_EQ(said.cumulative, 2u);
    ASSERT_EQ(said.count, 1u);
    EXPECT_EQ(said.ranges[0].begin, 1);
    arrivals.add(4, false, answer_limits, 30);
    EXPECT_EQ(arrivals.due_ns(), 1030u) << "the gap is known";
    arrivals.add(5, false, answer_limits, 40);
    EXPECT_EQ(arrivals.due_ns(), 40u) << "the sender takes it for lost now";
    arrivals.acknowledge(said, 40, 1000);
    arrivals.add(6, false, answer_limits, 50);
    EXPECT_EQ(arrivals.due_ns(), 1050u);
    arrivals.add(2, false, answer_limits, 60);
    EXPECT_EQ(arrivals.due_ns(), 60u) << "late after all";
    arrivals.acknowledge(said, 60, 1000);
    EXPECT_EQ(said.cumulative, 7u);
    EXPECT_FALSE(arrivals.gaps());
}

// The acknowledgement that shows a gap may be lost, like the packet that is missing.
TEST(Arrivals, TellOfAGapOnceMoreWhereNothingFollows) {
    Arrivals arrivals;
    Acknowledgement said, again;
    arrivals.add(2, false, answer_limits, 10);
    arrivals.acknowledge(said, 20, 500);
    EXPECT_EQ(arrivals.due_ns(), 520u);
    arrivals.acknowledge(again, 2520, 500);
    EXPECT_EQ(again.cumulative, said.cumulative);
    EXPECT_EQ(again.count, said.count);
    EXPECT_EQ(again.delay_us, 2);
    EXPECT_EQ(arrivals.due_ns(), never) << "once";
    arrivals.add(3, false, answer_limits, 3000);
    EXPECT_EQ(arrivals.due_ns(), 4000u);
    arrivals.acknowledge(said, 4000, 500);
    EXPECT_EQ(arrivals.due_ns(), 4500u);
    arrivals.add(1, false, answer_limits, 4100);
    arrivals.acknowledge(said, 4100, 500);
    EXPECT_EQ(arrivals.due_ns(), never) << "nothing is missing";
}

TEST(Arrivals, KnowCopiesAndWhatIsTooFar) {
    Arrivals arrivals;
    arrivals.add(1, false, answer_limits, 10);
    arrivals.add(3, false, answer_limits, 10);
    using Verdict = Arrivals::Verdict;
    EXPECT_EQ(arrivals.judge(1), Verdict::copy);
    EXPECT_EQ(arrivals.judge(2), Verdict::fresh);
    EXPECT_EQ(arrivals.judge(3), Verdict::copy);
    EXPECT_EQ(arrivals.judge(4), Verdict::fresh);
    EXPECT_EQ(arrivals.judge(1 + most_span), Verdict::fresh);
    EXPECT_EQ(arrivals.judge(2 + most_span), Verdict::beyond);
    arrivals.move_on(3);
    EXPECT_EQ(arrivals.next(), 4u);
    EXPECT_EQ(arrivals.judge(2), Verdict::copy) << "too late";
    arrivals.move_on(1'000'000);
    EXPECT_EQ(arrivals.judge(999'999), Verdict::copy);
    EXPECT_EQ(arrivals.judge(1'000'000), Verdict::fresh);
    EXPECT_FALSE(arrivals.gaps());
}

TEST(Arrivals, AreThoseOfAPlainSet) {
    for (uint64_t seed = 1; seed < 60; ++seed) {
        sim::Random random(seed);
        Arrivals arrivals(1);
        std::set<uint64_t> received;
        uint64_t next = 1, end = 1;
        for (int i = 0; i < 3000; ++i) {
            uint64_t number =
                random.chance(70) ? end + random.below(3) : next + random.below(random.chance(5) ? 5000 : 60);
            bool had = number < next || received.count(number);
            auto verdict = arrivals.judge(number);
            ASSERT_EQ(verdict, number >= next + most_span ? Arrivals::Verdict::beyond
                               : had                      ? Arrivals::Verdict::copy
                                                          : Arrivals::Verdict::fresh);
            if (verdict == Arrivals::Verdict::fresh) {
                arrivals.add(number, false, answer_limits, 0);
                received.insert(number);
                end = std::max(end, number + 1);
            }
            if (random.chance(3)) {
                uint64_t below = next + random.below(end - next + 1);
                arrivals.move_on(below);
                next = std::max(next, below);
            }
            while (received.count(next)) received.erase(next++);
            received.erase(received.begin(), received.lower_bound(next));
            ASSERT_EQ(arrivals.next(), next);
            ASSERT_EQ(arrivals.gaps(), !received.empty());
            if (!random.chance(10)) continue;
            Acknowledgement said;
            arrivals.acknowledge(said, 0, 1000);
            std::set<uint64_t> told = said_to_have_arrived(said, next);
            if (said.count < most_ranges) ASSERT_EQ(told, received);
            else
                ASSERT_TRUE(std::includes(received.begin(), received.end(), told.begin(), told.end()) &&
                            *told.rbegin() == *received.rbegin());
        }
    }
}

}  // namespace
}  // namespace lanyard::dgram
