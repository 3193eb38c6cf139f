// Compares CRC32C with the vectors of RFC 3720 (B.4) and with a bit-by-bit reference.
#include "base/crc32c.h"

#include <gtest/gtest.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <vector>

#include "net/sim/random.h"

namespace lanyard {
namespace {

uint32_t bit_by_bit(const std::vector<unsigned char> &bytes) {
    uint32_t rest = ~0u;
    for (unsigned char byte : bytes) {
        rest ^= byte;
        for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0x82f63b78 : 0);
    }
    return ~rest;
}

TEST(Crc32c, IsTheOneOfTheStandard) {
    Crc32c crc;
    EXPECT_FALSE(crc);
    Error error = Crc32c::load(crc);
    ASSERT_FALSE(error) << error.sentence();
    ASSERT_TRUE(crc);
    EXPECT_EQ(crc("123456789", 9), 0xe3069283u);
    EXPECT_EQ(crc("", 0), 0u);
    std::vector<unsigned char> bytes(32);
    EXPECT_EQ(crc(bytes.data(), 32), 0x8a9136aau);
    bytes.assign(32, 0xff);
    EXPECT_EQ(crc(bytes.data(), 32), 0x62a8ab43u);
}

void compare_with_bit_by_bit(const Crc32c &crc) {
    sim::Random random(1);
    for (int round = 0; round < 300; ++round) {
        // The longer inputs span several of the parts that a CRC function computes side by side.
        std::vector<unsigned char> bytes(random.below(round % 10 ? 2000 : 20'000));
        for (unsigned char &byte : bytes) byte = static_cast<unsigned char>(random.next());
        size_t cut = random.below(bytes.size() + 1);
        uint32_t whole = bit_by_bit(bytes);
        EXPECT_EQ(crc(bytes.data(), bytes.size()), whole);
        EXPECT_EQ(crc(bytes.data() + cut, bytes.size() - cut, crc(bytes.data(), cut)), whole);
    }
}

TEST(Crc32c, GoesOnFromWhatCameBefore) {
    Crc32c crc;
    ASSERT_FALSE(Crc32c::load(crc));
    compare_with_bit_by_bit(crc);
}

TEST(Crc32c, IsTheSameWithoutALibrary) {
    ASSERT_TRUE(Crc32c::built_in());
    compare_with_bit_by_bit(Crc32c::built_in());
    compare_with_bit_by_bit(Crc32c::of_table());
}

#if defined(__x86_64__)
// Returns, as bits, the upper parts of vector registers (beyond 128 bits) that the processor reports as in
// use.
uint32_t upper_halves_in_use() {
    uint32_t low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
    return low & (1u << 2 | 1u << 6);
}

// Upper halves left in use would slow down the SSE instructions of the program.
TEST(Crc32c, LeavesNoUpperHalvesInUse) {
    uint32_t can = 0, others[3];
    if (!__get_cpuid_count(0xd, 1, &can, &others[0], &others[1], &others[2]) || !(can & 1u << 2) ||
        !__builtin_cpu_supports("avx"))
        GTEST_SKIP() << "this processor does not say which registers are in use";
    Crc32c crc;
    ASSERT_FALSE(Crc32c::load(crc));
    std::vector<unsigned char> bytes(20'000);
    uint32_t made = crc(bytes.data(), bytes.size()), in_use = upper_halves_in_use();
    EXPECT_EQ(made, bit_by_bit(bytes));
    EXPECT_EQ(in_use, 0u);
}
#endif

}  // namespace
}  // namespace lanyard
