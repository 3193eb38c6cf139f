// Tests memory that all processes of a node map: how blocks are allocated, found and freed.
#include "path/shm/shared_blocks.h"

#include <gtest/gtest.h>

#include <cstring>

#include "conformance/shm_connected.h"
#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

constexpr size_t least = SharedBlocks::least_bytes;
constexpr auto need = Segment::Need::necessity;

SharedBlocks &blocks_of(const conformance::ShmConnected &node, size_t member) {
    return static_cast<ShmPath &>(*node.paths[member]).blocks();
}

uint64_t address_of(const void *memory) { return reinterpret_cast<uintptr_t>(memory); }

TEST(SharedBlocks, AreTheSameMemoryForAll) {
    conformance::ShmConnected node(3, false);
    SharedBlocks &own = blocks_of(node, 0), &other = blocks_of(node, 1);
    auto *memory = static_cast<std::byte *>(own.allocate(least + 100, need));
    ASSERT_NE(memory, nullptr);
    for (size_t i = 0; i < least + 100; ++i) ASSERT_EQ(memory[i], std::byte{0});
    std::byte *seen = other.find(0, address_of(memory) + 50, least + 50);
    ASSERT_NE(seen, nullptr);
    EXPECT_NE(seen, memory + 50);
    seen[0] = std::byte{7};
    memory[least + 99] = std::byte{9};
    EXPECT_EQ(memory[50], std::byte{7});
    EXPECT_EQ(seen[least + 49], std::byte{9});
    EXPECT_EQ(blocks_of(node, 0).find(0, address_of(memory) + 1, 10), memory + 1) << "one's own";
    EXPECT_EQ(other.find(0, address_of(memory) + 50, least + 51), nullptr) << "more than there is";
    EXPECT_EQ(other.find(0, address_of(memory) - 1, 10), nullptr);
    EXPECT_EQ(other.find(0, address_of(memory), SIZE_MAX), nullptr);
    EXPECT_EQ(other.find(1, address_of(memory), 10), nullptr) << "another process's address";
    EXPECT_EQ(other.find(2, address_of(memory), 10), nullptr);
    EXPECT_FALSE(other.free(memory));
    EXPECT_FALSE(own.free(memory + 1));
    EXPECT_TRUE(own.free(memory));
    EXPECT_FALSE(own.free(memory));
    EXPECT_EQ(other.find(0, address_of(memory), 10), nullptr);
}

// Allocates more blocks than a page of the list holds, and a block longer than MPI_Alloc_mem obtains.
TEST(SharedBlocks, AreAsManyAndAsLongAsThereIsRoomFor) {
    conformance::ShmConnected node(2, false);
    SharedBlocks &own = blocks_of(node, 0);
    EXPECT_EQ(own.allocate(SIZE_MAX, need), nullptr);
    EXPECT_EQ(own.allocate(size_t{1} << 50, need), nullptr);
    SharedBlocks &other = blocks_of(node, 1);
    for (int round = 0; round < 2; ++round) {
        std::vector<void *> all;
        for (uint64_t i = 0; i < 400; ++i) {
            void *memory = own.allocate(least, need);
            ASSERT_NE(memory, nullptr) << i;
            std::memcpy(memory, &i, sizeof i);
            all.push_back(memory);
        }
        for (uint64_t i = 0; i < all.size(); ++i) {
            std::byte *seen = other.find(0, address_of(all[i]), least);
            ASSERT_NE(seen, nullptr) << i;
            EXPECT_EQ(std::memcmp(seen, &i, sizeof i), 0);
        }
        for (void *memory : all) EXPECT_TRUE(own.free(memory));
        for (void *memory : all) EXPECT_EQ(other.find(0, address_of(memory), 1), nullptr);
    }
    constexpr size_t much = size_t{257} << 20;
    EXPECT_EQ(own.allocate(much, Segment::Need::convenience), nullptr);
    void *memory = own.allocate(much, need);
    ASSERT_NE(memory, nullptr);
    EXPECT_NE(other.find(0, address_of(memory), much), nullptr);
    EXPECT_TRUE(own.free(memory));
}

TEST(SharedBlocks, AreShortOnlyAsFarAsMappingsLast) {
    conformance::ShmConnected node(2, false);
    SharedBlocks &own = blocks_of(node, 0);
    std::vector<void *> all;
    for (size_t i = 0; i < SharedBlocks::most_short; ++i) {
        all.push_back(own.allocate(least, need));
        ASSERT_NE(all.back(), nullptr) << i;
    }
    EXPECT_EQ(own.allocate(least, need), nullptr);
    EXPECT_EQ(own.allocate(SharedBlocks::long_bytes - 1, need), nullptr);
    void *memory = own.allocate(SharedBlocks::long_bytes, need);
    ASSERT_NE(memory, nullptr) << "a long one needs its mapping anyway";
    EXPECT_TRUE(own.free(memory));
    EXPECT_EQ(own.allocate(least, need), nullptr) << "the block that was freed was not a short one";
    EXPECT_TRUE(own.free(all.back()));
    all.back() = own.allocate(least, need);
    EXPECT_NE(all.back(), nullptr);
    for (void *each : all) EXPECT_TRUE(own.free(each));
}

// Random blocks are allocated and freed, and their addresses are used again. A peer always finds the present
// block.
TEST(SharedBlocks, AreNeverTakenForEarlierOnes) {
    sim::for_seeds(10, 3, [](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        sim::Random random(seed);
        conformance::ShmConnected node(2, false);
        SharedBlocks &own = blocks_of(node, 0), &other = blocks_of(node, 1);
        struct Block {
            std::byte *memory;
            size_t bytes;
            uint64_t mark;
        };
        std::vector<Block> there;
        for (int step = 0; step < 300; ++step) {
            if (there.empty() || (there.size() < 250 && random.chance(60))) {
                size_t bytes = least + random.below(3) * 4096 + random.below(10);
                auto *memory = static_cast<std::byte *>(own.allocate(bytes, need));
                if (!memory) return false;
                uint64_t mark = random.below(UINT64_MAX);
                std::memcpy(memory, &mark, sizeof mark);
                std::memcpy(memory + bytes - sizeof mark, &mark, sizeof mark);
                there.push_back({memory, bytes, mark});
            } else {
                size_t which = random.below(there.size());
                EXPECT_TRUE(own.free(there[which].memory));
                there[which] = there.back();
                there.pop_back();
            }
            for (const Block &each : there) {
                if (random.chance(50)) continue;
                std::byte *seen = other.find(0, address_of(each.memory), each.bytes);
                if (!seen) return false;
                EXPECT_EQ(std::memcmp(seen, &each.mark, sizeof each.mark), 0);
                EXPECT_EQ(std::memcmp(seen + each.bytes - sizeof each.mark, &each.mark, sizeof each.mark), 0);
            }
            if (::testing::Test::HasFailure()) return false;
        }
        for (const Block &each : there) own.free(each.memory);
        return true;
    });
}

}  // namespace
}  // namespace lanyard
