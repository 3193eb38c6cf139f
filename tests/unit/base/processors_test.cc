// Tests the number of processors that this process may use. The affinity is narrowed in a separate thread, so
// no other thread is affected.
#include "base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <thread>

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

}  // namespace
}  // namespace lanyard
