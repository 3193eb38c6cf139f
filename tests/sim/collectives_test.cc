// Runs blocking collectives in complete jobs on the simulated network.
#include <gtest/gtest.h>

#include "base/abi_constants.h"
#include "coll/collectives.h"
#include "datatype/predefined.h"
#include "sim/collective_program.h"
#include "sim/job.h"
#include "sim/seeds.h"

// An allocation that fails must return a null pointer with sanitizers too.
extern "C" [[gnu::visibility("default")]] const char *__asan_default_options() {
    return "allocator_may_return_null=1";
}
extern "C" [[gnu::visibility("default")]] const char *__tsan_default_options() {
    return "allocator_may_return_null=1";
}

namespace lanyard::sim {
namespace {

void run_on_world(uint64_t seed, uint32_t ranks, int operations, int64_t most) {
    SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
    Baton baton(seed);
    Random &random = baton.random();
    uint32_t on_node = random_ranks_per_node(random, ranks);
    Job job(baton, Behaviour::any(random),
            {.ranks = ranks, .ranks_per_node = on_node, .direct_reads = random.between(0, 1) == 1});
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
        run_on_world(seed, static_cast<uint32_t>(random.between(2, random.chance(10) ? 20 : 8)), 30,
                     random.chance(20) ? 3000 : 60);
        return !::testing::Test::HasFailure();
    });
}

// Reads more bytes than one call of ExchangeRun::advance() copies. While bytes are left to copy, no rank
// may sleep, neither until a deadline nor for ever.
TEST(SimulatedCollectives, LongReadsGoOn) {
    Baton baton(1);
    Job job(baton, Behaviour::any(baton.random()), {.ranks = 3, .ranks_per_node = 3, .direct_reads = true});
    job.each([](Rank &rank) {
        constexpr int64_t length = 3 << 20;
        const Datatype &type = *predefined_datatype(abi::type_byte);
        std::vector<std::byte> own(length, static_cast<std::byte>(rank.number() + 1)), all(3 * length);
        {
            EngineGuard guard(rank.engine);
            uint64_t begin_ns = rank.idle.now_ns();
            Error error =
                blocking(rank.executor, rank.world().team, CollectiveKind::allgather, plan_allgather,
                         Buffer{own.data(), length, &type}, Even{all.data(), length, &type});
            EXPECT_FALSE(error);
            EXPECT_LT(rank.idle.now_ns() - begin_ns, 500'000'000u);
        }
        for (int64_t i = 0; i < 3 * length; ++i)
            if (all[static_cast<size_t>(i)] != static_cast<std::byte>(i / length + 1))
                return ADD_FAILURE() << "byte " << i;
        rank.finish();
    });
    baton.run();
}

// Rank 1 has no memory for its part of a broadcast. The root must not wait until rank 1 has read the data.
// More collectives follow than uses of the node area can be under way (most_uses_ahead).
TEST(SimulatedCollectives, ARankWithoutMemoryIsNotAwaited) {
    Baton baton(1);
    Job job(baton, Behaviour::any(baton.random()), {.ranks = 2, .ranks_per_node = 2, .direct_reads = true});
    job.each([](Rank &rank) {
        constexpr int64_t length = 1 << 20;
        std::vector<std::byte> data(length);
        {
            EngineGuard guard(rank.engine);
            Team &team = rank.world().team;
            Collective *collective = rank.executor.take();
            Schedule &schedule = collective->plan.schedule();
            bcast_exchange({{team.index, team.size}, 0, {Space::receive, 0, length, &packed_bytes()}},
                           schedule);
            if (rank.number() == 1) schedule.scratch_bytes(int64_t{1} << 60);
            collective->plan.describe({CollectiveKind::bcast, 0, 0, length}, nullptr, data.data());
            rank.executor.start(*collective, team);
            Error error = rank.executor.finish(collective);
            EXPECT_EQ(error.code(), rank.number() == 1 ? static_cast<int>(ErrorClass::no_mem) : 0);
            error.discard();
        }
        run_collectives(rank, rank.world().team, 1, 200, 3);
        rank.finish();
    });
    baton.run();
    expect_nothing_left(job);
}

// The numbers of persistent operations wrap around. The number of an operation that still exists
// must not be used again.
TEST(SimulatedCollectives, PersistentNumbersAreNotTakenTwice) {
    Baton baton(1);
    Job job(baton, Behaviour::any(baton.random()), {.ranks = 2});
    job.each([](Rank &rank) {
        Team &team = rank.world().team;
        {
            EngineGuard guard(rank.engine);
            Collective *kept = rank.executor.take(), *later = rank.executor.take();
            EXPECT_FALSE(plan_persistent(rank.executor, team, *kept, plan_barrier));
            team.persistent += (1u << collective_number_bits) - 1;
            Error error = plan_persistent(rank.executor, team, *later, plan_barrier);
            EXPECT_NE(error.sentence().find("524288 persistent operations"), std::string::npos);
            error.discard();
            rank.executor.give_back(later);
            rank.executor.give_back(kept);
            team.persistent += (1u << collective_number_bits) - 1;
            Collective *again = rank.executor.take();
            EXPECT_FALSE(plan_persistent(rank.executor, team, *again, plan_barrier));
            rank.executor.give_back(again);
        }
        rank.finish();
    });
    baton.run();
}

// Returns a setting that names, for each collective, a random one of the algorithms that are
// possible for this crew, whatever its cost.
std::string any_algorithms(Random &random, const Crew &crew) {
    std::vector<SelectionRow> rows;
    EXPECT_FALSE(describe_selection(Selection(), "", crew, 0, rows));
    std::string text, last;
    for (const SelectionRow &row : rows) {
        if (row.operation == last) continue;
        last = row.operation;
        text += (text.empty() ? "" : ",") + row.operation + "=" +
                row.estimates[random.below(row.estimates.size())].algorithm;
    }
    return text;
}

TEST(SimulatedCollectives, AreRightByAnyAlgorithmOnScatteredNodes) {
    for_seeds(2, 20, [](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Baton baton(seed);
        Random &random = baton.random();
        auto ranks = static_cast<uint32_t>(random.between(3, 12)),
             nodes = static_cast<uint32_t>(random.between(2, 4));
        std::vector<uint32_t> node_of_rank{0, 1};  // ensures that not all ranks are on one node
        while (node_of_rank.size() < ranks)
            node_of_rank.push_back(static_cast<uint32_t>(random.below(nodes)));
        Job job(baton, Behaviour::any(random), {.ranks = ranks, .node_of_rank = node_of_rank});
        Crew crew(static_cast<int>(ranks), 2);  // used only to decide which algorithms are possible
        std::string wanted = any_algorithms(random, crew);
        SCOPED_TRACE(wanted);
        job.each([&](Rank &rank) {
            if (Error error = parse_selection(wanted, rank.executor.selection()))
                ADD_FAILURE() << error.take().sentence;
            run_collectives(rank, rank.world().team, seed, 30, 60);
            rank.finish();
        });
        baton.run();
        expect_nothing_left(job);
        return !::testing::Test::HasFailure();
    });
}

TEST(SimulatedCollectives, AreRightOnSixtyFourRanks) {
    for (uint64_t seed : seeds(1)) run_on_world(seed, 64, 12, 8);
}

}  // namespace
}  // namespace lanyard::sim
