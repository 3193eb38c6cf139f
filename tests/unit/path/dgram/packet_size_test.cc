// Tests that the largest packet that a route carries is found with few losses, even if packets are also lost
// at random.
#include "path/dgram/packet_size.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard::dgram {
namespace {

// Sends packets of the greatest allowed length over a route that carries `carried` bytes, and a short packet
// now and then. Returns the number of lost packets.
int send_until_settled(PacketSize &size, size_t carried, uint64_t &now_ns, int most = 200) {
    int lost = 0;
    for (int i = 0; i < most; ++i, now_ns += 1'000'000) {
        size_t bytes = i % 3 == 2 ? least_packet : size.next(0, now_ns);
        size.sent(bytes);
        if (bytes <= carried) {
            size.received(bytes);
        } else {
            size.lost(bytes, now_ns);
            ++lost;
        }
    }
    return lost;
}

TEST(PacketSize, isTheEndpointsWhileAllComes) {
    PacketSize size(1472);
    uint64_t now_ns = 0;
    EXPECT_EQ(send_until_settled(size, 1472, now_ns), 0);
    EXPECT_EQ(size.usual(), 1472u);
    size.set_limit(1400);
    EXPECT_EQ(size.usual(), 1400u);
    size.set_limit(8972);
    EXPECT_EQ(size.usual(), 8972u);
}

TEST(PacketSize, staysWithinTheLimitWhenALongerPacketComesLate) {
    PacketSize size(1472);
    size.sent(1472);
    size.set_limit(1400);
    size.received(1472);
    EXPECT_EQ(size.usual(), 1400u);
    EXPECT_EQ(size.next(0, 0), 1400u);
    size.set_limit(1400);
    EXPECT_EQ(size.usual(), 1400u);
    size.set_limit(8972);
    EXPECT_EQ(size.usual(), 8972u);
}

TEST(PacketSize, findsWhatAWayCarriesThatSwallowsLongPackets) {
    for (size_t carried : {513u, 700u, 1000u, 1200u, 1400u, 1471u}) {
        PacketSize size(1472);
        uint64_t now_ns = 0;
        int lost = send_until_settled(size, carried, now_ns);
        EXPECT_LE(size.usual(), carried);
        EXPECT_GE(size.usual() + 17, carried);
        EXPECT_LT(lost, 30) << carried;
    }
}

TEST(PacketSize, findsItAmongJumboFramesToo) {
    PacketSize size(8972);
    uint64_t now_ns = 0;
    send_until_settled(size, 1472, now_ns);
    EXPECT_LE(size.usual(), 1472u);
    EXPECT_GE(size.usual() + 17, 1472u);
}

TEST(PacketSize, triesAgainAfterAWhile) {
    PacketSize size(1472);
    uint64_t now_ns = 0;
    send_until_settled(size, 1000, now_ns);
    int lost = send_until_settled(size, 1472, now_ns);
    EXPECT_LE(size.usual(), 1000u);
    EXPECT_EQ(lost, 0);
    now_ns += 31 * second_ns;
    lost = send_until_settled(size, 1472, now_ns);
    EXPECT_EQ(size.usual(), 1472u);
    EXPECT_EQ(lost, 0);
}

TEST(PacketSize, losesLittleByTryingAgain) {
    PacketSize size(1472);
    uint64_t now_ns = 0;
    send_until_settled(size, 1000, now_ns);
    int lost = send_until_settled(size, 1000, now_ns, 300'000);  // five minutes
    EXPECT_GT(lost, 0);
    EXPECT_LT(lost, 300);
    EXPECT_GE(size.usual(), 983u);
}

TEST(PacketSize, isNotDisturbedByAWayThatCarriesNothing) {
    PacketSize size(1472);
    for (int i = 0; i < 1000; ++i) size.lost(i % 2 ? 1472 : 512, 0);
    EXPECT_EQ(size.usual(), 1472u);
    EXPECT_EQ(size.next(3, 0), least_packet) << "so that short ones exist";
}

TEST(PacketSize, isNotMistakenWhereOneOfTwentyIsLostAtRandom) {
    sim::for_seeds(20, 2, [](uint64_t seed) {
        sim::Random random(seed);
        PacketSize size(1472);
        for (int i = 0; i < 10'000; ++i) {
            size_t bytes = random.chance(30) ? random.between(100, 1472) : size.next(0, 0);
            size.sent(bytes);
            if (random.chance(5)) size.lost(bytes, 0);
            else size.received(bytes);
        }
        EXPECT_EQ(size.usual(), 1472u) << "Repeat with LANYARD_TEST_SEED=" << seed;
        return !testing::Test::HasFailure();
    });
}

TEST(PacketSize, fallsAndIsProvenWrongByTheFirstLongOneThatComes) {
    PacketSize size(1472);
    for (int i = 0; i < 6; ++i) size.lost(1472, 0);
    EXPECT_EQ(size.usual(), 1472u) << "no short one has arrived";
    size.received(600);
    size.received(500);
    size.lost(1472, 0);
    EXPECT_EQ(size.usual(), 600u);
    EXPECT_EQ(size.next(0, 0), 1472u);
    size.sent(1472);
    EXPECT_EQ(size.next(0, 0), 600u) << "one at a time";
    size.received(1472);
    EXPECT_EQ(size.usual(), 1472u);
}

TEST(PacketSize, believesALongerRunToBeChanceWhereManyAreLost) {
    PacketSize size(1472);
    for (int i = 0; i < 60; ++i) i % 3 ? size.received(1472) : size.lost(1472, 0);
    for (int i = 0; i < 8; ++i) {
        size.lost(1472, 0);
        size.received(100);
    }
    EXPECT_EQ(size.usual(), 1472u);
    for (int i = 0; i < 31 - 8; ++i) size.lost(1472, 0);
    EXPECT_EQ(size.usual(), 512u);
}

TEST(PacketSize, isSeldomShortWhereManyAreLostAtRandom) {
    for (int percent : {5, 10, 20, 30})
        sim::for_seeds(50, 1, [&](uint64_t seed) {
            constexpr int packets = 20'000;
            sim::Random random(seed);
            PacketSize size(1472);
            int short_ones = 0;
            for (int i = 0; i < packets; ++i) {
                uint64_t now_ns = static_cast<uint64_t>(i) * 100'000;
                size_t bytes = random.chance(30) ? random.between(100, 1472) : size.next(0, now_ns);
                size.sent(bytes);
                if (random.chance(percent)) size.lost(bytes, now_ns);
                else size.received(bytes);
                short_ones += size.usual() + 16 < 1472;
            }
            EXPECT_LE(short_ones, packets / 200) << percent << " %; repeat with LANYARD_TEST_SEED=" << seed;
            return !testing::Test::HasFailure();
        });
}

}  // namespace
}  // namespace lanyard::dgram
