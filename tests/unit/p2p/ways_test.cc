#include "p2p/ways.h"

#include <gtest/gtest.h>

#include <tuple>

#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

using Way = Ways::Way;
using Kind = Ways::Kind;

// One long message at a time, of a machine with these rates.
class Machine {
public:
    Machine(uint64_t once, uint64_t twice, uint64_t streamed = 1) : bytes_per_us_{twice, streamed, once} {}

    Way move(uint64_t bytes, Kind kind = Kind::contiguous, uint64_t delay_ns = 0) {
        bool watched = false;
        Way way = ways.begin(kind, bytes, now_ns, watched);
        now_ns += bytes * 1000 / bytes_per_us_[static_cast<int>(way)] + delay_ns;
        if (watched) ways.end(now_ns);
        was_watched = watched;
        return way;
    }

    Ways ways;
    uint64_t now_ns = 1000;
    bool was_watched = false;

private:
    uint64_t bytes_per_us_[Ways::ways];
};

TEST(Ways, SizesDouble) {
    EXPECT_EQ(Ways::size_of(0), 0);
    EXPECT_EQ(Ways::size_of(16 * 1024), 0);
    EXPECT_EQ(Ways::size_of(32 * 1024 - 1), 0);
    EXPECT_EQ(Ways::size_of(32 * 1024), 1);
    EXPECT_EQ(Ways::size_of(8 << 20), 9);
    EXPECT_EQ(Ways::size_of(uint64_t{5} << 30), 9);
    EXPECT_EQ(Ways::size_of(UINT64_MAX), 9);
}

