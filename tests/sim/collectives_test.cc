// Blocking collectives in whole jobs on the simulated network.
#include <gtest/gtest.h>

#include "sim/collective_program.h"
#include "sim/job.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

void run_on_world(uint64_t seed, uint32_t ranks, int operations, int64_t most) {
    SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
    Baton baton(seed);
    Random &random = baton.random();
    Job job(baton, Behaviour::any(random), {.ranks = ranks, .ranks_per_node = random_ranks_per_node(random, ranks)});
    job.each([&](Rank &rank) {
        run_collectives(rank, rank.world().team, seed, operations, most);
        rank.finish();
    });
    baton.run();
    expect_nothing_left(job);
}

TEST(SimulatedCollectives, AreRightOnAnyNumberOfRanks) {
    for_seeds(3, 20, [](uint64_t seed) {
        Random random(seed);
        run_on_world(seed, static_cast<uint32_t>(random.between(2, random.chance(10) ? 20 : 8)), 30, random.chance(20) ? 3000 : 60);
        return !::testing::Test::HasFailure();
    });
}

TEST(SimulatedCollectives, AreRightOnSixtyFourRanks) {
    for (uint64_t seed : seeds(1)) run_on_world(seed, 64, 12, 8);
}

}  // namespace
}  // namespace lanyard::sim
