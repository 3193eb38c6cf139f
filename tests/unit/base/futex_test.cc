// Tests how threads sleep on a word. Waiting threads of this process and of another process are woken. A
// limit ends a wait, but not early. A lost wake shows as a wait that lasts `patience_ns`.
#include "base/futex.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace lanyard {
namespace {

using Word = std::atomic<uint32_t>;
constexpr uint64_t patience_ns = 60'000'000'000u;

// Waits, despite spurious wakes, until the word is no longer `old`. Returns false if no wake arrived in time.
bool wait_while(Word &word, uint32_t old, bool shared) {
    uint64_t begin = clock_ns();
    while (word.load() == old) {
        if (clock_ns() - begin >= patience_ns) return false;
        futex_wait(word, old, patience_ns, shared);
    }
    return clock_ns() - begin < patience_ns;
}

// Plays one of two sides that increment the word in turns. The side with parity 0 increments even numbers,
// and the side with parity 1 increments odd numbers.
bool take_turns(Word &word, uint32_t parity, uint32_t end, bool shared) {
    for (uint32_t number = parity; number < end; number += 2) {
        while (word.load() != number)
            if (!wait_while(word, number - 1, shared)) return false;
        word.store(number + 1);
        futex_wake(word, 1, shared);
    }
    return true;
}

TEST(Futex, WakesAThread) {
    for (bool shared : {false, true}) {
        Word word{0};
        bool other_good = false;
        std::thread other([&] { other_good = take_turns(word, 1, 2000, shared); });
        EXPECT_TRUE(take_turns(word, 0, 2000, shared));
        other.join();
        EXPECT_TRUE(other_good);
    }
}

// The other process maps the word at another address.
TEST(Futex, WakesAnotherProcess) {
    int file = memfd_create("futex_test", MFD_CLOEXEC);
    ASSERT_GE(file, 0);
    ASSERT_EQ(ftruncate(file, 4096), 0);
    auto map = [file] {
        return static_cast<Word *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    };
    Word *word = map();
    ASSERT_NE(static_cast<void *>(word), MAP_FAILED);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        Word *mine = map();
        _exit(mine != word && take_turns(*mine, 1, 1000, true) ? 0 : 1);
    }
    EXPECT_TRUE(take_turns(*word, 0, 1000, true));
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "the other process was not woken";
    munmap(word, 4096);
    close(file);
}

TEST(Futex, WakesAllWhoWait) {
    constexpr int many = 6;
    Word word{0};
    std::atomic<int> asleep{0}, good{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < many; ++i)
        threads.emplace_back([&] {
            ++asleep;
            good += wait_while(word, 0, false);
        });
    while (asleep < many) std::this_thread::yield();
    word.store(1);
    futex_wake(word, INT32_MAX, false);
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(good.load(), many);
}

TEST(Futex, DoesNotSleepOnAnotherValue) {
    Word word{7};
    uint64_t begin = clock_ns();
    futex_wait(word, 6, patience_ns, false);
    EXPECT_LT(clock_ns() - begin, patience_ns);
}

// If the kernel refused a limit, every wait would return at once and a sleeping thread would spin.
TEST(Futex, SleepsWithAnyLimit) {
    for (uint64_t limit :
         {uint64_t{999'999'999}, uint64_t{1'000'000'000}, uint64_t{5'999'999'999}, no_limit - 1, no_limit}) {
        Word word{0};
        std::atomic<uint64_t> waits{0};
        std::atomic<bool> over{false};
        std::thread sleeper([&] {
            while (word.load() == 0) {
                futex_wait(word, 0, limit, false);
                ++waits;
            }
            over = true;
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        word.store(1);
        while (!over.load()) futex_wake(word, 1, false);
        sleeper.join();
        EXPECT_LT(waits.load(), 100u) << "limit " << limit << " ns";
    }
}

TEST(Futex, WaitsOutItsLimit) {
    for (uint64_t limit : {uint64_t{1}, uint64_t{1'000'000}, uint64_t{30'000'000}}) {
        Word word{0};
        uint64_t begin = clock_ns();
        int waits = 0;
        do futex_wait(word, 0, limit, false);
        while (++waits < 1000 && clock_ns() - begin < limit);
        EXPECT_GE(clock_ns() - begin, limit);
        EXPECT_LT(waits, 100) << "limit " << limit << " ns";
    }
}

}  // namespace
}  // namespace lanyard
