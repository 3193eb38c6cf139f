// Runs complete jobs that use datagrams over simulated packets. Packets are lost, duplicated, damaged,
// reordered and dropped by full queues, and links between hosts fail. Each message must arrive once, in order
// and unharmed.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/valgrind.h"
#include "sim/collective_program.h"
#include "sim/job.h"
#include "sim/p2p_program.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

DgramLimits random_limits(Random &random) {
    DgramLimits limits;
    if (random.chance(50)) limits.max_eager = static_cast<size_t>(random.between(64, 30'000));
    if (random.chance(50)) limits.log_limit = static_cast<size_t>(random.between(1, 20'000));
    if (random.chance(50)) limits.most_bulk = static_cast<int>(random.between(1, 4));
    if (random.chance(30)) limits.flow.early_blocks = static_cast<uint32_t>(random.between(1, 4));
    if (random.chance(30)) limits.flow.first_number = static_cast<uint64_t>(random.between(1, 1'000'000));
    return limits;
}

// Sums over all runs.
struct Totals {
    uint64_t lost = 0, doubled = 0, damaged = 0, held_up = 0, overflowed = 0;
};

void expect_all_arrived(Job &job) {
    for (uint32_t own = 0; own < job.shape.ranks; ++own) {
        EXPECT_EQ(job.rank(own).messenger.unexpected().count(), 0u);
        EXPECT_EQ(job.rank(own).messenger.posted().count(), 0u);
        const dgram::FlowCounts &counts = job.datagrams->path(own).counts();
        EXPECT_EQ(counts.strangers, 0u);
        EXPECT_EQ(counts.malformed, 0u);
    }
}

// Runs the case of this seed. Returns a number that depends on everything that happened, so that
// two runs can be compared.
uint64_t play(uint64_t seed, Totals &totals) {
    Baton baton(seed);
    Random &random = baton.random();
    JobShape shape{.ranks = static_cast<uint32_t>(random.between(2, random.chance(20) ? 12 : 4)),
                   .settings = {}};
    if (random.chance(50)) shape.settings.eager_limit = random.between(0, 20'000);
    if (random.chance(50)) shape.settings.eager_credit = random.between(0, 30'000);
    if (random.chance(50)) shape.settings.first_bytes = random.between(0, 30'000);
    shape.over_packets = PacketBehaviour::any(random);
    shape.dgram_limits = random_limits(random);
    Program program(random, shape.ranks, static_cast<int>(random.between(1, 200)));
    Job job(baton, {}, shape);
    job.each([&program, seed](Rank &rank) {
        Player(program, rank, seed).play();
        rank.finish();
    });
    baton.run();
    expect_all_arrived(job);
    check_credit(job);
    const PacketNetwork::Counts &counts = job.datagrams->network.counts();
    totals.lost += counts.lost;
    totals.doubled += counts.doubled;
    totals.damaged += counts.damaged;
    totals.held_up += counts.held_up;
    totals.overflowed += counts.overflowed;
    return baton.turns() ^ baton.now_ns() << 20;
}

TEST(Datagrams, CarryRandomProgramsThroughAnyNetwork) {
    Totals totals;
    for_seeds(20, 30, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        play(seed, totals);
        return !::testing::Test::HasFailure();
    });
    if (::testing::Test::HasFailure()) return;
    EXPECT_GT(totals.lost, 20u);
    EXPECT_GT(totals.doubled, 20u);
    EXPECT_GT(totals.damaged, 20u);
    EXPECT_GT(totals.held_up, 20u);
    EXPECT_GT(totals.overflowed, 0u);
}

TEST(Datagrams, RunTheSameWayForTheSameSeed) {
    Totals totals;
    for (uint64_t seed : {3u, 4u}) EXPECT_EQ(play(seed, totals), play(seed, totals));
    EXPECT_NE(play(3, totals), play(4, totals));
}

TEST(Datagrams, CarryCollectivesOfTwoHundredAndFiftySixRanks) {
    if (under_valgrind()) GTEST_SKIP() << "takes more than a minute there";
    uint64_t seed = first_seed();
    SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
    Baton baton(seed);
    JobShape shape{.ranks = 256};
    shape.over_packets = {
        .lost_ppm = 10'000, .doubled_ppm = 10'000, .damaged_ppm = 1'000, .held_up_ppm = 10'000};
    Job job(baton, {}, shape);
    job.each([seed](Rank &rank) {
        run_collectives(rank, rank.world().team, seed, 20, 8);
        rank.finish();
    });
    baton.run();
    expect_all_arrived(job);
    EXPECT_GT(job.datagrams->network.counts().lost, 20u);
}

TEST(Datagrams, WaitForACableThatIsCutForThirtySeconds) {
    uint64_t seed = first_seed();
    SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
    Baton baton(seed);
    JobShape shape{.ranks = 4};
    shape.over_packets.emplace();
    Program program(baton.random(), shape.ranks, 300);
    Job job(baton, {}, shape);
    job.each([&program, seed](Rank &rank) {
        Player(program, rank, seed).play();
        rank.finish();
    });
    PacketNetwork &network = job.datagrams->network;
    auto cable = [&] {
        baton.sleep_until(500'000);
        for (uint32_t peer = 1; peer < shape.ranks; ++peer) network.cut(0, peer);
        baton.arm();
        baton.sleep_until(30 * second_ns);
        network.heal_all();
    };
    baton.add("cable", cable, [] { return std::string(); });
    baton.run();
    expect_all_arrived(job);
    EXPECT_GT(network.counts().cut_off, 0u);
    EXPECT_GT(baton.now_ns(), 30 * second_ns);
    EXPECT_LT(baton.now_ns(), 32 * second_ns);
}

}  // namespace
}  // namespace lanyard::sim
