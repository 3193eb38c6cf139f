// Takes blocks from a BytePool and gives them back, at random: no block may overlap another or lose its
// contents. Also tests which memory the pool returns to the system, and when.
#include "base/byte_pool.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

struct Taken {
    std::byte *block;
    size_t bytes;
    unsigned char fill;
};

Taken take(BytePool &pool, size_t bytes, unsigned char fill) {
    Taken one{pool.take(bytes), bytes, fill};
    std::fill_n(one.block, bytes, std::byte{fill});
    return one;
}

void expect_whole(const Taken &one) {
    ASSERT_TRUE(std::all_of(one.block, one.block + one.bytes,
                            [&](std::byte byte) { return byte == std::byte{one.fill}; }));
}

void give(BytePool &pool, const Taken &one) {
    expect_whole(one);
    pool.give(one.block, one.bytes);
}

// Returns whether the kernel has memory at this address.
bool resident(const std::byte *address) {
    unsigned char there = 0;
    auto page = reinterpret_cast<uintptr_t>(address) & ~uintptr_t{BytePool::page_bytes - 1};
    return mincore(reinterpret_cast<void *>(page), BytePool::page_bytes, &there) == 0 && (there & 1);
}

TEST(BytePool, KeepsEveryBlockAsItIs) {
    for (uint64_t seed : sim::seeds(20)) {
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed));
        sim::Random random(seed);
        BytePool pool;
        std::vector<Taken> taken;
        for (uint32_t i = 0; i < 60'000; ++i) {
            bool grows = i / 15'000 % 2 == 0;
            if (taken.empty() || random.chance(grows ? 80 : 10)) {
                size_t most = !random.chance(5) ? BytePool::longest : random.chance(5) ? 40'000 : 3000;
                taken.push_back(take(pool, random.below(most + 1), static_cast<unsigned char>(i)));
                ASSERT_EQ(reinterpret_cast<uintptr_t>(taken.back().block) % 16, 0u);
            } else {
                std::swap(taken[random.below(taken.size())], taken.back());
                give(pool, taken.back());
                taken.pop_back();
            }
            if (random.below(500) == 0) {
                pool.shrink();
                ASSERT_EQ(pool.held_bytes(), pool.used_bytes());
            }
        }
        for (const Taken &one : taken) give(pool, one);
        EXPECT_EQ(pool.used_bytes(), 0u);
        pool.shrink();
        EXPECT_EQ(pool.held_bytes(), 0u);
    }
}

TEST(BytePool, GivesPagesThatHoldNothingBack) {
    BytePool pool;
    std::vector<Taken> taken;
    // Fills two chunks.
    for (int i = 0; i < 5000; ++i) taken.push_back(take(pool, 300, static_cast<unsigned char>(i)));
    size_t per_page = BytePool::page_bytes / 320;
    EXPECT_EQ(pool.used_bytes(), (taken.size() + per_page - 1) / per_page * BytePool::page_bytes);
    Taken first = taken.front(), within = taken[4 * per_page];
    for (size_t i = per_page; i < taken.size(); ++i) give(pool, taken[i]);
    EXPECT_TRUE(resident(within.block)) << "nobody has asked for it";
    pool.shrink();
    EXPECT_FALSE(resident(within.block));
    EXPECT_TRUE(resident(first.block));
    EXPECT_EQ(pool.held_bytes(), BytePool::page_bytes);
    for (size_t i = 0; i < per_page; ++i) give(pool, taken[i]);
}

TEST(BytePool, KeepsSomeLongBlocksUntilItShrinks) {
    BytePool pool;
    constexpr size_t bytes = 64 * 1024 + 40;
    Taken one = take(pool, bytes, 1);
    give(pool, one);
    EXPECT_GE(pool.kept_bytes(), bytes);
    Taken other = take(pool, 2 * bytes, 2), again = take(pool, bytes + 100, 3);
    EXPECT_EQ(again.block, one.block);
    EXPECT_NE(other.block, one.block);
    EXPECT_EQ(pool.kept_bytes(), 0u);
    give(pool, again);
    give(pool, other);
    std::vector<Taken> taken;
    for (int i = 0; i < 30; ++i) taken.push_back(take(pool, bytes, static_cast<unsigned char>(i)));
    for (const Taken &each : taken) give(pool, each);
    EXPECT_LE(pool.kept_bytes(), BytePool::most_kept);
    EXPECT_GT(pool.kept_bytes(), BytePool::most_kept - 2 * bytes);
    pool.shrink();
    EXPECT_EQ(pool.kept_bytes(), 0u);
    give(pool, take(pool, BytePool::worth_keeping - 1, 4));
    EXPECT_EQ(pool.kept_bytes(), 0u) << "the heap does not give it back at once";
}

TEST(BytePool, GivesUpTheLongBlocksThatWereFreedFirst) {
    BytePool pool;
    constexpr size_t once = BytePool::worth_keeping, many = BytePool::most_kept / once, longer = 4 * once;
    std::vector<std::byte *> blocks(many);
    for (std::byte *&block : blocks) block = pool.take(once);
    for (std::byte *block : blocks) pool.give(block, once);
    EXPECT_EQ(pool.kept_bytes(), BytePool::most_kept);
    std::byte *block = pool.take(longer);
    pool.give(block, longer);
    EXPECT_EQ(pool.kept_bytes(), BytePool::most_kept);
    EXPECT_EQ(pool.take(longer), block) << "the block of the latest length was kept";
    EXPECT_EQ(pool.kept_bytes(), BytePool::most_kept - longer);
    pool.give(block, longer);
}

TEST(BytePool, FillsPagesThatItHasFirst) {
    BytePool pool;
    for (int round = 0; round < 100; ++round) {
        std::vector<Taken> taken;
        for (int i = 0; i < 64; ++i) taken.push_back(take(pool, 64, static_cast<unsigned char>(i)));
        EXPECT_EQ(pool.held_bytes(), BytePool::page_bytes);
        for (const Taken &one : taken) give(pool, one);
    }
    std::byte *last = pool.take(500);
    EXPECT_EQ(pool.held_bytes(), BytePool::page_bytes)
        << "a page that holds nothing is for blocks of any length";
    pool.give(last, 500);
    EXPECT_EQ(pool.take(490), last) << "it is in the cache";
    pool.give(last, 490);
}

}  // namespace
}  // namespace lanyard
