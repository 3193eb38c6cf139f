// Creates and ends communicators among ranks that are threads. Tests that their node memory comes back to the
// process that allocated it.
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/comm/thread_job.h"

namespace lanyard {
namespace {

// Whichever rank leaves last, the memory returns to the rank that allocates.
TEST(NodeAreas, DoNotPileUp) {
    test::HeapMemory *memory = nullptr;
    int most = 0;
    test::run_job(3, 3, 1, [&](test::Rank &rank) {
        if (rank.world().rank == 0) memory = static_cast<test::HeapMemory *>(rank.universe.node_memory);
        for (int i = 0; i < 50; ++i) {
            Comm *copy = nullptr;
            ASSERT_FALSE(duplicate_comm(rank.world(), nullptr, copy));
            test::ring(*copy);
            if (rank.world().rank == 0) most = std::max(most, memory->used());
            ASSERT_FALSE(free_comm(copy));
        }
    });
    EXPECT_LE(most, 4);  // one in use, and those that some rank has not left yet
}

// The node memory of one process, which counts its own areas in use.
class OwnMemory final : public NodeMemory {
public:
    explicit OwnMemory(NodeMemory &shared) : shared_(shared) {}
    bool allocate(size_t bytes, uint64_t &offset) override {
        ++in_use;
        return shared_.allocate(bytes, offset);
    }
    std::byte *open(uint64_t offset, size_t bytes) override { return shared_.open(offset, bytes); }
    void close(uint64_t offset, std::byte *memory, size_t bytes) override {
        shared_.close(offset, memory, bytes);
    }
    bool empty(uint64_t offset, size_t bytes) override { return shared_.empty(offset, bytes); }
    void release(uint64_t offset, size_t bytes, bool emptied) override {
        --in_use;
        shared_.release(offset, bytes, emptied);
    }
    int in_use = 0;

private:
    NodeMemory &shared_;
};

// The process that allocates an area releases it too, also if it does not become rank 0 of the communicator.
// Otherwise it could never use the area again.
TEST(NodeAreas, ReturnToTheirAllocator) {
    test::run_job(4, 4, 3, [&](test::Rank &rank) {
        Comm &world = rank.world();
        NodeMemory *shared = rank.universe.node_memory;
        OwnMemory own(*shared);
        rank.universe.node_memory = &own;
        for (bool first_is_high : {false, true}) {
            Comm *half = nullptr, *inter = nullptr, *merged = nullptr;
            bool upper = world.rank >= 2;
            ASSERT_FALSE(split_comm(world, CollectiveKind::comm_split, upper, world.rank, half));
            ASSERT_FALSE(create_intercomm(*half, 0, &world, upper ? 0 : 2, 5, inter));
            ASSERT_FALSE(merge_intercomm(*inter, first_is_high != upper, merged));
            EXPECT_EQ(merged->rank, (world.rank + (first_is_high ? 2 : 0)) % 4);
            test::ring(*merged);
            for (Comm *comm : {merged, inter, half}) {
                Comm *ended = comm;
                ASSERT_FALSE(free_comm(ended));
            }
        }
        for (int turn = 0; turn < world.size; ++turn) test::ring(world);  // all have left by then
        collect_areas(rank.universe);
        EXPECT_EQ(own.in_use, 0) << "rank " << world.rank;
        rank.universe.node_memory = shared;
    });
}

}  // namespace
}  // namespace lanyard
