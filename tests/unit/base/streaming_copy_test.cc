// copy_streaming() copies exactly the given bytes, for each size and alignment of the target.
#include "base/streaming_copy.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace lanyard {
namespace {

TEST(StreamingCopy, CopiesTheseBytesAndNoOthers) {
    std::vector<unsigned char> from(1000);
    std::iota(from.begin(), from.end(), 1);
    for (size_t skew : {0, 1, 7, 16, 63, 64})
        for (size_t bytes = 0; bytes <= 400; ++bytes) {
            std::vector<unsigned char> to(600, 0), expected(600, 0);
            std::copy_n(from.begin() + 3, bytes, expected.begin() + static_cast<std::ptrdiff_t>(skew));
            copy_streaming(to.data() + skew, from.data() + 3, bytes);
            ASSERT_EQ(to, expected) << skew << " " << bytes;
        }
}

}  // namespace
}  // namespace lanyard
