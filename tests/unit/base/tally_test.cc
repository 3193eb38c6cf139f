// A tally counts like a number, and a reader never sees half of a change.
#include "base/tally.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

namespace lanyard {
namespace {

TEST(Tally, CountsLikeANumber) {
    Tally<uint32_t> tally;
    EXPECT_EQ(tally, 0u);
    EXPECT_EQ(++tally, 1u);
    EXPECT_EQ(tally++, 1u);
    EXPECT_EQ(tally += 5, 7u);
    EXPECT_EQ(tally -= 3, 4u);
    EXPECT_EQ(--tally, 3u);
    Tally<uint32_t> copy = tally, other;
    other = tally;
    ++tally;
    EXPECT_EQ(copy + other, 6u);
    EXPECT_EQ(tally, 4u);
}

TEST(Tally, WrapsAround) {
    Tally<uint32_t> tally;
    EXPECT_EQ(--tally, UINT32_MAX);
    EXPECT_EQ(tally++, UINT32_MAX);
    EXPECT_EQ(tally, 0u);
}

TEST(Tally, IsReadWhileItChanges) {
    constexpr uint64_t step = (uint64_t{1} << 32) + 1, steps = 100'000;  // both halves of the number change
    Tally<uint64_t> tally;
    std::jthread owner([&] {
        for (uint64_t i = 0; i < steps; ++i) tally += step;
    });
    for (uint64_t before = 0; before < step * steps;) {
        uint64_t now = tally;
        ASSERT_EQ(now % step, 0u);
        ASSERT_GE(now, before);
        before = now;
    }
}

}  // namespace
}  // namespace lanyard
