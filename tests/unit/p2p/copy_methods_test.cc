// Tests the choice of a copy method on machines whose rates the test sets.
#include "p2p/copy_methods.h"

#include <gtest/gtest.h>

#include <tuple>

#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

using Method = CopyMethods::Method;
using Kind = CopyMethods::Kind;

// Moves one long message at a time, on a machine with these rates.
class Machine {
public:
    Machine(uint64_t once, uint64_t twice, uint64_t streamed = 1) : bytes_per_us_{twice, streamed, once} {}

    Method move(uint64_t bytes, Kind kind = Kind::contiguous, uint64_t delay_ns = 0) {
        bool watched = false;
        Method method = methods.begin(kind, bytes, now_ns, watched);
        now_ns += bytes * 1000 / bytes_per_us_[static_cast<int>(method)] + delay_ns;
        if (watched) methods.end(now_ns);
        was_watched = watched;
        return method;
    }

    CopyMethods methods;
    uint64_t now_ns = 1000;
    bool was_watched = false;

private:
    uint64_t bytes_per_us_[CopyMethods::methods];
};

TEST(CopyMethods, SizesDouble) {
    EXPECT_EQ(CopyMethods::size_of(0), 0);
    EXPECT_EQ(CopyMethods::size_of(16 * 1024), 0);
    EXPECT_EQ(CopyMethods::size_of(32 * 1024 - 1), 0);
    EXPECT_EQ(CopyMethods::size_of(32 * 1024), 1);
    EXPECT_EQ(CopyMethods::size_of(8 << 20), 9);
    EXPECT_EQ(CopyMethods::size_of(uint64_t{5} << 30), 9);
    EXPECT_EQ(CopyMethods::size_of(UINT64_MAX), 9);
}

