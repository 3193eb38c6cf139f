// Tests the locality of processors. The tests describe hosts in files, with packages, memory nodes, cores and
// caches. They use only the processors on which they may run, so they cover less on a machine with one
// processor.
#include "base/locality.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace lanyard {
namespace {

class Described : public ::testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/lanyard-locality-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        root = name;
        ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
        for (int i = 0; i < CPU_SETSIZE; ++i)
            if (CPU_ISSET(i, &before)) mine.push_back(i);
    }
    void TearDown() override {
        sched_setaffinity(0, sizeof before, &before);
        std::filesystem::remove_all(root);
    }
    void write(const std::string &path, const std::string &text) {
        std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
        std::ofstream(root + path) << text << "\n";
    }
    // Describes processor `number`. Its package, core and L3 cache are each named by the first of their
    // processors, and its memory node by a number.
    void describe(int number, int package, int node, int core, int l3) {
        std::string folder = "/cpu/cpu" + std::to_string(number);
        auto list = [](int first) { return std::to_string(first) + "-" + std::to_string(first + 99); };
        write(folder + "/topology/package_cpus_list", list(package));
        write(folder + "/topology/core_cpus_list", list(core));
        std::filesystem::create_directories(root + folder + "/node" + std::to_string(node));
        const char *types[] = {"Instruction", "Data", "Unified", "Unified"};
        int levels[] = {1, 1, 2, 3}, shared[] = {77777, core, core, l3};
        for (int i = 0; i < 4; ++i) {
            std::string cache = folder + "/cache/index" + std::to_string(i);
            write(cache + "/level", std::to_string(levels[i]));
            write(cache + "/type", types[i]);
            write(cache + "/shared_cpu_list", list(shared[i]));
        }
    }
    int32_t at(const Locality &locality, Resource resource) {
        return locality.instance[static_cast<int>(resource)];
    }

    std::string root;
    cpu_set_t before;
    std::vector<int> mine;
};

TEST_F(Described, WithinWhatAllItsProcessorsShare) {
    for (int number : mine) describe(number, 0, 3, number, 5);
    Locality locality = own_locality(root);
    EXPECT_EQ(at(locality, Resource::package), 0);
    EXPECT_EQ(at(locality, Resource::numa_node), 3);
    EXPECT_EQ(at(locality, Resource::l3_cache), 5);
    EXPECT_EQ(at(locality, Resource::die), Locality::unknown);
    bool one = mine.size() == 1;
    for (Resource resource : {Resource::l2_cache, Resource::l1_cache, Resource::core, Resource::processor}) {
        EXPECT_EQ(locality.within_one(resource), one);
        EXPECT_EQ(at(locality, resource), one ? mine[0] : Locality::not_within);
    }
}

TEST_F(Described, FollowsTheThreadsAffinity) {
    for (int number : mine) describe(number, number, number % 2, number, number);
    for (int number : mine) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(number, &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        Locality locality = own_locality(root);
        EXPECT_EQ(at(locality, Resource::package), number);
        EXPECT_EQ(at(locality, Resource::numa_node), number % 2);
        EXPECT_EQ(at(locality, Resource::processor), number);
    }
}

TEST_F(Described, KnowsNothingWhereNothingIsTold) {
    Locality locality = own_locality(root);
    EXPECT_EQ(at(locality, Resource::package), Locality::unknown);
    EXPECT_EQ(at(locality, Resource::l3_cache), Locality::unknown);
}

TEST(Resources, HaveNames) {
    for (int r = 0; r < resources; ++r)
        EXPECT_EQ(resource_called(name_of(static_cast<Resource>(r))), static_cast<Resource>(r));
    EXPECT_EQ(resource_called("socket"), Resource::package);
    EXPECT_EQ(resource_called("NUMA"), Resource::numa_node);
    EXPECT_EQ(resource_called("l3cache"), Resource::l3_cache);
    EXPECT_EQ(resource_called("HWTHREAD"), Resource::processor);
    for (const char *other : {"", "hwloc://", "L4Cache", "mpi_shared_memory", "Corea"})
        EXPECT_EQ(resource_called(other), Resource::count_of_them);
}

}  // namespace
}  // namespace lanyard
