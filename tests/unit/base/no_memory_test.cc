// Tests exhausted memory: which allocations end the process with an error message, and which are refused
// instead.
#include "base/no_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/valgrind.h"

namespace lanyard {
namespace {

struct Counted {
    static inline int alive = 0;
    Counted() noexcept { ++alive; }
    ~Counted() { --alive; }
    int64_t number = 7;
};

TEST(NoMemory, ArraysThatFitAreMadeAndDestroyed) {
    {
        FallibleArray<Counted> some = array_or_null<Counted>(3);
        ASSERT_TRUE(some);
        EXPECT_EQ(Counted::alive, 3);
        EXPECT_EQ(some[2].number, 7);
        some = array_or_null<Counted>(5);
        EXPECT_EQ(Counted::alive, 5);
    }
    EXPECT_EQ(Counted::alive, 0);
    EXPECT_TRUE(array_or_null<Counted>(0));
}

TEST(NoMemory, ArraysWhoseBytesAreNoNumberAreRefused) { EXPECT_FALSE(array_or_null<Counted>(SIZE_MAX / 2)); }

void limit(__rlimit_resource resource, rlim_t bytes) {
    rlimit both{bytes, bytes};
    setrlimit(resource, &both);
}

// Not tested with sanitizers, because their `new` and malloc end the process themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
[[noreturn]] void fill_memory() {
    std::vector<std::vector<char>> all;
    for (;;) all.emplace_back(1 << 16);
}

void end_under(__rlimit_resource resource, const char *name) {
    end_where_new_fails("a test", 41);
    set_log_name(name);
    limit(resource, 1 << 20);
    fill_memory();
}

TEST(NoMemory, ArraysThatDoNotFitAreRefused) {
    if (under_valgrind()) GTEST_SKIP() << "valgrind reports such a size as an error";
    EXPECT_FALSE(array_or_null<Counted>(SIZE_MAX / sizeof(Counted)));
    EXPECT_EQ(Counted::alive, 0);
}

TEST(NoMemoryDeathTest, NewEndsTheProcessWithTheLimit) {
    if (under_valgrind()) GTEST_SKIP() << "valgrind needs addresses of its own";
    EXPECT_EXIT(
        end_under(RLIMIT_AS, ""), testing::ExitedWithCode(41),
        "^a test: this process gets no more memory: ulimit -v allows it 1024 KiB; raise that, or ask for "
        "less; it ends\n$");
    EXPECT_EXIT(
        end_under(RLIMIT_DATA, "rank 5"), testing::ExitedWithCode(41),
        "^a test: rank 5 gets no more memory: ulimit -d allows it 1024 KiB; raise that, or ask for less; "
        "it ends\n$");
}

// Another thread waits for input that never comes, and has locked its stream.
TEST(NoMemoryDeathTest, DoesNotWaitForWhoReads) {
    auto end = [] {
        int ends[2];
        if (pipe(ends) != 0 || dup2(ends[0], STDIN_FILENO) < 0) _exit(1);
        std::thread([] {
            char line[8];
            if (std::fgets(line, sizeof line, stdin)) _exit(1);
        }).detach();
        while (ftrylockfile(stdin) == 0) {
            funlockfile(stdin);
            std::this_thread::yield();
        }
        end_where_new_fails("a test", 41);
        end_without_memory();
    };
    EXPECT_EXIT(end(), testing::ExitedWithCode(41), "^a test: this process gets no more memory");
}
#endif

TEST(NoMemoryDeathTest, BothLimitsAreNamed) {
    if (under_valgrind()) GTEST_SKIP() << "valgrind needs addresses of its own";
    auto end = [] {
        end_where_new_fails("a test", 41);
        limit(RLIMIT_AS, 1 << 21);
        limit(RLIMIT_DATA, 1 << 20);
        end_without_memory();
    };
    EXPECT_EXIT(end(), testing::ExitedWithCode(41),
                "ulimit -v allows it 2048 KiB and ulimit -d allows it 1024 KiB; raise that");
}

TEST(NoMemoryDeathTest, WithoutLimitsTheMachineIsNamed) {
    rlimit addresses{}, data{};
    getrlimit(RLIMIT_AS, &addresses);
    getrlimit(RLIMIT_DATA, &data);
    if (addresses.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY)
        GTEST_SKIP() << "the tests run under a limit of memory";
    auto end = [] {
        end_where_new_fails("a test", 41);
        end_without_memory();
    };
    EXPECT_EXIT(end(), testing::ExitedWithCode(41),
                "no more memory: the machine refuses it; start fewer processes here");
}

}  // namespace
}  // namespace lanyard
