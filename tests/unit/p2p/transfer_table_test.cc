#include "p2p/transfer_table.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "p2p/transfer.h"

namespace lanyard {
namespace {

TEST(TransferTable, FindsEachByItsId) {
    std::vector<Transfer> transfers(1000);
    TransferTable table;
    std::vector<uint64_t> ids;
    for (Transfer &transfer : transfers) ids.push_back(table.add(transfer));
    EXPECT_EQ(std::set<uint64_t>(ids.begin(), ids.end()).size(), ids.size());
    EXPECT_FALSE(std::set<uint64_t>(ids.begin(), ids.end()).contains(0));
    for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(table.find(ids[i]), &transfers[i]) << i;
    EXPECT_EQ(table.count(), 1000u);
}

TEST(TransferTable, AnIdThatIsOverFindsNothing) {
    std::vector<Transfer> transfers(600);
    TransferTable table;
    std::vector<uint64_t> ids;
    for (Transfer &transfer : transfers) ids.push_back(table.add(transfer));
    for (uint64_t id : ids) table.remove(id);
    for (Transfer &transfer : transfers) table.add(transfer);
    for (uint64_t id : ids) EXPECT_EQ(table.find(id), nullptr) << id;
    EXPECT_EQ(table.find(0), nullptr);
    EXPECT_EQ(table.find(UINT64_MAX), nullptr);
}

// Below 2^30, as paths write those in fewer bytes, and another each time for four million times.
TEST(TransferTable, IdsOfFewAreSmallAndLong) {
    Transfer transfer;
    TransferTable table;
    uint64_t first = table.add(transfer), id = first, times = 0;
    do {
        ASSERT_LT(id, uint64_t{1} << 30);
        ASSERT_EQ(table.find(id), &transfer);
        table.remove(id);
        ASSERT_EQ(table.find(id), nullptr);
        id = table.add(transfer);
        ++times;
    } while (id != first);
    EXPECT_EQ(times, (uint64_t{1} << 22) - 1);
}

}  // namespace
}  // namespace lanyard
