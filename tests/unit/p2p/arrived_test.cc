// Compares the record of arrived bytes with a plain list of all bytes, while random ranges arrive.
#include "p2p/arrived.h"

#include <gtest/gtest.h>

#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

TEST(Arrived, KnowsUpToWhereAllHasCome) {
    sim::for_seeds(50, 5, [](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        sim::Random random(seed);
        constexpr uint64_t bytes = 300;
        std::vector<bool> here(bytes + 1);
        Arrived arrived;
        while (arrived.end() < bytes) {
            uint64_t begin = random.below(bytes),
                     end = begin + 1 + random.below(std::min<uint64_t>(bytes - begin, 40));
            arrived.add(begin, end);
            std::fill(here.begin() + static_cast<std::ptrdiff_t>(begin),
                      here.begin() + static_cast<std::ptrdiff_t>(end), true);
            uint64_t from = random.below(bytes),
                     to = from + 1 + random.below(std::min<uint64_t>(bytes - from, 20));
            auto first = here.begin() + static_cast<std::ptrdiff_t>(from),
                 last = here.begin() + static_cast<std::ptrdiff_t>(to);
            EXPECT_EQ(arrived.has_some(from, to), std::find(first, last, true) != last);
            uint64_t expected =
                static_cast<uint64_t>(std::find(here.begin(), here.end(), false) - here.begin());
            EXPECT_EQ(arrived.end(), expected);
            if (::testing::Test::HasFailure()) return false;
        }
        arrived.clear();
        return arrived.end() == 0;
    });
}

}  // namespace
}  // namespace lanyard
