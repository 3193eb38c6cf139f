// Collectives and the making of communicators in whole jobs on the simulated network.
#include <gtest/gtest.h>

#include "base/abi_constants.h"
#include "comm/create.h"
#include "sim/collective_program.h"
#include "sim/job.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

// Some nodes with some ranks each, or all on one, or each alone.
uint32_t ranks_per_node(Random &random, uint32_t ranks) {
    return random.chance(40) ? 1 : random.chance(40) ? ranks : static_cast<uint32_t>(random.between(1, ranks));
}

void expect_nothing_left(Job &job) {
    for (uint32_t own = 0; own < job.shape.ranks; ++own) {
        EXPECT_EQ(job.rank(own).messenger.unexpected().count(), 0u);
        EXPECT_EQ(job.rank(own).messenger.posted().count(), 0u);
    }
    job.end();
    EXPECT_EQ(job.memory.in_use, 0) << "node memory is left";
}

void run_on_world(uint64_t seed, uint32_t ranks, int operations, int64_t most) {
    SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
    Baton baton(seed);
    Random &random = baton.random();
    Job job(baton, Behaviour::any(random), {.ranks = ranks, .ranks_per_node = ranks_per_node(random, ranks)});
    job.each([&](Rank &rank) {
        run_collectives(rank, rank.world().team, seed, operations, most);
        rank.finish();
    });
    baton.run();
    expect_nothing_left(job);
}

TEST(SimulatedCollectives, AreRightOnAnyNumberOfRanks) {
    for_seeds(3, 30, [](uint64_t seed) {
        Random random(seed);
        run_on_world(seed, static_cast<uint32_t>(random.between(2, random.chance(10) ? 20 : 8)), 30, random.chance(20) ? 3000 : 60);
        return !::testing::Test::HasFailure();
    });
}

TEST(SimulatedCollectives, AreRightOnSixtyFourRanks) {
    for (uint64_t seed : seeds(1)) run_on_world(seed, 64, 12, 8);
}

// Splits, duplicates and uses communicators at random, in step.
void use_communicators(Rank &rank, uint64_t seed) {
    Random random(seed);  // the same on all ranks
    std::vector<Comm *> made;
    // A rank that is in no part has nullptr in the list, so that the lists of all ranks stay alike.
    for (int turn = 0; turn < 8 && !::testing::Test::HasFatalFailure(); ++turn) {
        Comm *comm = nullptr;
        uint64_t step_seed = random.next();
        if (random.chance(50)) {
            int colors = static_cast<int>(random.between(1, 4)), sign = random.chance(50) ? 1 : -1;
            int color = rank.number() % colors == 3 ? abi::undefined : rank.number() % colors;
            Error error = split_comm(rank.world(), color, sign * rank.number(), comm);
            ASSERT_FALSE(error) << error.take().sentence;
            ASSERT_EQ(comm == nullptr, color == abi::undefined);
            for (int i = 0; comm && i < comm->size; ++i) ASSERT_EQ(static_cast<int>(comm->peers[i]) % colors, color);
        } else {
            Error error = duplicate_comm(rank.world(), nullptr, comm);
            ASSERT_FALSE(error) << error.take().sentence;
        }
        made.push_back(comm);
        size_t choice = random.below(made.size() + 1);
        Comm *used = choice == made.size() ? &rank.world() : made[choice];
        if (used) run_collectives(rank, used->team, step_seed, 3, 20);
        if (random.chance(30)) {
            size_t ended = random.below(made.size());
            if (made[ended]) {
                Error error = free_comm(made[ended]);
                ASSERT_FALSE(error) << error.take().sentence;
            }
            made.erase(made.begin() + static_cast<std::ptrdiff_t>(ended));
        }
    }
    for (Comm *&comm : made)
        if (comm) free_comm(comm).discard();
}

TEST(SimulatedCommunicators, AreMadeUsedAndFreed) {
    for_seeds(3, 25, [](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Baton baton(seed);
        Random &random = baton.random();
        auto ranks = static_cast<uint32_t>(random.between(2, 9));
        Job job(baton, Behaviour::any(random), {.ranks = ranks, .ranks_per_node = ranks_per_node(random, ranks)});
        job.each([&](Rank &rank) {
            use_communicators(rank, seed);
            rank.finish();
        });
        baton.run();
        expect_nothing_left(job);
        return !::testing::Test::HasFailure();
    });
}

}  // namespace
}  // namespace lanyard::sim
