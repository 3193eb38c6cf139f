// Tests which processors this process may use. The affinity is narrowed in a separate thread, so no other
// thread is affected. Control groups are described in files.
#include "base/processors.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace lanyard {
namespace {

// Returns the first `many` processors of `allowed`.
cpu_set_t first_of(const cpu_set_t &allowed, int many) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int processor = 0; processor < CPU_SETSIZE && many > 0; ++processor)
        if (CPU_ISSET(processor, &allowed)) {
            CPU_SET(processor, &set);
            --many;
        }
    return set;
}

TEST(Processors, AreThoseOfTheAffinityCutByTheQuota) {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int all = granted_processors();
    EXPECT_GE(all, 1);
    EXPECT_LE(all, CPU_COUNT(&allowed));
    std::thread([&] {
        for (int many = 1; many <= CPU_COUNT(&allowed); ++many) {
            cpu_set_t set = first_of(allowed, many);
            ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
            ASSERT_EQ(granted_processors(), std::min(many, all)) << "bound to " << many;
        }
    }).join();
}

std::vector<int> numbers_in(const cpu_set_t &set) {
    std::vector<int> numbers;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor)
        if (CPU_ISSET(processor, &set)) numbers.push_back(processor);
    return numbers;
}

// Makes the kernel refuse masks of `bytes` bytes to this thread, as a kernel does that supports more
// processors. False if the kernel has no seccomp filters.
bool refuse_masks_of(unsigned bytes) {
    constexpr auto call = offsetof(seccomp_data, nr), size = offsetof(seccomp_data, args) + 8;
    sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, call),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_getaffinity, 0, 3),
                           BPF_STMT(BPF_LD | BPF_W | BPF_ABS, size),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, bytes, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    sock_fprog filter{static_cast<unsigned short>(std::size(steps)), steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

TEST(Processors, AreKnownOnKernelsThatSupportMoreThanASetHas) {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int all = granted_processors();
    bool filters = true;
    std::thread([&] {
        filters = refuse_masks_of(sizeof allowed);
        EXPECT_EQ(allowed_processors(), numbers_in(allowed));
        EXPECT_EQ(granted_processors(), all);
    }).join();
    if (!filters) GTEST_SKIP() << "the kernel has no seccomp filters";
}

class Groups : public ::testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/lanyard-groups-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        root = name;
    }
    void TearDown() override { std::filesystem::remove_all(root); }
    void write(const std::string &path, const std::string &text) {
        std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
        std::ofstream(root + path) << text << "\n";
    }
    // Writes the two files of a group of version 1.
    void write_old(const std::string &group, int quota, int period) {
        write(group + "/cpu.cfs_quota_us", std::to_string(quota));
        write(group + "/cpu.cfs_period_us", std::to_string(period));
    }
    double quota(const std::string &groups) {
        write("/self", groups);
        return processor_quota(root + "/mounts", root + "/self");
    }

    std::string root;
};

TEST_F(Groups, OfVersion2) {
    EXPECT_EQ(quota("0::/a/b"), 0);
    write("/mounts/a/cpu.max", "150000 100000");
    write("/mounts/a/b/cpu.max", "max 100000");
    EXPECT_EQ(quota("0::/a/b"), 1.5);
    EXPECT_EQ(quota("0::/c"), 0);
    write("/mounts/a/b/cpu.max", "50000 100000");
    EXPECT_EQ(quota("0::/a/b"), 0.5);
    EXPECT_EQ(quota("0::/a"), 1.5);
    write("/mounts/cpu.max", "20000 100000");
    for (const char *group : {"0::/", "0::/a/b", "0::/outside/the/container"}) EXPECT_EQ(quota(group), 0.2);
}

TEST_F(Groups, OfVersion1) {
    std::string groups = "4:memory:/m\n3:cpu,cpuacct:/a/b\n0::/a/b";
    write_old("/mounts/cpu,cpuacct", -1, 100000);
    EXPECT_EQ(quota(groups), 0);
    write_old("/mounts/cpu,cpuacct/a/b", 300000, 100000);
    write_old("/mounts/memory/m", 1000, 100000);
    EXPECT_EQ(quota(groups), 3);
    write_old("/mounts/cpu,cpuacct/a", 250000, 100000);
    EXPECT_EQ(quota(groups), 2.5);
    // A container sees only its own group, at the mount point.
    write_old("/mounts/cpu", 200000, 100000);
    EXPECT_EQ(quota("3:cpu,cpuacct:/outside/the/container"), 2);
}

}  // namespace
}  // namespace lanyard
