// The clock is CLOCK_MONOTONIC in nanoseconds, because other code compares it with times taken by the
// kernel and by other processes.
#include "base/clock.h"

#include <gtest/gtest.h>

#include <chrono>

namespace lanyard {
namespace {

uint64_t steady_ns() {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
}

TEST(Clock, LiesBetweenTwoReadingsOfTheSteadyClock) {
    uint64_t last = 0;
    for (int i = 0; i < 10'000; ++i) {
        uint64_t before = steady_ns(), now = clock_ns(), after = steady_ns();
        ASSERT_LE(before, now);
        ASSERT_LE(now, after);
        ASSERT_LE(last, now) << "it goes back";
        last = now;
    }
}

}  // namespace
}  // namespace lanyard
