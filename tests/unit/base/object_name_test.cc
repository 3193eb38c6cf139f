// Tests that a name which threads set and read at the same time is always read whole.
#include "base/object_name.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace lanyard {
namespace {

TEST(ObjectName, IsEmptyUntilItIsSet) {
    ObjectName name;
    EXPECT_EQ(name.get(), "");
    name.set("row");
    EXPECT_EQ(name.get(), "row");
    name.set("");
    EXPECT_EQ(name.get(), "");
}

TEST(ObjectName, IsReadWholeWhileItIsReplaced) {
    // A short name, which std::string keeps in itself, and a long one, which it keeps elsewhere.
    const std::string names[] = {"row", std::string(100, 'x')};
    constexpr int rounds = 5000;
    ObjectName name;
    name.set(names[0]);
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < rounds; ++round) name.set(names[round % 2]);
        });
        threads.emplace_back([&] {
            int torn = 0;
            for (int round = 0; round < rounds; ++round) {
                std::string seen = name.get();
                torn += seen != names[0] && seen != names[1];
            }
            EXPECT_EQ(torn, 0);
        });
    }
    for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace lanyard
