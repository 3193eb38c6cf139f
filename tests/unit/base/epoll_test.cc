// epoll_sleep() returns when a descriptor is ready or its limit ends, also if the kernel or a container
// refuses short limits.
#include "base/epoll.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/clock.h"

namespace lanyard {
namespace {

struct Sleeper {
    Sleeper() { EXPECT_TRUE(epoll_add(set, event, EPOLLIN)); }
    ~Sleeper() {
        close(set);
        close(event);
    }
    int sleep(uint64_t limit_ns) {
        epoll_event events[4];
        int count = epoll_sleep(set, events, limit_ns);
        EXPECT_TRUE(count <= 0 || events[0].data.fd == event);
        return count;
    }
    void wake() {
        uint64_t one = 1;
        EXPECT_EQ(write(event, &one, sizeof one), 8);
    }

    int set = epoll_create1(EPOLL_CLOEXEC);
    int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
};

void check_limits() {
    Sleeper sleeper;
    for (uint64_t limit :
         {uint64_t{0}, uint64_t{1}, uint64_t{999'999}, uint64_t{1'000'000}, uint64_t{20'000'001}}) {
        uint64_t begin = clock_ns();
        EXPECT_EQ(sleeper.sleep(limit), 0) << limit;
        EXPECT_GE(clock_ns() - begin, limit);
    }
    for (uint64_t limit : {uint64_t{5'999'999'999}, no_limit - 1, no_limit}) {
        Sleeper woken;
        // Measured before the waker starts, because this thread may be descheduled for longer than the
        // waker sleeps.
        uint64_t begin = clock_ns();
        std::thread waker([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            woken.wake();
        });
        EXPECT_EQ(woken.sleep(limit), 1) << limit;
        EXPECT_GE(clock_ns() - begin, 15'000'000u) << limit;
        waker.join();
    }
}

// Makes the kernel refuse epoll_pwait2 to this thread from now on.
bool refuse_short_limits(uint32_t error) {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(Epoll, SleepsAsLongAsSaid) { check_limits(); }

TEST(Epoll, SleepsAsLongAsSaidWhereShortLimitsAreRefused) {
    for (int error : {ENOSYS, EPERM}) {
        bool refused = false;
        std::thread([&] {
            refused = refuse_short_limits(static_cast<uint32_t>(error));
            if (refused) check_limits();
        }).join();
        if (!refused) GTEST_SKIP() << "this machine allows no filters of system calls";
    }
}

TEST(Epoll, ForgetsAndRemembersADescriptor) {
    Sleeper sleeper;
    sleeper.wake();
    EXPECT_EQ(sleeper.sleep(0), 1);
    EXPECT_TRUE(epoll_change(sleeper.set, sleeper.event, 0));
    EXPECT_EQ(sleeper.sleep(0), 0);
    EXPECT_TRUE(epoll_change(sleeper.set, sleeper.event, EPOLLIN));
    EXPECT_EQ(sleeper.sleep(0), 1);
    EXPECT_FALSE(epoll_add(sleeper.set, -1, EPOLLIN));
}

}  // namespace
}  // namespace lanyard
