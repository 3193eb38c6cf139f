// Links over simulated sockets: whole jobs while connections are refused, slow, cut in portions and reset at any moment. Each
// message must come once, in order and unharmed.
#include <gtest/gtest.h>

#include "base/log.h"
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

// Warnings of damaged frames are expected.
struct Quiet {
    Quiet() { detail::log_level = -1; }
    ~Quiet() { detail::log_level = 0; }
};

// In all.
struct Troubles {
    uint64_t resets = 0, flips = 0, damaged = 0;
};

// What happened, to be compared. With `checks` bits are flipped too.
uint64_t play(uint64_t seed, Troubles &troubles, bool checks = false) {
    Baton baton(seed);
    Random &random = baton.random();
    JobShape shape{.ranks = static_cast<uint32_t>(random.between(2, random.chance(20) ? 12 : 4)), .settings = {}};
    if (random.chance(50)) shape.settings.eager_limit = random.between(0, 20'000);
    if (random.chance(50)) shape.settings.eager_credit = random.between(0, 30'000);
    if (random.chance(50)) shape.settings.first_bytes = random.between(0, 30'000);
    shape.over_sockets = SocketBehaviour::any(random);
    shape.limits = random_limits(random);
    shape.checks = checks;
    if (checks) {
        shape.over_sockets->flip_permille = 1 << random.below(6);
        shape.over_sockets->flips_left = static_cast<int>(random.between(1, 60));  // a frame of many portions would never come whole
    }
    Program program(random, shape.ranks, static_cast<int>(random.between(1, 200)));
    Job job(baton, {}, shape);
    job.each([&program, seed](Rank &rank) {
        Player(program, rank, seed).play();
        rank.finish();
    });
    baton.run();
    troubles.resets += job.links->internet.resets();
    troubles.flips += job.links->internet.flips();
    for (uint32_t own = 0; own < shape.ranks; ++own) {
        EXPECT_EQ(job.rank(own).messenger.unexpected().count(), 0u);
        EXPECT_EQ(job.rank(own).messenger.posted().count(), 0u);
        EXPECT_EQ(job.links->path(own).counts().garbled, 0u);
        troubles.damaged += job.links->path(own).counts().damaged;
        uint64_t strangers = job.links->path(own).connector().counts().strangers;
        EXPECT_TRUE(checks || strangers == 0);  // a greeting with a flipped bit is a stranger's
    }
    return baton.turns() ^ baton.now_ns() << 20;
}

TEST(Links, CarryRandomProgramsOverConnectionsThatBreak) {
    Troubles troubles;
    for_seeds(20, 30, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        play(seed, troubles);
        return !::testing::Test::HasFailure();
    });
    if (::testing::Test::HasFailure()) return;
    EXPECT_GT(troubles.resets, 20u);
    EXPECT_EQ(troubles.damaged, 0u);
}

TEST(Links, WithChecksCarryRandomProgramsThoughBitsAreFlipped) {
    Quiet quiet;
    Troubles troubles;
    for_seeds(20, 30, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        play(seed, troubles, true);
        return !::testing::Test::HasFailure();
    });
    if (::testing::Test::HasFailure()) return;
    EXPECT_GT(troubles.resets, 20u);
    EXPECT_GT(troubles.damaged, 20u);
    EXPECT_GE(troubles.flips, troubles.damaged);
}

TEST(Links, RunTheSameWayForTheSameSeed) {
    Quiet quiet;
    Troubles troubles;
    for (uint64_t seed : {3u, 4u, 5u})
        for (bool checks : {false, true}) EXPECT_EQ(play(seed, troubles, checks), play(seed, troubles, checks));
}

}  // namespace
}  // namespace lanyard::sim