TEST(CopyMethods, TakesTheFasterOneAfterAFewTrials) {
    for (auto [once, twice] : {std::pair{10'000, 20'000}, {20'000, 10'000}, {100, 101}, {1, 50'000}})
        for (uint64_t bytes : {uint64_t{20'000}, uint64_t{100'000}, uint64_t{1} << 20, uint64_t{1} << 30}) {
            Machine machine(static_cast<uint64_t>(once), static_cast<uint64_t>(twice));
            for (int i = 0; i < CopyMethods::methods * (CopyMethods::trials + 1); ++i) machine.move(bytes);
            for (int i = 0; i < 100; ++i)
                EXPECT_EQ(machine.move(bytes), once > twice ? Method::directly : Method::twice);
            EXPECT_FALSE(machine.was_watched);
        }
}

TEST(CopyMethods, StreamsLongMessagesToContiguousBuffers) {
    Machine machine(20'000, 18'000, 30'000);
    for (uint64_t bytes :
         {CopyMethods::least_streamed_bytes - 1, CopyMethods::least_streamed_bytes, uint64_t{1} << 30})
        for (Kind kind : {Kind::contiguous, Kind::in_runs, Kind::mapped}) {
            for (int i = 0; i < 20; ++i) machine.move(bytes, kind);
            bool streamed = kind == Kind::contiguous && bytes >= CopyMethods::least_streamed_bytes;
            EXPECT_EQ(machine.move(bytes, kind), streamed ? Method::streamed : Method::directly);
        }
}

TEST(CopyMethods, LearnsEachKindAndSizeByItself) {
    Machine slow_twice(20'000, 10'000), slow_once(10'000, 20'000);
    for (int i = 0; i < 50; ++i) slow_twice.move(20'000);
    EXPECT_TRUE(
        slow_twice.methods.seen(Kind::contiguous, 0).learned(CopyMethods::choice(Kind::contiguous, 20'000)));
    for (Kind kind : {Kind::contiguous, Kind::in_runs, Kind::mapped})
        for (int size = 0; size < CopyMethods::sizes; ++size)
            EXPECT_EQ(slow_twice.methods.seen(kind, size).rate[0].no_better > 0,
                      kind == Kind::contiguous && size == 0);
}

TEST(CopyMethods, GoesOnTryingWhileItGetsBetter) {
    Machine machine(10'000, 10'000);
    for (int i = 0; i < 12; ++i) machine.move(1 << 20, Kind::contiguous, 2'000'000 >> i);
    EXPECT_TRUE(machine.was_watched);
    for (int i = 0; i < 20; ++i) machine.move(1 << 20);
    EXPECT_FALSE(machine.was_watched);
    EXPECT_GT(machine.methods.seen(Kind::contiguous, 6).rate[0].bytes_per_us, 9'000u);
}

// Trials are the same small share of all stretches (copy_methods.h), whether messages travel alone or in
// windows.
TEST(CopyMethods, TriesAnewAfterManyMessages) {
    for (int window : {1, 64}) {
        CopyMethods methods;
        uint64_t now_ns = 1000;
        constexpr int stretches = 4000;
        int watched = 0;
        for (int stretch = 0; stretch < stretches; ++stretch) {
            int these = 0;
            for (int i = 0; i < window; ++i) {
                bool is_watched = false;
                methods.begin(Kind::contiguous, 1 << 20, now_ns, is_watched);
                these += is_watched;
            }
            now_ns += 1'000'000;
            for (int i = 0; i < these; ++i) methods.end(now_ns);
            watched += these > 0;
        }
        constexpr int usual = stretches / static_cast<int>(CopyMethods::tried_anew_after);
        EXPECT_GE(watched, usual / 2) << window;
        EXPECT_LE(watched, usual * 2) << window;
    }
}

// A window of messages that wait for each other is one observation. A stretch of messages that are not alike,
// or with a diverted message, is none.
TEST(CopyMethods, WatchesStretchesOfMessagesThatAreAlike) {
    CopyMethods methods;
    uint64_t now_ns = 1000;
    auto stretch = [&](int messages, uint64_t bytes, uint64_t other_bytes, uint64_t lasts_ns) {
        bool watched = false;
        Method method = methods.begin(Kind::contiguous, bytes, now_ns, watched);
        EXPECT_TRUE(watched);
        for (int i = 1; i < messages; ++i) {
            EXPECT_EQ(methods.begin(Kind::contiguous, other_bytes, now_ns + 10, watched), method);
            EXPECT_TRUE(watched);
        }
        now_ns += lasts_ns;
        for (int i = 0; i < messages; ++i) methods.end(now_ns);
        return method;
    };
    Method method = stretch(64, 1 << 20, 1 << 20, 1'000'000);
    EXPECT_EQ(methods.seen(Kind::contiguous, 6).rate[static_cast<int>(method)].bytes_per_us,
              (uint64_t{64} << 20) / 1000);
    method = stretch(2, 1 << 16, 1 << 15, 1'000);
    for (int size : {1, 2})
        for (const auto &seen : methods.seen(Kind::contiguous, size).rate) EXPECT_EQ(seen.bytes_per_us, 0u);
    bool watched = false;
    method = methods.begin(Kind::contiguous, 1 << 18, now_ns, watched);
    methods.diverted();
    methods.end(now_ns + 1'000);
    EXPECT_EQ(methods.seen(Kind::contiguous, 4).rate[static_cast<int>(method)].bytes_per_us, 0u);
    stretch(1, 1 << 18, 0, 1'000);
    EXPECT_GT(methods.seen(Kind::contiguous, 4).rate[static_cast<int>(method)].bytes_per_us, 0u);
}

// In every window the sender is outside MPI for one message, which then goes directly.
TEST(CopyMethods, EndsTrialsOfASlowWayThoughSomeMessagesAreDiverted) {
    for (auto [direct_ns, diverted_ns, ends] :
         {std::tuple{1'000'000u, 4'000'000u, true}, {1'000'000u, 900'000u, false}}) {
        CopyMethods methods;
        uint64_t now_ns = 1000;
        bool watched = true;
        for (int window = 0; window < 12; ++window) {
            Method method = Method::directly;
            for (int i = 0; i < 64; ++i) method = methods.begin(Kind::contiguous, 1 << 18, now_ns, watched);
            if (!watched) break;
            if (method == Method::twice) methods.diverted();
            now_ns += method == Method::twice ? diverted_ns : direct_ns;
            for (int i = 0; i < 64; ++i) methods.end(now_ns);
        }
        EXPECT_EQ(!watched, ends);
        EXPECT_EQ(methods.seen(Kind::contiguous, 4).best(CopyMethods::choice(Kind::contiguous, 1 << 18)),
                  Method::directly);
    }
}

// The machine delays copies at random, up to tenfold. The method that is 1.5 times as fast is nevertheless
// chosen nearly always.
TEST(CopyMethods, IsNotLedAstrayByDelays) {
    int good = 0, all = 0;
    sim::for_seeds(400, 5, [&](uint64_t seed) {
        sim::Random random(seed);
        bool once = random.chance(50);
        Machine machine(once ? 15'000 : 10'000, once ? 10'000 : 15'000);
        for (int i = 0; i < 60; ++i)
            machine.move(1 << 20, Kind::contiguous, random.chance(30) ? random.below(1'000'000) : 0);
        ++all;
        good += machine.move(1 << 20) == (once ? Method::directly : Method::twice);
        return true;
    });
    EXPECT_GE(good * 100, all * 95) << good << " of " << all;
}

}  // namespace
}  // namespace lanyard
