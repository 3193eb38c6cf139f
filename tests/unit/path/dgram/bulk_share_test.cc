// The receiver's budget, shared among those that send.
#include "path/dgram/bulk_share.h"

#include <gtest/gtest.h>

namespace lanyard::dgram {
namespace {

constexpr uint64_t lately_ns = 1000;

TEST(BulkShare, LimitsNobodyWhoIsAlone) {
    BulkShare share(80'000);
    uint32_t mark = 0;
    EXPECT_EQ(share.window(1472, 1), no_limit);
    for (uint64_t now_ns = 1; now_ns < 20'000; now_ns += 100) {
        share.came(mark, lately_ns, now_ns);
        ASSERT_EQ(share.window(1472, now_ns), no_limit);
    }
}

TEST(BulkShare, IsDividedAmongSendersAndGrowsAgainAfterThem) {
    BulkShare share(80'000);
    uint32_t marks[4] = {};
    for (uint64_t now_ns = 1; now_ns < 5000; now_ns += 100)
        for (uint32_t &mark : marks) share.came(mark, lately_ns, now_ns);
    EXPECT_EQ(share.window(1472, 5000), 20'000u);
    EXPECT_EQ(share.window(30'000, 5000), 30'000u) << "one packet at least";
    for (uint64_t now_ns = 5000; now_ns < 8000; now_ns += 100) share.came(marks[0], lately_ns, now_ns);
    EXPECT_EQ(share.window(1472, 8000), no_limit);
}

TEST(BulkShare, LooksFurtherBackForSlowSenders) {
    BulkShare share(80'000);
    uint32_t marks[2] = {};
    for (uint64_t now_ns = 1; now_ns < 100'000; now_ns += 5000)
        for (uint32_t &mark : marks) share.came(mark, 10'000, now_ns);
    EXPECT_EQ(share.window(1472, 99'000), 40'000u);
    EXPECT_EQ(share.window(1472, 200'000), no_limit);
}

}  // namespace
}  // namespace lanyard::dgram
