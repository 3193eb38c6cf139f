// Tests the table of targets: the ids that it gives, and finding a target by its id.
#include "p2p/target.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <vector>


namespace lanyard {
namespace {

class SomeTarget final : public Target {};

uint64_t add(TargetTable &table, Target &target) {
    table.add(target);
    return target.id();
}

TEST(TargetTable, FindsEachByItsId) {
    std::deque<SomeTarget> targets(1000);
    TargetTable table;
    std::vector<uint64_t> ids;
    for (Target &target : targets) ids.push_back(add(table, target));
    EXPECT_EQ(std::set<uint64_t>(ids.begin(), ids.end()).size(), ids.size());
    EXPECT_FALSE(std::set<uint64_t>(ids.begin(), ids.end()).contains(0));
    for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(table.find(ids[i]), &targets[i]) << i;
    EXPECT_EQ(table.count(), 1000u);
}

TEST(TargetTable, AnIdThatIsOverFindsNothing) {
    std::deque<SomeTarget> targets(600);
    TargetTable table;
    std::vector<uint64_t> ids;
    for (Target &target : targets) ids.push_back(add(table, target));
    for (Target &target : targets) table.remove(target);
    for (Target &target : targets) table.add(target);
    for (uint64_t id : ids) EXPECT_EQ(table.find(id), nullptr) << id;
    EXPECT_EQ(table.find(0), nullptr);
    EXPECT_EQ(table.find(UINT64_MAX), nullptr);
}

// Ids are below 2^30, because paths write such ids in fewer bytes. A single target gets four million
// different ids before one repeats.
TEST(TargetTable, IdsOfFewAreSmallAndLong) {
    SomeTarget target;
    TargetTable table;
    uint64_t first = add(table, target), id = first, times = 0;
    do {
        ASSERT_LT(id, uint64_t{1} << 30);
        ASSERT_EQ(table.find(id), &target);
        table.remove(target);
        ASSERT_EQ(table.find(id), nullptr);
        id = add(table, target);
        ++times;
    } while (id != first);
    EXPECT_EQ(times, (uint64_t{1} << 22) - 1);
}

}  // namespace
}  // namespace lanyard
