// Tests the measured round trip, and the times derived from it.
#include "path/dgram/round_trip.h"

#include <gtest/gtest.h>

namespace lanyard::dgram {
namespace {

TEST(RoundTrip, IsSmoothedAndRemembersTheLeast) {
    RoundTrip trip;
    EXPECT_FALSE(trip.known());
    EXPECT_EQ(trip.probe_after_ns(0, 777), 777u);
    trip.add(100'000, 0, 1);
    EXPECT_EQ(trip.smoothed_ns(), 100'000u);
    trip.add(180'000, 0, 2);
    EXPECT_EQ(trip.smoothed_ns(), 110'000u);
    EXPECT_EQ(trip.least_ns(), 100'000u);
    EXPECT_EQ(trip.queueing_ns(), 80'000u);
    EXPECT_EQ(trip.loss_age_ns(), 180'000u + 180'000 / 8);
    EXPECT_GT(trip.probe_after_ns(1000, 0), trip.smoothed_ns() + 1000);
}

TEST(RoundTrip, RemembersForAWhileHowLongItMayTake) {
    RoundTrip trip;
    for (int i = 0; i < 200; ++i) trip.add(100'000, 0, 1);
    EXPECT_LT(trip.probe_after_ns(0, 0), 130'000u);
    trip.add(5'000'000, 0, 1);
    for (int i = 0; i < 10; ++i) trip.add(100'000, 0, 1);
    EXPECT_GT(trip.probe_after_ns(0, 0), 5'000'000u);
    for (int i = 0; i < 300; ++i) trip.add(100'000, 0, 1);
    EXPECT_LT(trip.probe_after_ns(0, 0), 130'000u);
}

TEST(RoundTrip, ExpectsForAWhileThatThePeerIsAwayAgain) {
    RoundTrip trip;
    for (int i = 0; i < 10; ++i) trip.add(100'000, 0, 1);
    trip.expect_absence(10'000);
    EXPECT_GT(trip.probe_after_ns(0, 0), 10'000'000u);
    EXPECT_EQ(trip.queueing_ns(), 0u);
    for (int i = 0; i < 100; ++i) trip.add(100'000, 0, 1);
    EXPECT_LT(trip.probe_after_ns(0, 0), 300'000u);
}

TEST(RoundTrip, LeavesOutWhatTheReceiverKeptBack) {
    RoundTrip trip;
    trip.add(300'000, 200'000, 1);
    EXPECT_EQ(trip.least_ns(), 100'000u);
    EXPECT_EQ(trip.queueing_ns(), 0u);
    trip.add(100'000, 200'000, 2);  // senseless: a delay longer than the round trip
    EXPECT_GE(trip.least_ns(), 1u);
}

TEST(RoundTrip, WaitsLongerForWhoKeepsBackLonger) {
    RoundTrip trip;
    trip.add(100'000, 0, 1);
    uint64_t usual_ns = trip.probe_after_ns(200'000, 0);
    trip.add(5'100'000, 5'000'000, 2);
    EXPECT_GE(trip.probe_after_ns(200'000, 0), 5'000'000u);
    for (int i = 0; i < 100; ++i) trip.add(100'000, 0, 3);
    EXPECT_LE(trip.probe_after_ns(200'000, 0), usual_ns) << "it was some time ago";
}

TEST(RoundTrip, ForgetsAnOldLeast) {
    RoundTrip trip;
    trip.add(100'000, 0, 1);
    uint64_t now_ns = 1;
    for (int i = 0; i < 30; ++i) trip.add(500'000, 0, now_ns += 1'000'000'000);
    EXPECT_EQ(trip.least_ns(), 500'000u);
}

TEST(RoundTrip, EndsWhereItsBitsEnd) {
    RoundTrip trip;
    for (int i = 0; i < 50; ++i) trip.add(60'000'000'000, 0, 1);
    EXPECT_LE(trip.smoothed_ns(), UINT32_MAX);
    EXPECT_GT(trip.smoothed_ns(), 3'000'000'000u);
}

}  // namespace
}  // namespace lanyard::dgram
