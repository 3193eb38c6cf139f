// Runs complete jobs that use links over simulated sockets. Connections are refused, are slow, deliver bytes
// in small portions, and are reset at any moment. Each message must arrive once, in order and unharmed.
#include <gtest/gtest.h>

#include <array>

#include "base/events.h"
#include "base/log.h"
#include "sim/job.h"
#include "sim/p2p_program.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

TcpLimits random_limits(Random &random) {
    TcpLimits limits;
    if (random.chance(50)) limits.max_eager = static_cast<size_t>(random.between(64, 30'000));
    if (random.chance(50)) limits.log_limit = static_cast<size_t>(random.between(1, 20'000));
    if (random.chance(50)) limits.answer_after = static_cast<size_t>(random.between(1, 5'000));
    if (random.chance(50)) limits.write_first_from = static_cast<size_t>(random.between(1, 5'000));
    if (random.chance(50)) limits.keep_from = static_cast<size_t>(random.between(1, 5'000));
    if (random.chance(50)) limits.copy_kept_up_to = static_cast<size_t>(random.between(0, 20'000));
    if (random.chance(30)) limits.most_open = static_cast<uint32_t>(random.between(1, 3));
    if (random.chance(30)) limits.hot_ns = 0;
    if (random.chance(30)) limits.look_every_ns = static_cast<uint64_t>(random.between(1, 20'000));
    if (random.chance(70)) limits.weigh_from = static_cast<uint64_t>(random.between(1, 20'000));
    limits.measure_ns = static_cast<uint64_t>(random.between(0, 1'000'000));
    return limits;
}

// Suppresses log messages while it exists, because warnings about damaged frames are expected.
struct Quiet {
    Quiet() { detail::log_level = -1; }
    ~Quiet() { detail::log_level = 0; }
};

// Counts the events that are reported to tools, over all simulated processes. The counters need no
// lock, because one process runs at a time.
struct Told {
    Told() {
        of = {};
        detail::event_taker = [](const EventRecord &record) { ++of[static_cast<size_t>(record.event)]; };
        detail::wanted_events = ~uint32_t{0};
    }
    ~Told() { detail::wanted_events = 0; }
    static uint64_t times(Event event) { return of[static_cast<size_t>(event)]; }
    static inline std::array<uint64_t, static_cast<size_t>(Event::count_of_them)> of;
};

// Sums over all runs.
struct Totals {
    uint64_t resets = 0, flips = 0, damaged = 0, measured = 0, moves = 0, retained = 0;
};

// Runs the case of this seed. With `checks`, frames have checksums and bits are flipped. Returns a number
// that depends on everything that happened, so that two runs can be compared.
uint64_t play(uint64_t seed, Totals &totals, bool checks = false) {
    Baton baton(seed);
    Random &random = baton.random();
    JobShape shape{.ranks = static_cast<uint32_t>(random.between(2, random.chance(20) ? 12 : 4)),
                   .settings = {}};
    if (random.chance(50)) shape.settings.eager_limit = random.between(0, 20'000);
    if (random.chance(50)) shape.settings.eager_credit = random.between(0, 30'000);
    if (random.chance(50)) shape.settings.first_bytes = random.between(0, 30'000);
    shape.over_sockets = SocketBehaviour::any(random);
    shape.limits = random_limits(random);
    shape.checks = checks;
    if (checks) {
        shape.over_sockets->flip_permille = 1 << random.below(6);
        // A long frame arrives in many portions. It would never arrive undamaged if there were no limit.
        shape.over_sockets->flips_left = static_cast<int>(random.between(1, 60));
    }
    Program program(random, shape.ranks, static_cast<int>(random.between(1, 200)));
    Told told;
    uint64_t broken = 0, rendezvous = 0, stored = 0;
    Job job(baton, {}, shape);
    job.each([&program, seed](Rank &rank) {
        Player(program, rank, seed).play();
        rank.finish();
    });
    baton.run();
    totals.resets += job.links->internet.resets();
    totals.flips += job.links->internet.flips();
    for (uint32_t own = 0; own < shape.ranks; ++own) {
        EXPECT_EQ(job.rank(own).messenger.unexpected().count(), 0u);
        EXPECT_EQ(job.rank(own).messenger.posted().count(), 0u);
        const Connector::Counts &counts = job.links->path(own).connector().counts();
        // a greeting with a flipped bit counts as that of a stranger
        EXPECT_TRUE(checks || counts.strangers == 0);
        EXPECT_LE(counts.moves, 8u * (shape.ranks - 1))
            << "of up to four addresses, measured twice, and back";
        totals.measured += counts.measured;
        totals.moves += counts.moves;
        totals.retained += job.rank(own).messenger.counts().retained;
        EXPECT_EQ(job.rank(own).messenger.retention().kept_bytes(), 0u);
        EXPECT_EQ(job.links->path(own).counts().garbled, 0u);
        broken += job.links->path(own).counts().broken;
        rendezvous += job.rank(own).messenger.counts().rendezvous;
        stored += job.rank(own).messenger.unexpected().added();
        totals.damaged += job.links->path(own).counts().damaged;
    }
    check_credit(job);
    EXPECT_EQ(told.times(Event::connection_broken), broken);
    EXPECT_EQ(told.times(Event::rendezvous), rendezvous);
    EXPECT_EQ(told.times(Event::unexpected_message), stored);
    EXPECT_EQ(told.times(Event::peer_lost), 0u);
    return baton.turns() ^ baton.now_ns() << 20;
}

TEST(Links, CarryRandomProgramsOverConnectionsThatBreak) {
    Totals totals;
    for_seeds(20, 30, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        play(seed, totals);
        return !::testing::Test::HasFailure();
    });
    if (::testing::Test::HasFailure()) return;
    EXPECT_GT(totals.resets, 20u);
    EXPECT_GT(totals.measured, 5u);
    EXPECT_GT(totals.moves, 0u);
    EXPECT_GT(totals.retained, 20u);
    EXPECT_EQ(totals.damaged, 0u);
}

TEST(Links, WithChecksCarryRandomProgramsThoughBitsAreFlipped) {
    Quiet quiet;
    Totals totals;
    for_seeds(20, 30, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        play(seed, totals, true);
        return !::testing::Test::HasFailure();
    });
    if (::testing::Test::HasFailure()) return;
    EXPECT_GT(totals.resets, 20u);
    EXPECT_GT(totals.damaged, 20u);
    EXPECT_GE(totals.flips, totals.damaged);
}

// Sends bulk from process 0 to process 1 directly through the paths, without src/p2p.
struct Stream {
    struct Drop final : Sink {
        void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override {}
        void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t size) override { bytes += size; }
        void sent(uint64_t) override { free = true; }
        void lost(uint32_t, Error) override { FAIL(); }
        uint64_t bytes = 0;
        bool free = true;
    };

    Stream(Baton &b, const SocketBehaviour &behaviour, const TcpLimits &limits)
        : baton(b), links(baton, behaviour, limits, 2), data(10'000) {}
    // Sends and polls until `bytes` more bytes have arrived.
    void flow(uint64_t bytes) {
        uint64_t end = sinks[1].bytes + bytes;
        for (int turn = 0; turn < 1'000'000 && sinks[1].bytes < end; ++turn) {
            if (sinks[0].free &&
                links.path(0).send_bulk(1, {}, {data.data(), data.size()}, 1) == Sent::pending)
                sinks[0].free = false;
            for (uint32_t own : {0u, 1u}) links.path(own).poll(sinks[own], 100, baton.now_ns());
        }
        EXPECT_GE(sinks[1].bytes, end);
    }

    Baton &baton;
    SimLinks links;
    Drop sinks[2];
    std::vector<std::byte> data;
};

TEST(Links, GoByTheAddressThatGivesMost) {
    for (uint32_t fastest : {0u, 1u, 2u}) {
        Baton baton(first_seed());
        TcpLimits limits;
        limits.weigh_from = 100'000;
        limits.measure_ns = 100'000;
        Stream stream(baton, {.preempt_percent = 0, .addresses = 3, .fastest = fastest}, limits);
        stream.flow(3'000'000);
        const Connector::Counts &counts = stream.links.path(0).connector().counts();
        EXPECT_EQ(stream.links.path(0).address_of(1).bytes[1], fastest);
        EXPECT_EQ(stream.links.path(1).address_of(0).bytes[1], fastest);
        EXPECT_EQ(counts.measured, 2u);
        uint64_t moves = counts.moves;
        EXPECT_LE(moves, 2u);
        stream.flow(10'000'000);
        EXPECT_EQ(counts.measured, 2u) << "once is enough";
        EXPECT_EQ(counts.moves, moves);
    }
}

TEST(Links, MeasureNothingWhereTheProgramIsWhatLimits) {
    Baton baton(first_seed());
    TcpLimits limits;
    limits.weigh_from = 100'000;
    Stream stream(baton, {.preempt_percent = 0, .addresses = 3, .fastest = 1, .held_back_percent = 100},
                  limits);
    stream.flow(5'000'000);
    EXPECT_EQ(stream.links.path(0).connector().counts().measured, 0u);
}

TEST(Links, MeasureNothingWhereThereAreNoConnectionsToSpare) {
    Baton baton(first_seed());
    TcpLimits limits;
    limits.weigh_from = 100'000;
    limits.most_open = 1;
    Stream stream(baton, {.preempt_percent = 0, .addresses = 3, .fastest = 1}, limits);
    stream.flow(5'000'000);
    EXPECT_EQ(stream.links.path(0).connector().counts().measured, 0u);
}

TEST(Links, RunTheSameWayForTheSameSeed) {
    Quiet quiet;
    Totals totals;
    for (uint64_t seed : {3u, 4u, 5u})
        for (bool checks : {false, true}) EXPECT_EQ(play(seed, totals, checks), play(seed, totals, checks));
}

}  // namespace
}  // namespace lanyard::sim
