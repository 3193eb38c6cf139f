// Tests the spin lock and reference counts with threads. There are more threads than processors for the lock,
// so a thread that waits must let the holder of the lock run.
#include "base/spin_lock.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/object.h"

namespace lanyard {
namespace {

void in_threads(int many, const auto &body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < many; ++i) threads.emplace_back(body, i);
    for (std::thread &thread : threads) thread.join();
}

TEST(SpinLock, LetsOneThreadInAtATime) {
    constexpr int rounds = 5000;
    int many = static_cast<int>(std::thread::hardware_concurrency()) + 2;
    SpinLock lock;
    long counter = 0;
    int inside = 0, together = 0;
    in_threads(many, [&](int) {
        for (int i = 0; i < rounds; ++i) {
            SpinGuard guard(lock);
            together += inside++ != 0;
            ++counter;
            --inside;
        }
    });
    EXPECT_EQ(counter, static_cast<long>(many) * rounds);
    EXPECT_EQ(together, 0);
}

TEST(Object, LosesNoReference) {
    Object object;
    std::atomic<int> last{0};
    in_threads(4, [&](int) {
        for (int i = 0; i < 20'000; ++i) {
            object.hold();
            last += object.let_go();
        }
    });
    EXPECT_EQ(object.references.load(), 1);
    EXPECT_EQ(last.load(), 0) << "the first reference was there all the time";
}

TEST(Object, HasOneLastReference) {
    constexpr int threads = 4, each = 5000;
    Object object;
    for (int i = 1; i < threads * each; ++i) object.hold();
    std::atomic<int> last{0};
    in_threads(threads, [&](int) {
        for (int i = 0; i < each; ++i) last += object.let_go();
    });
    EXPECT_EQ(last.load(), 1);
    EXPECT_EQ(object.references.load(), 0);
}

}  // namespace
}  // namespace lanyard
