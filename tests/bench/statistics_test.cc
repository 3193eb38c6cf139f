// Compares medians and their intervals with the definition: among many sets of random samples, the interval
// must contain the true median in about the share of them that it claims (95 %).
#include "bench/programs/statistics.h"

#include <algorithm>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

namespace lanyard::bench {
namespace {

TEST(Summary, OfOneSampleIsThatSample) {
    Summary s = summarise({3});
    EXPECT_EQ(s.median, 3);
    EXPECT_EQ(s.low, 3);
    EXPECT_EQ(s.high, 3);
    EXPECT_EQ(s.samples, 1);
}

TEST(Summary, MedianOfOddAndEvenNumbers) {
    EXPECT_EQ(summarise({9, 1, 5}).median, 5);
    EXPECT_EQ(summarise({9, 1, 5, 7}).median, 6);
    EXPECT_EQ(summarise({9, 1, 5, 7}).smallest, 1);
    EXPECT_EQ(summarise({9, 1, 5, 7}).largest, 9);
}

// The numbers are those of a textbook's table of order-statistic intervals for the median: n, and the rank of
// the lower bound.
TEST(Summary, IntervalRanksAreThoseOfTheTables) {
    for (auto [n, rank] : {std::pair{5, 1}, {6, 1}, {8, 1}, {9, 2}, {15, 4}, {20, 6}, {30, 10}, {100, 40}}) {
        std::vector<double> samples;
        for (int i = n; i >= 1; --i) samples.push_back(i);
        Summary s = summarise(samples);
        EXPECT_EQ(s.low, rank) << "n = " << n;
        EXPECT_EQ(s.high, n + 1 - rank) << "n = " << n;
    }
}

TEST(Percentile, IsTheSmallestValueThatSoManyDoNotExceed) {
    std::vector<double> values;
    for (int i = 200; i >= 1; --i) values.push_back(i);
    for (auto [percent, value] :
         {std::pair{0.001, 1}, {0.5, 1}, {50.0, 100}, {99.0, 198}, {99.1, 199}, {100.0, 200}})
        EXPECT_EQ(percentile_of(values, percent), value) << percent;
    EXPECT_EQ(percentile_of({3}, 99), 3);
}

TEST(Summary, IntervalHoldsTheTrueMedianAsOftenAsItSays) {
    const char* wanted = std::getenv("LANYARD_TEST_SEED");
    unsigned seed = wanted ? static_cast<unsigned>(std::atoi(wanted)) : 1;
    std::mt19937 random(seed);
    std::exponential_distribution<double> skewed(1);  // its median is ln 2, far from its mean
    for (int n : {9, 20, 1500}) {
        int held = 0;
        constexpr int trials = 1000;
        for (int trial = 0; trial < trials; ++trial) {
            std::vector<double> samples(static_cast<std::size_t>(n));
            std::generate(samples.begin(), samples.end(), [&] { return skewed(random); });
            Summary s = summarise(samples);
            held += s.low <= 0.6931471805599453 && 0.6931471805599453 <= s.high;
        }
        EXPECT_GE(held, 925) << "of " << trials << ", n = " << n << ", seed " << seed;
    }
}

}  // namespace
}  // namespace lanyard::bench