TEST(Ways, TakesTheFasterOneAfterAFewTrials) {
    for (auto [once, twice] : {std::pair{10'000, 20'000}, {20'000, 10'000}, {100, 101}, {1, 50'000}})
        for (uint64_t bytes : {uint64_t{20'000}, uint64_t{100'000}, uint64_t{1} << 20, uint64_t{1} << 30}) {
            Machine machine(static_cast<uint64_t>(once), static_cast<uint64_t>(twice));
            for (int i = 0; i < Ways::ways * (Ways::trials + 1); ++i) machine.move(bytes);
            for (int i = 0; i < 100; ++i) EXPECT_EQ(machine.move(bytes), once > twice ? Way::directly : Way::twice);
            EXPECT_FALSE(machine.was_watched);
        }
}

TEST(Ways, StreamsLongMessagesToContiguousBuffers) {
    Machine machine(20'000, 18'000, 30'000);
    for (uint64_t bytes : {Ways::least_streamed_bytes - 1, Ways::least_streamed_bytes, uint64_t{1} << 30})
        for (Kind kind : {Kind::contiguous, Kind::in_runs, Kind::mapped}) {
            for (int i = 0; i < 20; ++i) machine.move(bytes, kind);
            EXPECT_EQ(machine.move(bytes, kind), kind == Kind::contiguous && bytes >= Ways::least_streamed_bytes ? Way::streamed : Way::directly);
        }
}

TEST(Ways, LearnsEachKindAndSizeByItself) {
    Machine slow_twice(20'000, 10'000), slow_once(10'000, 20'000);
    for (int i = 0; i < 50; ++i) slow_twice.move(20'000);
    EXPECT_TRUE(slow_twice.ways.seen(Kind::contiguous, 0).learned(Ways::choice(Kind::contiguous, 20'000)));
    for (Kind kind : {Kind::contiguous, Kind::in_runs, Kind::mapped})
        for (int size = 0; size < Ways::sizes; ++size)
            EXPECT_EQ(slow_twice.ways.seen(kind, size).rate[0].no_better > 0, kind == Kind::contiguous && size == 0);
}

TEST(Ways, GoesOnTryingWhileItGetsBetter) {
    Machine machine(10'000, 10'000);
    for (int i = 0; i < 12; ++i) machine.move(1 << 20, Kind::contiguous, 2'000'000 >> i);
    EXPECT_TRUE(machine.was_watched);
    for (int i = 0; i < 20; ++i) machine.move(1 << 20);
    EXPECT_FALSE(machine.was_watched);
    EXPECT_GT(machine.ways.seen(Kind::contiguous, 6).rate[0].bytes_per_us, 9'000u);
}

// Alone or in windows, trials are the same small part of all.
TEST(Ways, TriesAnewAfterManyMessages) {
    for (int window : {1, 64}) {
        Ways ways;
        uint64_t now_ns = 1000;
        constexpr int stretches = 4000;
        int watched = 0;
        for (int stretch = 0; stretch < stretches; ++stretch) {
            int these = 0;
            for (int i = 0; i < window; ++i) {
                bool is_watched = false;
                ways.begin(Kind::contiguous, 1 << 20, now_ns, is_watched);
                these += is_watched;
            }
            now_ns += 1'000'000;
            for (int i = 0; i < these; ++i) ways.end(now_ns);
            watched += these > 0;
        }
        constexpr int usual = stretches / static_cast<int>(Ways::tried_anew_after);
        EXPECT_GE(watched, usual / 2) << window;
        EXPECT_LE(watched, usual * 2) << window;
    }
}

// Windows whose messages wait for each other are one observation, and what is not alike is none.
TEST(Ways, WatchesStretchesOfMessagesThatAreAlike) {
    Ways ways;
    uint64_t now_ns = 1000;
    auto stretch = [&](int messages, uint64_t bytes, uint64_t other_bytes, uint64_t lasts_ns) {
        bool watched = false;
        Way way = ways.begin(Kind::contiguous, bytes, now_ns, watched);
        EXPECT_TRUE(watched);
        for (int i = 1; i < messages; ++i) {
            EXPECT_EQ(ways.begin(Kind::contiguous, other_bytes, now_ns + 10, watched), way);
            EXPECT_TRUE(watched);
        }
        now_ns += lasts_ns;
        for (int i = 0; i < messages; ++i) ways.end(now_ns);
        return way;
    };
    Way way = stretch(64, 1 << 20, 1 << 20, 1'000'000);
    EXPECT_EQ(ways.seen(Kind::contiguous, 6).rate[static_cast<int>(way)].bytes_per_us, (uint64_t{64} << 20) / 1000);
    way = stretch(2, 1 << 16, 1 << 15, 1'000);
    for (int size : {1, 2})
        for (const auto &seen : ways.seen(Kind::contiguous, size).rate) EXPECT_EQ(seen.bytes_per_us, 0u);
    bool watched = false;
    way = ways.begin(Kind::contiguous, 1 << 18, now_ns, watched);
    ways.diverted();
    ways.end(now_ns + 1'000);
    EXPECT_EQ(ways.seen(Kind::contiguous, 4).rate[static_cast<int>(way)].bytes_per_us, 0u);
    stretch(1, 1 << 18, 0, 1'000);
    EXPECT_GT(ways.seen(Kind::contiguous, 4).rate[static_cast<int>(way)].bytes_per_us, 0u);
}

// In every window the sender is away for one message, which then goes directly.
TEST(Ways, EndsTrialsOfASlowWayThoughSomeMessagesAreDiverted) {
    for (auto [direct_ns, diverted_ns, ends] : {std::tuple{1'000'000u, 4'000'000u, true}, {1'000'000u, 900'000u, false}}) {
        Ways ways;
        uint64_t now_ns = 1000;
        bool watched = true;
        for (int window = 0; window < 12; ++window) {
            Way way = Way::directly;
            for (int i = 0; i < 64; ++i) way = ways.begin(Kind::contiguous, 1 << 18, now_ns, watched);
            if (!watched) break;
            if (way == Way::twice) ways.diverted();
            now_ns += way == Way::twice ? diverted_ns : direct_ns;
            for (int i = 0; i < 64; ++i) ways.end(now_ns);
        }
        EXPECT_EQ(!watched, ends);
        EXPECT_EQ(ways.seen(Kind::contiguous, 4).best(Ways::choice(Kind::contiguous, 1 << 18)), Way::directly);
    }
}

// A machine that delays at random now and then, up to tenfold: the way that is 1.5 times as fast is taken nearly always.
TEST(Ways, IsNotLedAstrayByDelays) {
    int good = 0, all = 0;
    sim::for_seeds(400, 5, [&](uint64_t seed) {
        sim::Random random(seed);
        bool once = random.chance(50);
        Machine machine(once ? 15'000 : 10'000, once ? 10'000 : 15'000);
        for (int i = 0; i < 60; ++i) machine.move(1 << 20, Kind::contiguous, random.chance(30) ? random.below(1'000'000) : 0);
        ++all;
        good += machine.move(1 << 20) == (once ? Way::directly : Way::twice);
        return true;
    });
    EXPECT_GE(good * 100, all * 95) << good << " of " << all;
}

}  // namespace
}  // namespace lanyard
