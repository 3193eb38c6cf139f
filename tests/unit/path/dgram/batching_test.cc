#include "path/dgram/batching.h"

#include <gtest/gtest.h>

#include <string>

namespace lanyard::dgram {
namespace {

constexpr BatchLimits limits{.most_gathered = 1000, .most_gathered_crowded = 3000, .gathered_below = 100};

// Sends `count` envelopes; "!" for each that leaves at once with all before it, "." for each that is kept.
std::string send(Batching &batching, Series &series, int count, size_t payload = 1, bool crowded = false) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        bool keeps = batching.keeps(series, payload, crowded);
        if (!keeps) batching.left();
        text += keeps ? '.' : '!';
    }
    return text;
}

TEST(Batching, KeepsNothingUnlessTheEngineGathers) {
    Batching batching(limits);
    Series series;
    EXPECT_EQ(send(batching, series, 4), "!!!!");
    batching.gather(true);
    EXPECT_EQ(send(batching, series, 2), "!.");
    batching.gather(false);
    EXPECT_EQ(send(batching, series, 2), "!!");
}

TEST(Batching, TheFirstLeavesAtOnceAndThenThreeTimesAsManyAsHaveLeft) {
    Batching batching(limits);
    Series series;
    batching.gather(true);
    EXPECT_EQ(send(batching, series, 20), "!..!...........!....");
}

TEST(Batching, APeerHasItsOwnSeriesAndEachSeriesBeginsAnew) {
    Batching batching(limits);
    Series first, second;
    batching.gather(true);
    EXPECT_EQ(send(batching, first, 2), "!.");
    EXPECT_EQ(send(batching, second, 1), "!");
    batching.end_series();
    EXPECT_EQ(send(batching, first, 2), "!.");
}

TEST(Batching, KeepsOnlySoManyBytesOfAllPeers) {
    for (bool leaves : {false, true}) {
        Batching batching(limits);
        Series first, second;
        batching.gather(true);
        EXPECT_FALSE(batching.keeps(first, 1, false));
        EXPECT_TRUE(batching.keeps(first, 1, false));
        for (int i = 0; i < 10; ++i) batching.keeps(second, 99, false);
        if (leaves) batching.left();
        EXPECT_EQ(batching.keeps(first, 1, false), leaves);
    }
}

TEST(Batching, LongOnesLeaveAtOnce) {
    Batching batching(limits);
    Series series;
    batching.gather(true);
    EXPECT_EQ(send(batching, series, 3, 100), "!!!");
    EXPECT_EQ(send(batching, series, 2, 99), "!.");
}

TEST(Batching, WhereProcessesShareProcessorsAllAreKept) {
    Batching batching(limits);
    Series series;
    batching.gather(true);
    std::string text = send(batching, series, 60, 90, true);
    size_t first = text.find('!');
    EXPECT_GE(first, 3000 / (90 + queued_frame_bytes) - 1);
    EXPECT_LE(first, 3000u / 90);
}

}  // namespace
}  // namespace lanyard::dgram
