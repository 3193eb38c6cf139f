// Runs random point-to-point programs in complete jobs on the simulated network. Also tests the simulation
// itself.
#include <gtest/gtest.h>

#include "sim/job.h"
#include "sim/p2p_program.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

Settings random_settings(Random &random) {
    Settings settings;
    if (random.chance(50)) settings.eager_limit = random.between(0, 20'000);
    if (random.chance(50)) settings.eager_credit = random.between(0, 30'000);
    settings.write_protocol = random.chance(50) ? "on" : random.chance(50) ? "auto" : "off";
    return settings;
}

void add_program(Job &job, const Program &program, uint64_t seed) {
    job.each([&program, seed](Rank &rank) {
        Player(program, rank, seed).play();
        rank.finish();
    });
}

uint64_t play(uint64_t seed) {
    Baton baton(seed);
    Random &random = baton.random();
    JobShape shape{.ranks = static_cast<uint32_t>(random.between(1, random.chance(20) ? 20 : 5)),
                   .settings = random_settings(random)};
    Program program(random, shape.ranks, static_cast<int>(random.between(1, 200)));
    Job job(baton, Behaviour::any(random), shape);
    add_program(job, program, seed);
    baton.run();
    for (uint32_t own = 0; own < shape.ranks; ++own) {
        EXPECT_EQ(job.rank(own).messenger.unexpected().count(), 0u);
        EXPECT_EQ(job.rank(own).messenger.posted().count(), 0u);
        EXPECT_EQ(job.rank(own).messenger.unexpected().payload_bytes(), 0u);
    }
    check_credit(job);
    return baton.turns() ^ baton.now_ns() << 20;
}

TEST(SimulatedJobs, RunRandomPrograms) {
    for_seeds(3, 30, [](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        play(seed);
        return !::testing::Test::HasFailure();
    });
}

TEST(SimulatedJobs, RunTheSameWayForTheSameSeed) {
    for (uint64_t seed : {3u, 4u, 5u}) EXPECT_EQ(play(seed), play(seed));
    EXPECT_NE(play(3), play(4));
}

TEST(SimulatedJobs, LiveSideBySide) {
    for (uint64_t seed : seeds(3)) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Baton baton(seed);
        Random &random = baton.random();
        Program first_program(random, 3, 200), second_program(random, 5, 200);
        Job first(baton, Behaviour::any(random), {.ranks = 3}, "first job, rank");
        Job second(baton, Behaviour::any(random), {.ranks = 5}, "second job, rank");
        add_program(first, first_program, seed);
        add_program(second, second_program, seed);
        baton.run();
    }
}

struct Reported final : Sink {
    void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override { ++frames; }
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override { ++frames; }
    void sent(uint64_t) override { ++ended; }
    void lost(uint32_t, Error reason) override {
        reason.discard();
        ++losses;
    }

    int frames = 0, ended = 0, losses = 0;
};

// One process ends while bulk in both directions is pending. It is polled nevertheless.
TEST(SimulatedNetwork, DropsWhatAProcessThatEndsHasPending) {
    Baton baton(first_seed());
    Behaviour behaviour;
    behaviour.pending_percent = 100;
    behaviour.stall_percent = behaviour.preempt_percent = 0;
    SimNetwork network(baton, behaviour, 2);
    std::byte bytes[10] = {};
    Payload payload{bytes, sizeof bytes};
    for (uint64_t token = 0; token < 5; ++token)
        EXPECT_EQ(network.path(0).send_bulk(1, {1, 0}, payload, token), Sent::pending);
    EXPECT_EQ(network.path(0).send(1, Envelope{}, payload), Sent::done);
    EXPECT_EQ(network.path(1).send_bulk(0, {1, 0}, payload, 0), Sent::pending);
    EXPECT_EQ(network.in_flight(), 7u);
    network.kill(0);
    EXPECT_EQ(network.in_flight(), 1u) << "dropped when it would depart";
    Reported reported[2];
    for (int turn = 0; turn < 1000; ++turn) {
        for (uint32_t peer : {0u, 1u}) network.path(peer).poll(reported[peer], 64, 0);
        EXPECT_EQ(network.path(0).send(1, Envelope{}, payload), Sent::done);
    }
    EXPECT_EQ(network.in_flight(), 0u);
    EXPECT_EQ(reported[0].ended, 5) << "the program may use its buffers again";
    EXPECT_EQ(reported[1].ended, 1);
    EXPECT_EQ(reported[1].losses, 1);
    EXPECT_EQ(reported[0].frames + reported[1].frames, 0);
}

TEST(SimulatedJobsDeathTest, SayWhatEachRankWaitsForInADeadlock) {
    auto deadlock = [] {
        Baton baton(1);
        Job job(baton, {}, {.ranks = 2});
        job.each([](Rank &rank) {
            ReceiveOperation receive;
            static_cast<MatchKey &>(receive) = {1000, 1 - rank.number(), 77};
            std::byte byte;
            receive.buffer = {&byte, 0, &packed_bytes()};
            EngineGuard guard(rank.engine);
            rank.messenger.receive(receive);
            rank.engine.wait_owned(receive.completion);
        });
        baton.run();
    };
    EXPECT_EXIT(deadlock(), ::testing::ExitedWithCode(1),
                "rank 1 sleeps:  receive.context 1000, rank 0, tag 77");
}

}  // namespace
}  // namespace lanyard::sim
