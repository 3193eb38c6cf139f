// Tests copy_few() for every size and alignment, copy_bytes() with each loop, and the trial that chooses one.
// The source ends behind the last byte to copy, and the target of copy_few() too, so the address sanitizer
// detects a byte too many.
#include "base/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/copy_loops.h"

namespace lanyard {
namespace {

TEST(CopyFew, CopiesEachSizeAtEachAlignment) {
    for (size_t bytes = 0; bytes <= 32; ++bytes)
        for (size_t from = 0; from < 16; ++from)
            for (size_t to = 0; to < 16; ++to) {
                std::vector<unsigned char> source(from + bytes), target(to + bytes, 0xee),
                    wanted(to + bytes, 0xee);
                for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(1 + i * 5);
                std::copy(source.begin() + static_cast<long>(from), source.end(),
                          wanted.begin() + static_cast<long>(to));
                copy_few(target.data() + to, source.data() + from, bytes);
                ASSERT_EQ(target, wanted) << bytes << " bytes from " << from << " to " << to;
            }
}

TEST(CopyFew, LeavesWhatIsBehindAlone) {
    for (size_t bytes = 0; bytes <= 32; ++bytes) {
        std::vector<unsigned char> source(64, 1), target(64, 2), wanted(64, 2);
        std::fill_n(wanted.begin() + 16, bytes, static_cast<unsigned char>(1));
        copy_few(target.data() + 16, source.data(), bytes);
        ASSERT_EQ(target, wanted) << bytes << " bytes";
    }
}

class CopyBytes : public ::testing::TestWithParam<LongCopy> {
protected:
    void SetUp() override { set_long_copy(GetParam()); }
    void TearDown() override { set_long_copy(LongCopy::automatic); }
};

TEST_P(CopyBytes, CopiesEachSizeAroundTheLimitAtEachDistanceInThePage) {
    constexpr size_t most = long_copy_bytes + 130, page = 4096;
    std::vector<unsigned char> source(most);
    for (size_t i = 0; i < most; ++i) source[i] = static_cast<unsigned char>(1 + i * 5);
    for (size_t bytes = long_copy_bytes - 2; bytes <= most; ++bytes)
        for (size_t distance : {0, 1, 16, 31, 32, 63, 4080}) {
            const unsigned char *from = source.data() + most - bytes;
            std::vector<unsigned char> target(page + bytes, 0xee), wanted = target;
            auto begin = reinterpret_cast<uintptr_t>(target.data());
            size_t to = (reinterpret_cast<uintptr_t>(from) + distance - begin) % page;
            copy_bytes(target.data() + to, from, bytes);
            std::copy_n(from, bytes, wanted.begin() + static_cast<long>(to));
            ASSERT_EQ(target, wanted) << bytes << " bytes, " << distance << " bytes after the source";
        }
}

TEST_P(CopyBytes, MovesWhatOverlaps) {
    for (size_t bytes : {size_t{100}, size_t{5000}, longest_copy_bytes + 1})
        for (size_t distance : {0, 1, 16, 1000}) {
            std::vector<unsigned char> memory(bytes + distance);
            for (size_t i = 0; i < memory.size(); ++i)
                memory[i] = static_cast<unsigned char>(i * 7 + i / 256);
            std::vector<unsigned char> first(memory.begin(), memory.end() - static_cast<long>(distance));
            copy_bytes(memory.data() + distance, memory.data(), bytes);
            EXPECT_TRUE(std::equal(first.begin(), first.end(), memory.begin() + static_cast<long>(distance)));
            std::vector<unsigned char> last(memory.begin() + static_cast<long>(distance), memory.end());
            copy_bytes(memory.data(), memory.data() + distance, bytes);
            EXPECT_TRUE(std::equal(last.begin(), last.end(), memory.begin()));
        }
}

TEST_P(CopyBytes, MayBeginInSeveralThreads) {
    std::vector<unsigned char> source(2 * long_copy_bytes, 7), target[4];
    std::vector<std::thread> threads;
    for (auto &of_thread : target)
        threads.emplace_back([&] {
            of_thread.resize(source.size());
            copy_bytes(of_thread.data(), source.data(), source.size());
        });
    for (std::thread &thread : threads) thread.join();
    for (const auto &of_thread : target) EXPECT_EQ(of_thread, source);
}

INSTANTIATE_TEST_SUITE_P(By, CopyBytes,
                         ::testing::Values(LongCopy::automatic, LongCopy::by_memcpy, LongCopy::by_vectors));

void wait_ns(uint64_t ns) {
    for (uint64_t until = clock_ns() + ns; clock_ns() < until;) continue;
}

bool is_near(void *to, const void *from) {
    return (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % 4096 < 32;
}

TEST(CopyTrial, PrefersAnotherLoopOnlyIfItHelps) {
    CopyFunction even = [](void *, const void *, size_t) { wait_ns(10'000); };
    CopyFunction slow = [](void *, const void *, size_t) { wait_ns(100'000); };
    CopyFunction slow_near = [](void *to, const void *from, size_t) {
        wait_ns(is_near(to, from) ? 100'000 : 10'000);
    };
    CopyFunction as_slow_near = [](void *to, const void *from, size_t) {
        wait_ns(is_near(to, from) ? 90'000 : 10'000);
    };
    EXPECT_TRUE(is_better_for_near_targets(even, slow_near));
    EXPECT_FALSE(is_better_for_near_targets(as_slow_near, slow_near));
    EXPECT_FALSE(is_better_for_near_targets(even, slow)) << "the usual loop is slow everywhere";
    EXPECT_FALSE(is_better_for_near_targets(slow, even));
    EXPECT_FALSE(is_better_for_near_targets(slow_near, slow_near));
}

TEST(CopyTrial, WorksWithTheLoopsOfThisMachine) {
    bool better = is_better_for_near_targets(copy_by_vectors(), copy_by_memcpy());
    bool worse = is_better_for_near_targets(copy_by_memcpy(), copy_by_vectors());
    EXPECT_FALSE(better && worse);
}

}  // namespace
}  // namespace lanyard
