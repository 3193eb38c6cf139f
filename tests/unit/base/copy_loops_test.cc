// Each copy loop copies exactly the given bytes, for each alignment of source and target and many sizes.
#include "base/copy_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace lanyard {
namespace {

std::vector<unsigned char> random_bytes(size_t size) {
    std::mt19937 random(1);
    std::vector<unsigned char> bytes(size);
    for (unsigned char &byte : bytes) byte = static_cast<unsigned char>(random());
    return bytes;
}

class CopyLoopTest : public ::testing::Test {
protected:
    // Copies and compares the target, and 64 bytes before and behind it, with what memcpy would have made.
    ::testing::AssertionResult copies(const CopyLoop &loop, size_t to_skew, size_t from_skew, size_t bytes) {
        std::fill(to.begin(), to.end(), static_cast<unsigned char>(0xA5));
        std::vector<unsigned char> expected(to);
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(from_skew), bytes,
                    expected.begin() + static_cast<std::ptrdiff_t>(64 + to_skew));
        loop.copy(to.data() + 64 + to_skew, from.data() + from_skew, bytes);
        if (to == expected) return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure() << loop.name << ": " << bytes << " bytes from an address + "
                                             << from_skew << " to one + " << to_skew;
    }

    static constexpr size_t most = 1024;
    std::vector<unsigned char> from = random_bytes(most + 64), to = std::vector<unsigned char>(most + 192);
};

TEST_F(CopyLoopTest, CopiesTheseBytesAndNoOthers) {
    for (const CopyLoop &loop : copy_loops())
        for (size_t to_skew = 0; to_skew < 64; ++to_skew)
            for (size_t from_skew : {0, 1, 31, 32, 63})
                for (size_t bytes : {0, 1, 63, 64, 65, 127, 128, 200, 511, 512, 513, 1000, 1024})
                    ASSERT_TRUE(copies(loop, to_skew, from_skew, bytes));
}

TEST_F(CopyLoopTest, CopiesEachSize) {
    for (const CopyLoop &loop : copy_loops())
        for (size_t bytes = 0; bytes <= most; ++bytes) ASSERT_TRUE(copies(loop, 5, 3, bytes));
}

TEST_F(CopyLoopTest, StreamingCopiesTheSame) {
    for (size_t skew : {0, 1, 63})
        for (size_t bytes = 0; bytes <= 400; ++bytes)
            ASSERT_TRUE(copies({"copy_streaming", copy_streaming, false}, skew, 3, bytes));
}

TEST_F(CopyLoopTest, LoopsHaveNamesAndMemcpyIsTheFirst) {
    EXPECT_STREQ(copy_loops().front().name, "memcpy");
    std::set<std::string> names;
    for (const CopyLoop &loop : copy_loops()) EXPECT_TRUE(names.insert(loop.name).second) << loop.name;
}

}  // namespace
}  // namespace lanyard
