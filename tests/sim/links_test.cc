// Links over simulated sockets: whole jobs while connections are refused, slow, cut in portions and reset at any moment. Each
// message must come once, in order and unharmed.
#include <gtest/gtest.h>

#include "sim/job.h"
#include "sim/p2p_program.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

LinkLimits random_limits(Random &random) {
    LinkLimits limits;
    if (random.chance(50)) limits.max_eager = static_cast<size_t>(random.between(64, 30'000));
    if (random.chance(50)) limits.log_limit = static_cast<size_t>(random.between(1, 20'000));
    if (random.chance(50)) limits.answer_after = static_cast<size_t>(random.between(1, 5'000));
    if (random.chance(50)) limits.write_first_from = static_cast<size_t>(random.between(1, 5'000));
    if (random.chance(50)) limits.keep_from = static_cast<size_t>(random.between(1, 5'000));
    if (random.chance(50)) limits.copy_kept_up_to = static_cast<size_t>(random.between(0, 20'000));
    if (random.chance(30)) limits.most_open = static_cast<uint32_t>(random.between(1, 3));
    if (random.chance(30)) limits.hot_ns = 0;
    if (random.chance(30)) limits.look_every_ns = static_cast<uint64_t>(random.between(1, 20'000));
    return limits;
}

// What happened, to be compared; the resets in all are added up.
uint64_t play(uint64_t seed, uint64_t &resets) {
    Baton baton(seed);
    Random &random = baton.random();
    JobShape shape{.ranks = static_cast<uint32_t>(random.between(2, random.chance(20) ? 12 : 4)), .settings = {}};
    if (random.chance(50)) shape.settings.eager_limit = random.between(0, 20'000);
    if (random.chance(50)) shape.settings.eager_credit = random.between(0, 30'000);
    if (random.chance(50)) shape.settings.first_bytes = random.between(0, 30'000);
    shape.over_sockets = SocketBehaviour::any(random);
    shape.limits = random_limits(random);
    Program program(random, shape.ranks, static_cast<int>(random.between(1, 200)));
    Job job(baton, {}, shape);
    job.each([&program, seed](Rank &rank) {
        Player(program, rank, seed).play();
        rank.finish();
    });
    baton.run();
    resets += job.links->internet.resets();
    for (uint32_t own = 0; own < shape.ranks; ++own) {
        EXPECT_EQ(job.rank(own).messenger.unexpected().count(), 0u);
        EXPECT_EQ(job.rank(own).messenger.posted().count(), 0u);
        EXPECT_EQ(job.links->path(own).connector().counts().strangers, 0u);
        EXPECT_EQ(job.links->path(own).counts().garbled, 0u);
    }
    return baton.turns() ^ baton.now_ns() << 20;
}

TEST(Links, CarryRandomProgramsOverConnectionsThatBreak) {
    uint64_t resets = 0;
    for_seeds(20, 30, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        play(seed, resets);
        return !::testing::Test::HasFailure();
    });
    if (::testing::Test::HasFailure()) return;
    EXPECT_GT(resets, 20u);
}

TEST(Links, RunTheSameWayForTheSameSeed) {
    uint64_t resets = 0;
    for (uint64_t seed : {3u, 4u, 5u}) EXPECT_EQ(play(seed, resets), play(seed, resets));
}

}  // namespace
}  // namespace lanyard::sim
