// Tests info objects: order of keys, replacement, limits, copies, and the contents of MPI_INFO_ENV.
#include <gtest/gtest.h>

#include "comm/info.h"

namespace lanyard {
namespace {

struct InfoTest : ::testing::Test {
    Info *info = new_info();
    ~InfoTest() override { release_info(info); }

    std::string value_of(const Info &of, const char *key) {
        std::string value;
        bool found = false;
        EXPECT_FALSE(of.get(key, value, found));
        return found ? value : "(absent)";
    }
    static int code(Error error) { return error.take().code; }
};

TEST_F(InfoTest, KeepsTheOrderOfKeys) {
    for (const char *key : {"c", "a", "b"}) ASSERT_FALSE(info->set(key, key));
    ASSERT_FALSE(info->set("a", "again"));
    std::string key;
    for (int n = 0; const char *wanted : {"c", "a", "b"}) {
        ASSERT_FALSE(info->nth_key(n++, key));
        EXPECT_EQ(key, wanted);
    }
    EXPECT_EQ(info->keys(), 3);
    EXPECT_EQ(value_of(*info, "a"), "again");
    EXPECT_EQ(code(info->nth_key(3, key)), static_cast<int>(ErrorClass::arg));
    ASSERT_FALSE(info->remove("c"));
    ASSERT_FALSE(info->nth_key(0, key));
    EXPECT_EQ(key, "a");
    EXPECT_EQ(code(info->remove("c")), static_cast<int>(ErrorClass::info_nokey));
}

TEST_F(InfoTest, RefusesWhatIsTooLong) {
    EXPECT_FALSE(info->set(std::string(255, 'k'), std::string(1023, 'v')));
    EXPECT_EQ(code(info->set(std::string(256, 'k'), "v")), static_cast<int>(ErrorClass::info_key));
    EXPECT_EQ(code(info->set("k", std::string(1024, 'v'))), static_cast<int>(ErrorClass::info_value));
    EXPECT_EQ(code(info->set("", "v")), static_cast<int>(ErrorClass::info_key));
}

TEST_F(InfoTest, ACopyIsItsOwn) {
    ASSERT_FALSE(info->set("key", "first"));
    Info *copy = duplicate(*info);
    ASSERT_FALSE(info->set("key", "second"));
    EXPECT_EQ(value_of(*copy, "key"), "first");
    EXPECT_NE(copy, info);
    release_info(copy);
}

TEST_F(InfoTest, KnowsHowTheProcessWasStarted) {
    fill_environment(*info, {.maxprocs = 7, .thread_level = abi::thread_multiple, .soft = "1:7"});
    EXPECT_EQ(value_of(*info, "maxprocs"), "7");
    EXPECT_EQ(value_of(*info, "thread_level"), "MPI_THREAD_MULTIPLE");
    EXPECT_EQ(value_of(*info, "soft"), "1:7");
    EXPECT_NE(value_of(*info, "command").find("unit-comm"), std::string::npos);
    for (const char *key : {"host", "arch", "wdir"}) EXPECT_NE(value_of(*info, key), "(absent)") << key;
    EXPECT_EQ(value_of(*info, "file"), "(absent)");
}

}  // namespace
}  // namespace lanyard
