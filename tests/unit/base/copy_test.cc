// Tests copy_few() for every size and alignment. The memory of source and target ends behind the last byte to
// copy, so the address sanitizer detects a byte too many on either side.
#include "base/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace lanyard {
namespace {

TEST(CopyFew, CopiesEachSizeAtEachAlignment) {
    for (size_t bytes = 0; bytes <= 32; ++bytes)
        for (size_t from = 0; from < 16; ++from)
            for (size_t to = 0; to < 16; ++to) {
                std::vector<unsigned char> source(from + bytes), target(to + bytes, 0xee),
                    wanted(to + bytes, 0xee);
                for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(1 + i * 5);
                std::copy(source.begin() + static_cast<long>(from), source.end(),
                          wanted.begin() + static_cast<long>(to));
                copy_few(target.data() + to, source.data() + from, bytes);
                ASSERT_EQ(target, wanted) << bytes << " bytes from " << from << " to " << to;
            }
}

TEST(CopyFew, LeavesWhatIsBehindAlone) {
    for (size_t bytes = 0; bytes <= 32; ++bytes) {
        std::vector<unsigned char> source(64, 1), target(64, 2), wanted(64, 2);
        std::fill_n(wanted.begin() + 16, bytes, static_cast<unsigned char>(1));
        copy_few(target.data() + 16, source.data(), bytes);
        ASSERT_EQ(target, wanted) << bytes << " bytes";
    }
}

}  // namespace
}  // namespace lanyard
