// Tests which envelopes leave at once and which are held back.
#include "path/dgram/packet_batching.h"

#include <gtest/gtest.h>

#include <string>

namespace lanyard::dgram {
namespace {

constexpr BatchLimits batch_limits{.most_kept = 1000, .most_kept_oversubscribed = 3000, .batched_below = 100};

// Sends `count` envelopes. Returns one character for each: "!" if it leaves at once with all before it, and
// "." if it is kept.
std::string send(PacketBatching &batching, Series &series, int count, size_t payload = 1,
                 bool oversubscribed = false) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        bool keeps = batching.keeps(series, payload, oversubscribed);
        if (!keeps) batching.left();
        text += keeps ? '.' : '!';
    }
    return text;
}

TEST(PacketBatching, KeepsNothingUnlessTheEngineGathers) {
    PacketBatching batching(batch_limits);
    Series series;
    EXPECT_EQ(send(batching, series, 4), "!!!!");
    batching.allow(true);
    EXPECT_EQ(send(batching, series, 2), "!.");
    batching.allow(false);
    EXPECT_EQ(send(batching, series, 2), "!!");
}

TEST(PacketBatching, TheFirstLeavesAtOnceAndThenThreeTimesAsManyAsHaveLeft) {
    PacketBatching batching(batch_limits);
    Series series;
    batching.allow(true);
    EXPECT_EQ(send(batching, series, 20), "!..!...........!....");
}

TEST(PacketBatching, APeerHasItsOwnSeriesAndEachSeriesBeginsAnew) {
    PacketBatching batching(batch_limits);
    Series first, second;
    batching.allow(true);
    EXPECT_EQ(send(batching, first, 2), "!.");
    EXPECT_EQ(send(batching, second, 1), "!");
    batching.end_series();
    EXPECT_EQ(send(batching, first, 2), "!.");
}

TEST(PacketBatching, KeepsOnlySoManyBytesOfAllPeers) {
    for (bool leaves : {false, true}) {
        PacketBatching batching(batch_limits);
        Series first, second;
        batching.allow(true);
        EXPECT_FALSE(batching.keeps(first, 1, false));
        EXPECT_TRUE(batching.keeps(first, 1, false));
        for (int i = 0; i < 10; ++i) batching.keeps(second, 99, false);
        if (leaves) batching.left();
        EXPECT_EQ(batching.keeps(first, 1, false), leaves);
    }
}

TEST(PacketBatching, LongOnesLeaveAtOnce) {
    PacketBatching batching(batch_limits);
    Series series;
    batching.allow(true);
    EXPECT_EQ(send(batching, series, 3, 100), "!!!");
    EXPECT_EQ(send(batching, series, 2, 99), "!.");
}

TEST(PacketBatching, WhereProcessesShareProcessorsAllAreKept) {
    PacketBatching batching(batch_limits);
    Series series;
    batching.allow(true);
    std::string text = send(batching, series, 60, 90, true);
    size_t first = text.find('!');
    EXPECT_GE(first, 3000 / (90 + queued_frame_bytes) - 1);
    EXPECT_LE(first, 3000u / 90);
}

}  // namespace
}  // namespace lanyard::dgram
