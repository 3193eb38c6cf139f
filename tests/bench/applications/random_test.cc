// Tests the generator of pseudorandom numbers of the kernels.
#include "bench/programs/applications/random.h"

#include <gtest/gtest.h>

using lanyard::bench::Random;

TEST(Random, FollowsItsDefinition) {
    // x(k+1) = a x(k) mod 2^46, computed in steps that are small enough for 64 bits.
    std::uint64_t x = 314159265;
    Random random(x);
    for (int i = 0; i < 1000; ++i) {
        std::uint64_t product = 0, term = x;
        for (std::uint64_t a = Random::multiplier; a > 0; a >>= 1, term = term * 2 % (std::uint64_t{1} << 46))
            if (a & 1) product = (product + term) % (std::uint64_t{1} << 46);
        x = product;
        ASSERT_EQ(random.next(), static_cast<double>(x) / static_cast<double>(std::uint64_t{1} << 46))
            << "number " << i;
    }
}

TEST(Random, SkipsAsManyAsAsked) {
    for (std::uint64_t count : {0, 1, 2, 3, 10, 255, 256, 1000}) {
        Random walked(271828183), skipped(271828183);
        for (std::uint64_t i = 0; i < count; ++i) walked.next();
        skipped.skip(count);
        EXPECT_EQ(walked.next(), skipped.next()) << "after " << count;
    }
}
