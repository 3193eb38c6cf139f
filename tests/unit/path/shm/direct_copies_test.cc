// Tests copies from and to another process's memory: which of them are tried, and what ends them.
#include "path/shm/direct_copies.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "unit/path/shm/node.h"

namespace lanyard {
namespace {

// A node whose members are all this process.
class DirectCopiesTest : public ::testing::Test {
protected:
    static constexpr uint32_t members = 3;

    DirectCopiesTest() {
        for (uint32_t own = 0; own < members; ++own) {
            all.emplace_back(node.of(own), own, true);
            for (uint32_t i = 0; i < members; ++i) all[own].add_member();
        }
    }
    void SetUp() override {
        if (!all[0].work_with(2)) GTEST_SKIP() << "the kernel refuses process_vm_readv here";
    }
    static uint64_t address_of(const void *memory) { return reinterpret_cast<uintptr_t>(memory); }
    static std::string sentence(Error error) { return error ? error.take().sentence : ""; }

    Node node{members};
    std::deque<DirectCopies> all;
};

TEST_F(DirectCopiesTest, MoveBytesBothWays) {
    std::vector<std::byte> there = content(1, 5000), here(5000);
    iovec runs[] = {{here.data() + 1000, 4000}, {here.data(), 1000}};
    EXPECT_TRUE(all[0].work_with(1));
    EXPECT_EQ(sentence(all[0].read(1, runs, 2, address_of(there.data()), 5000)), "");
    EXPECT_EQ(std::memcmp(here.data() + 1000, there.data(), 4000), 0);
    EXPECT_EQ(std::memcmp(here.data(), there.data() + 4000, 1000), 0);
    std::ranges::copy(content(2, 5000), here.begin());
    EXPECT_EQ(sentence(all[0].write(1, runs, 2, address_of(there.data()), 5000)), "");
    EXPECT_EQ(std::memcmp(here.data() + 1000, there.data(), 4000), 0);
    EXPECT_EQ(std::memcmp(here.data(), there.data() + 4000, 1000), 0);
}

TEST_F(DirectCopiesTest, AreTheUsersToAllow) {
    EXPECT_TRUE(all[0].work_with_all());
    all[0].allow(false);
    EXPECT_FALSE(all[0].are_allowed());
    EXPECT_FALSE(all[0].work_with(1) || all[0].work_with_all());
    all[0].allow(true);
    EXPECT_TRUE(all[0].work_with(1) && all[0].work_with_all());
}

// The peer is in another namespace, and its process id belongs to a different process here.
TEST_F(DirectCopiesTest, AreRefusedWhereSomebodyElseHasTheId) {
    const uint64_t other = 7;
    node.of(1).member(1).reach.probe_address = address_of(&other);
    EXPECT_FALSE(all[0].work_with(1));
    EXPECT_TRUE(all[0].work_with(2));
    EXPECT_FALSE(all[0].work_with_all());
    EXPECT_TRUE(all[1].work_with_all()) << "to oneself nothing need be tried";
}

TEST_F(DirectCopiesTest, AreTriedOnce) {
    EXPECT_TRUE(all[0].work_with(1));
    node.of(1).member(1).reach.probe_address = 0;
    EXPECT_TRUE(all[0].work_with(1));
    EXPECT_FALSE(all[2].work_with(1));
    node.of(1).member(1).reach.probe_address = address_of(&node.of(1).member(1).reach.probe_value);
    EXPECT_FALSE(all[2].work_with(1));
}

TEST_F(DirectCopiesTest, AreRefusedWhereNobodyHasTheId) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    node.of(1).member(1).reach.process = child;
    EXPECT_FALSE(all[0].work_with(1));
}

TEST_F(DirectCopiesTest, EndWithTheFirstThatFails) {
    std::byte here[16] = {};
    iovec run{here, sizeof here};
    for (bool writes : {false, true}) {
        uint32_t from = writes ? 2 : 0;
        EXPECT_TRUE(all[from].work_with(1));
        std::string why = sentence(writes ? all[from].write(1, &run, 1, 0, sizeof here)
                                          : all[from].read(1, &run, 1, 0, sizeof here));
        EXPECT_TRUE(why.starts_with(writes ? "process_vm_writev: " : "process_vm_readv: ")) << why;
        EXPECT_FALSE(all[from].work_with(1));
    }
    EXPECT_TRUE(all[0].work_with(2));
}

TEST_F(DirectCopiesTest, SayWhenOnlyAPartIsThere) {
    auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void *two = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(two, MAP_FAILED);
    ASSERT_EQ(mprotect(static_cast<std::byte *>(two) + page, page, PROT_NONE), 0);
    std::vector<std::byte> here(2 * page);
    iovec run{here.data(), here.size()};
    EXPECT_EQ(sentence(all[0].read(1, &run, 1, address_of(two), here.size())),
              "process_vm_readv read only a part");
    EXPECT_EQ(sentence(all[2].write(1, &run, 1, address_of(two), here.size())),
              "process_vm_writev wrote only a part");
    EXPECT_FALSE(all[0].work_with(1) || all[2].work_with(1));
    munmap(two, 2 * page);
}

}  // namespace
}  // namespace lanyard
