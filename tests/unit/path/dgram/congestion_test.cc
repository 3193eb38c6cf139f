// Tests the congestion window: it doubles, aims at a small delay, and reacts to losses with and without
// delay.
#include "path/dgram/congestion.h"

#include <gtest/gtest.h>

namespace lanyard::dgram {
namespace {

constexpr size_t packet_bytes = 1472;

// A full window is acknowledged again and again, each time after a given round trip.
class Line {
public:
    // A round trip whose delay is `tenths` tenths of the target.
    uint64_t delayed_ns(uint64_t tenths) const { return 100'000 + limits.target_ns * tenths / 10; }
    void rounds(int count, uint64_t trip_ns, uint32_t lost_of_each = 0) {
        for (int i = 0; i < count; ++i) {
            now_ns += trip_ns;
            uint32_t packets = std::max<uint32_t>(1, congestion.window() / packet_bytes);
            for (uint32_t j = 0; j < packets; ++j) {
                trip.add(trip_ns, 0, now_ns);
                congestion.acknowledged(packet_bytes, 1, congestion.window(), trip, packet_bytes, limits,
                                        now_ns);
            }
            if (lost_of_each) congestion.lost(lost_of_each, trip, packet_bytes, limits, now_ns);
        }
    }

    CongestionLimits limits;
    Congestion congestion{limits, packet_bytes};
    RoundTrip trip;
    uint64_t now_ns = 0;
};

TEST(Congestion, DoublesWhileThereIsNoDelay) {
    Line line;
    line.rounds(4, 100'000);
    EXPECT_TRUE(line.congestion.doubling());
    EXPECT_GT(line.congestion.window(), 8 * line.limits.first_window);
    line.rounds(40, 100'000);
    EXPECT_EQ(line.congestion.window(), line.limits.most_window);
}

TEST(Congestion, StopsDoublingAtHalfTheTarget) {
    Line line;
    line.rounds(3, 100'000);
    line.rounds(2, line.delayed_ns(6));
    EXPECT_FALSE(line.congestion.doubling());
    uint32_t window = line.congestion.window();
    line.rounds(10, line.delayed_ns(6));
    EXPECT_GT(line.congestion.window(), window) << "below the target it goes on, slowly";
    EXPECT_LT(line.congestion.window(), window + 11 * line.limits.gain * packet_bytes);
}

TEST(Congestion, TakesTheAbsenceOfTheReceiverForNoQueue) {
    Line line;
    line.rounds(1, 100'000);
    line.congestion.absent(10'000);
    line.rounds(6, 10'100'000);
    EXPECT_TRUE(line.congestion.doubling());
    EXPECT_GT(line.congestion.window(), 32 * line.limits.first_window);
    uint32_t window = line.congestion.window();
    line.rounds(3, 13'000'000);
    EXPECT_LT(line.congestion.window(), window) << "what the absence does not explain is a queue";
}

TEST(Congestion, SeesTheQueueWhereTheReceiverLooksInTimeOnceARound) {
    Line line;
    line.rounds(5, 100'000);
    uint32_t window = line.congestion.window();
    for (int round = 0; round < 3; ++round)
        for (uint16_t absent_us : {10'000, 20, 10'000}) {
            line.congestion.absent(absent_us);
            line.now_ns += 1'000'000;
            line.trip.add(3'000'000, 0, line.now_ns);
            line.congestion.acknowledged(packet_bytes, 1, line.congestion.window(), line.trip, packet_bytes,
                                         line.limits, line.now_ns);
        }
    EXPECT_LT(line.congestion.window(), window);
}

TEST(Congestion, DoublesToWhatItWasAfterSilence) {
    Line line;
    line.rounds(4, 100'000);
    line.rounds(2, line.delayed_ns(6));
    uint32_t window = line.congestion.window();
    line.congestion.silent(packet_bytes, line.limits);
    EXPECT_EQ(line.congestion.window(), 2 * packet_bytes);
    line.rounds(8, 100'000);
    EXPECT_GE(line.congestion.window(), window);
    EXPECT_LT(line.congestion.window(), 2 * window) << "not for ever";
}

TEST(Congestion, ShrinksWithTheDelayButOnlyOnceARoundTrip) {
    Line line;
    line.rounds(5, 100'000);
    uint32_t window = line.congestion.window();
    line.rounds(2, 3'000'000);  // the second round judges the first
    EXPECT_LT(line.congestion.window(), window);
    EXPECT_GE(line.congestion.window(), window / 2);
    line.rounds(100, 3'000'000);
    EXPECT_EQ(line.congestion.window(), 2 * packet_bytes);
}

TEST(Congestion, HardlyMindsLossesWithoutDelay) {
    Line line;
    line.rounds(4, 100'000);
    uint32_t window = line.congestion.window();
    line.rounds(1, 100'000, 3);
    line.rounds(1, 100'000, 3);
    EXPECT_GE(line.congestion.window(), window);
}

TEST(Congestion, MindsLossesWithDelayAndMany) {
    Line line;
    line.rounds(5, 100'000);
    line.rounds(1, line.delayed_ns(7));
    uint32_t window = line.congestion.window();
    line.now_ns += 1'000'000;
    line.congestion.lost(1, line.trip, packet_bytes, line.limits, line.now_ns);
    EXPECT_EQ(line.congestion.window(), window * 3ull / 4);
    line.congestion.lost(1, line.trip, packet_bytes, line.limits, line.now_ns + 1);
    EXPECT_EQ(line.congestion.window(), window * 3ull / 4) << "once a round trip";

    Line full;
    full.rounds(5, 100'000);
    window = full.congestion.window();
    full.now_ns += 1'000'000;
    full.congestion.lost(30, full.trip, packet_bytes, full.limits, full.now_ns);
    EXPECT_EQ(full.congestion.window(), window / 2);
}

TEST(Congestion, SpacesAWindowOverItsRoundTrip) {
    Line line;
    EXPECT_EQ(line.congestion.spacing_ns(packet_bytes, line.trip, line.limits), 0u);
    line.rounds(3, 100'000);
    line.rounds(2, line.delayed_ns(6));
    uint64_t whole_ns = line.congestion.spacing_ns(line.congestion.window(), line.trip, line.limits);
    EXPECT_NEAR(static_cast<double>(whole_ns), static_cast<double>(line.trip.smoothed_ns()) * 4 / 5, 2);
}

TEST(Congestion, PacesOverNoLongerThanQueuesLast) {
    Line line;
    line.rounds(3, 100'000);
    line.rounds(3, 1'000'000'000);  // a process computed and did not poll
    uint64_t whole_ns = line.congestion.spacing_ns(line.congestion.window(), line.trip, line.limits);
    EXPECT_LE(whole_ns, 100'000 + line.limits.paced_queues * line.limits.target_ns);
    EXPECT_GT(whole_ns, 100'000u);
}

TEST(Congestion, ForgetsWithTime) {
    Line line;
    line.rounds(5, 100'000);
    uint32_t window = line.congestion.window();
    EXPECT_FALSE(line.congestion.forget_if_outdated(packet_bytes, line.limits, line.now_ns + 1'000'000));
    EXPECT_EQ(line.congestion.window(), window);
    EXPECT_TRUE(line.congestion.forget_if_outdated(packet_bytes, line.limits,
                                                   line.now_ns += 2 * line.limits.old_after_ns + 200'000));
    EXPECT_EQ(line.congestion.window(), window / 4);
    EXPECT_FALSE(line.congestion.forget_if_outdated(packet_bytes, line.limits, line.now_ns))
        << "not again for the next packet";
    EXPECT_TRUE(line.congestion.forget_if_outdated(packet_bytes, line.limits, line.now_ns += 1'000'000'000));
    EXPECT_EQ(line.congestion.window(), line.limits.first_window);
    EXPECT_TRUE(line.congestion.doubling()) << "soon it is what it was";
    Line jumbo;
    jumbo.rounds(5, 100'000);
    jumbo.congestion.forget_if_outdated(60'000, jumbo.limits, jumbo.now_ns + 1'000'000'000);
    EXPECT_EQ(jumbo.congestion.window(), 4 * 60'000u);
}

TEST(Congestion, BearsMoreDelayWhereTheReceiverGrants) {
    Line alone, among;
    among.congestion.granted(true);
    for (Line *line : {&alone, &among}) {
        line->rounds(3, 100'000);
        line->rounds(40, line->delayed_ns(19));
    }
    EXPECT_LT(alone.congestion.window(), among.congestion.window() / 2);
}

TEST(Congestion, BeginsAnewAfterSilence) {
    Line line;
    line.rounds(5, 100'000);
    line.congestion.silent(packet_bytes, line.limits);
    EXPECT_EQ(line.congestion.window(), 2 * packet_bytes);
    EXPECT_TRUE(line.congestion.doubling());
}

}  // namespace
}  // namespace lanyard::dgram
