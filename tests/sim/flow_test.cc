// Runs flows on the simulated network, in scenarios drawn from a seed. Two to eight processes send each other
// envelopes and bulk of all sizes. The network loses, duplicates, reorders and damages packets. Its queues
// overflow, and it is partitioned for a while. Every envelope must arrive exactly once and in order, and all
// bulk must arrive. Afterwards the flows must have returned all memory.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "sim/flow_world.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

size_t any_size(Random &random) {
    if (random.chance(60)) return random.below(64);
    if (random.chance(80)) return random.below(3000);
    return random.below(random.chance(80) ? 20'000 : 100'000);
}

dgram::FlowLimits any_limits(Random &random) {
    dgram::FlowLimits limits;
    if (random.chance(30)) limits.early_blocks = static_cast<uint32_t>(random.between(1, 20));
    if (random.chance(30)) limits.answer.packets = static_cast<uint32_t>(random.between(1, 30));
    if (random.chance(20)) limits.grants.queue = static_cast<uint32_t>(random.between(1, 100'000));
    if (random.chance(20)) {
        limits.congestion.first_window = static_cast<uint32_t>(random.below(5000));
        limits.congestion.first_packets = 0;
    }
    if (random.chance(20)) limits.first_number = (uint64_t{1} << random.between(31, 32)) - random.below(100);
    return limits;
}

// Sends at random times, cuts hosts off from each other and connects them again. Then waits until everything
// has been delivered.
void live(FlowWorld &world, uint32_t hosts, Random &random) {
    int acts = static_cast<int>(random.between(1, random.chance(20) ? 150 : 30));
    uint64_t pause_ns = uint64_t{1} << random.between(4, 22);
    for (int i = 0; i < acts; ++i) {
        auto from = static_cast<uint32_t>(random.below(hosts)),
             to = static_cast<uint32_t>(random.below(hosts - 1));
        to += to >= from;
        int what = static_cast<int>(random.below(100));
        if (what < 60) world.send(from, to, any_size(random));
        else if (what < 85)
            world.send_bulk(from, to, 1 + any_size(random) * static_cast<size_t>(random.between(1, 3)));
        else if (what < 89) world.network().cut(from, to);
        else if (what < 93) world.network().heal_all();
        if (random.chance(70) && !world.run_until(world.now_ns() + random.below(pause_ns))) return;
    }
    if (random.chance(30) && !world.run_until(world.now_ns() + random.below(20 * second_ns))) return;
    world.network().heal_all();
    world.run_until_idle(world.now_ns() + 50'000 * second_ns);
}

std::string scenario(uint64_t seed) {
    Random random(seed);
    auto hosts = static_cast<uint32_t>(random.chance(60) ? 2 : random.between(3, 8));
    FlowWorld world(random.next(), PacketBehaviour::any(random), hosts, any_limits(random));
    if (random.chance(30)) world.disturb(static_cast<int>(random.below(20)));
    world.copy_bulk(random.chance(50));
    live(world, hosts, random);
    return world.complaint().empty() ? "" : world.describe();
}

TEST(Flow, deliversAllInAnyScenario) {
    uint64_t scenarios = 0;
    for_seeds(200, 30, [&](uint64_t seed) {
        std::string complaint = scenario(seed);
        EXPECT_EQ(complaint, "") << "Repeat with LANYARD_TEST_SEED=" << seed;
        ++scenarios;
        return complaint.empty();
    });
    RecordProperty("scenarios", std::to_string(scenarios));
    std::printf("%llu scenarios\n", static_cast<unsigned long long>(scenarios));
}

// A partition that is shorter than the flows' peer timeout must not end a flow.
TEST(Flow, outlivesAPartitionOfThirtySeconds) {
    FlowWorld world(first_seed(), {}, 2, {});
    world.send_bulk(0, 1, 3'000'000);
    for (int i = 0; i < 100; ++i) world.send(0, 1, 1000);
    ASSERT_TRUE(world.run_until(5'000'000)) << world.describe();
    world.network().cut(0, 1);
    world.send(1, 0, 50);
    ASSERT_TRUE(world.run_until(30 * second_ns)) << world.describe();
    world.network().heal_all();
    ASSERT_TRUE(world.run_until_idle(30 * second_ns + second_ns)) << world.describe();
    EXPECT_EQ(world.conversation(0, 1).ended, 0);
}

TEST(Flow, tellsOnceOfAPeerThatIsSilent) {
    FlowWorld world(first_seed(), {}, 3, {});
    world.send_bulk(0, 1, 3'000'000);
    world.send(2, 0, 5);
    ASSERT_TRUE(world.run_until(5'000'000)) << world.describe();
    world.network().cut(0, 1);
    ASSERT_TRUE(world.run_until(59 * second_ns)) << world.describe();
    EXPECT_EQ(world.conversation(0, 1).ended, 0);
    ASSERT_TRUE(world.run_until(61 * second_ns)) << world.describe();
    EXPECT_EQ(world.conversation(0, 1).ended, 1);
    EXPECT_EQ(world.conversation(0, 1).how, dgram::FlowEnd::silent);
    EXPECT_FALSE(world.flow(0, 1).active());
    world.send(0, 1, 5);  // this message is discarded
    world.send(0, 2, 5);
    ASSERT_TRUE(world.run_until(300 * second_ns)) << world.describe();
    EXPECT_EQ(world.conversation(0, 1).ended, 1);
    EXPECT_EQ(world.conversation(0, 2).delivered, 1u);
}

// The cut network stands for a peer that computes and therefore sends nothing. The owner of the flow knows
// from another source that the peer lives.
TEST(Flow, waitsForAPeerThatIsSilentButLives) {
    FlowWorld world(first_seed(), {}, 2, {});
    world.know(dgram::PeerState::alive);
    world.send_bulk(0, 1, 3'000'000);
    ASSERT_TRUE(world.run_until(5'000'000)) << world.describe();
    world.network().cut(0, 1);
    world.send(0, 1, 1000);
    ASSERT_TRUE(world.run_until(600 * second_ns)) << world.describe();
    world.network().heal_all();
    ASSERT_TRUE(world.run_until_idle(601 * second_ns)) << world.describe();
    EXPECT_EQ(world.conversation(0, 1).ended, 0);
}

TEST(Flow, tellsOnceAndSoonerOfAPeerThatIsGone) {
    FlowWorld world(first_seed(), {}, 2, {});
    world.know(dgram::PeerState::gone);
    world.send_bulk(0, 1, 3'000'000);
    ASSERT_TRUE(world.run_until(5'000'000)) << world.describe();
    EXPECT_EQ(world.conversation(0, 1).ended, 0);
    world.network().cut(0, 1);
    ASSERT_TRUE(world.run_until(300 * second_ns)) << world.describe();
    EXPECT_EQ(world.conversation(0, 1).ended, 1);
    EXPECT_EQ(world.conversation(0, 1).how, dgram::FlowEnd::gone);
}

// The first link of a route carries long packets, but a later link drops them and reports nothing (a black
// hole). Within two seconds, bulk must reach 85 % of the link's rate. (All packets that arrive count as bulk,
// even acknowledgements.) This must be so if the black hole exists from the flow's first packet, and also if
// it begins while bulk is under way.
TEST(Flow, findsTheSizeThatABlackHoleLetsPass) {
    for (size_t carried : {600u, 1000u, 1400u})
        for (bool at_first : {true, false}) {
            PacketBehaviour behaviour;
            behaviour.bytes_per_s = 25'000'000;
            FlowWorld world(first_seed(), behaviour, 2, {});
            if (at_first) world.network().behaviour().hole = carried;
            for (int i = 0; i < 3; ++i) world.send_bulk(0, 1, 30'000'000);
            ASSERT_TRUE(world.run_until(100'000'000)) << world.describe();
            world.network().behaviour().hole = carried;
            ASSERT_TRUE(world.run_until(2 * second_ns)) << world.describe();
            EXPECT_LE(world.flow(0, 1).packet_size().usual(), carried);
            EXPECT_GE(world.flow(0, 1).packet_size().usual() + 17, carried) << world.describe();
            uint64_t before = world.network().counts().arrived;
            ASSERT_TRUE(world.run_until(3 * second_ns / 2 + second_ns)) << world.describe();
            uint64_t packets = world.network().counts().arrived - before;
            double share = static_cast<double>(packets) * static_cast<double>(carried + 66) / (0.5 * 25e6);
            EXPECT_GT(share, 0.85) << carried << " bytes, " << at_first << world.describe();
            EXPECT_EQ(world.complaint(), "");
        }
}

// The network loses so many packets and acknowledgements that the sender sometimes regards everything under
// way as lost. The sender must not mistake this for a black hole: at most 1 % of all packets may be sent
// while it limits itself to short packets.
TEST(Flow, takesManyLossesForNoBlackHole) {
    for (uint32_t percent : {10u, 20u, 30u})
        for (uint64_t seed = first_seed(); seed < first_seed() + 3; ++seed) {
            PacketBehaviour behaviour;
            behaviour.lost_ppm = percent * 10'000;
            behaviour.bytes_per_s = 1'000'000'000;
            FlowWorld world(seed, behaviour, 2, {});
            const dgram::PacketSize &size = world.flow(0, 1).packet_size();
            uint64_t short_ones = 0;
            for (int i = 0; i < 100; ++i) {
                world.send_bulk(0, 1, 80'000);
                world.send(0, 1, 100);
                for (int part = 0; part < 100; ++part) {
                    uint64_t before = world.network().counts().sent;
                    ASSERT_TRUE(world.run_until(world.now_ns() + 200'000)) << world.describe();
                    if (size.usual() + 16 < behaviour.largest)
                        short_ones += world.network().counts().sent - before;
                }
            }
            EXPECT_LE(short_ones * 100, world.network().counts().sent)
                << percent << " %, seed " << seed << ", now " << size.usual();
        }
}

// While bulk is under way, the endpoint learns of a smaller packet limit, as if a router had reported it.
TEST(Flow, keepsToWhatTheEndpointLearns) {
    FlowWorld world(first_seed(), {}, 2, {});
    world.send_bulk(0, 1, 3'000'000);
    ASSERT_TRUE(world.run_until(5'000'000)) << world.describe();
    world.network().behaviour().largest = 1000;
    world.flow(0, 1).set_largest(1000);
    ASSERT_TRUE(world.run_until_idle(second_ns)) << world.describe();
    EXPECT_LT(world.network().counts().too_long, 300u);
}

// Damaged packets must be noticed. The world compares every byte that is delivered (flow_world.h).
TEST(Flow, noticesEachDamagedPacketOfAThousand) {
    uint64_t sent = 0, damaged = 0;
    for_seeds(2, 10, [&](uint64_t seed) {
        PacketBehaviour behaviour;
        behaviour.damaged_ppm = 1000;
        FlowWorld world(seed, behaviour, 2, {});
        for (int i = 0; i < 500; ++i) world.send(0, 1, static_cast<size_t>(i * 7));
        for (int i = 0; i < 4; ++i) world.send_bulk(0, 1, 20'000'000);
        EXPECT_TRUE(world.run_until_idle(100 * second_ns))
            << world.describe() << "Repeat with LANYARD_TEST_SEED=" << seed;
        const PacketNetwork::Counts &counts = world.network().counts();
        EXPECT_LE(world.counts().damaged, counts.damaged);
        EXPECT_GE(world.counts().damaged + world.astray() + counts.overflowed, counts.damaged * 4 / 5)
            << "the others did not arrive";
        EXPECT_EQ(world.counts().malformed, 0u);
        sent += counts.sent;
        damaged += counts.damaged;
        return !testing::Test::HasFailure();
    });
    std::printf("%llu packets, %llu of them damaged\n", static_cast<unsigned long long>(sent),
                static_cast<unsigned long long>(damaged));
}

TEST(Flow, noticesEveryDamagedPacket) {
    PacketBehaviour behaviour;
    behaviour.damaged_ppm = 100'000;
    FlowWorld world(first_seed(), behaviour, 2, {});
    for (int i = 0; i < 2000; ++i) world.send(0, 1, static_cast<size_t>(i));
    ASSERT_TRUE(world.run_until_idle(100 * second_ns)) << world.describe();
    EXPECT_GT(world.network().counts().damaged, 100u);
    // receives what was still under way
    ASSERT_TRUE(world.run_until(world.now_ns() + second_ns)) << world.describe();
    EXPECT_EQ(world.counts().damaged + world.astray(), world.network().counts().damaged);
    EXPECT_EQ(
        world.counts().garbage + world.counts().strangers + world.counts().stale + world.counts().malformed,
        0u);
}

}  // namespace
}  // namespace lanyard::sim
