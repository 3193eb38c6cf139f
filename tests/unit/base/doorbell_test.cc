// Tests the doorbell, and the sleep word that wakes a process by its doorbell.
#include "base/doorbell.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>

#include <memory>
#include <thread>
#include <vector>

#include "base/sleep_word.h"

namespace lanyard {
namespace {

bool rings(const Doorbell &bell, int wait_ms = 0) {
    pollfd descriptor{bell.descriptor(), POLLIN, 0};
    return poll(&descriptor, 1, wait_ms) == 1;
}

// This test is the first of this file, because the process keeps the socket of its first ring.
TEST(Doorbell, RingsAsSoonAsThereAreDescriptors) {
    Doorbell bell;
    ASSERT_GE(bell.descriptor(), 0);
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    rlimit none{0, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    ring_doorbell(bell.name());
    setrlimit(RLIMIT_NOFILE, &before);
    ring_doorbell(bell.name());
    EXPECT_TRUE(rings(bell));
}

// Many rings that their owners do not read fill the buffer of the socket that has sent them.
TEST(Doorbell, RingsWhateverOthersHaveNotRead) {
    std::vector<std::unique_ptr<Doorbell>> others;
    for (int i = 0; i < 50; ++i) {
        others.push_back(std::make_unique<Doorbell>());
        for (int ring = 0; ring < 20; ++ring) ring_doorbell(others.back()->name());
    }
    Doorbell bell;
    ring_doorbell(bell.name());
    EXPECT_TRUE(rings(bell));
}

TEST(Doorbell, RingsUntilQuietened) {
    Doorbell bell, other;
    ASSERT_GE(bell.descriptor(), 0);
    EXPECT_FALSE(rings(bell));
    for (int i = 0; i < 1000; ++i) ring_doorbell(bell.name());  // more than its socket's queue holds
    EXPECT_TRUE(rings(bell));
    EXPECT_FALSE(rings(other));
    bell.quieten();
    EXPECT_FALSE(rings(bell));
    ring_doorbell(bell.name());
    EXPECT_TRUE(rings(bell));
}

TEST(Doorbell, OfNobodyIsNoHarm) { ring_doorbell(12345); }

TEST(SleepWord, WakesByTheBellWhoSleepsAtIt) {
    Doorbell bell;
    SleepWord word{};
    word.bell = bell.name();
    wake_if_asleep(word);
    EXPECT_FALSE(rings(bell)) << "nobody sleeps";
    word.fall_asleep_soon(SleepWord::at_doorbell);
    std::thread waker([&] { wake_if_asleep(word); });
    EXPECT_TRUE(rings(bell, 10'000));
    waker.join();
    EXPECT_EQ(word.asleep.load(), SleepWord::awake);
}

}  // namespace
}  // namespace lanyard
