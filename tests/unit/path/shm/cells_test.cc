// Tests the cells of a process: which are in use, and what they contain.
#include "path/shm/cells.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/copy.h"
#include "net/sim/random.h"
#include "sim/seeds.h"
#include "unit/path/shm/node.h"

namespace lanyard {
namespace {

// Cells are taken here, and read and freed by another process in any order. A list of the cells in use is the
// reference.
TEST(Cells, AreTakenByOneAtATime) {
    sim::for_seeds(50, 3, [](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        sim::Random random(seed);
        Node node(2);
        Cells cells(node.of(0), 0), of_other(node.of(1), 1);
        const uint32_t all = node.header().cells;
        std::map<uint32_t, std::vector<std::byte>> used;
        for (int step = 0; step < 300; ++step) {
            if (random.chance(50)) {
                auto count = static_cast<uint32_t>(1 + random.below(4));
                uint32_t taken[4];
                bool there_are = all - used.size() >= count;
                EXPECT_EQ(cells.take(taken, count), there_are);
                for (uint32_t i = 0; there_are && i < count; ++i) {
                    size_t size = random.below(cell_bytes + 1);
                    std::vector<std::byte> bytes = content(random.next(), size);
                    Payload payload{bytes.data(), size, nullptr};
                    cells.fill(taken[i], payload, size);
                    EXPECT_LT(taken[i], all);
                    EXPECT_TRUE(used.emplace(taken[i], std::move(bytes)).second)
                        << "cell " << taken[i] << " is in use";
                }
            } else if (!used.empty()) {
                auto one = std::next(used.begin(), static_cast<std::ptrdiff_t>(random.below(used.size())));
                EXPECT_EQ(std::memcmp(node.of(1).cell(0, one->first), one->second.data(), one->second.size()),
                          0);
                Cells::give_back(node.of(1).member(0), one->first);
                used.erase(one);
            }
            EXPECT_EQ(cells.in_use(), used.size());
            EXPECT_EQ(of_other.in_use(), 0u);
        }
        return !::testing::Test::HasFailure();
    });
}

// Copies between a cell and a long block of malloc() are not slow then (base/copy.h).
TEST(Cells, BeginOffAPage) {
    Node node(2);
    for (uint32_t cell = 0; cell < node.header().cells; ++cell)
        EXPECT_EQ(reinterpret_cast<uintptr_t>(node.of(0).cell(1, cell)) % 4096, off_page);
}

TEST(Cells, AreTakenInACircle) {
    Node node(1);
    Cells cells(node.of(0), 0);
    std::set<uint32_t> taken;
    for (uint32_t turn = 0; turn < node.header().cells; ++turn) {
        uint32_t cell;
        ASSERT_TRUE(cells.take(&cell, 1));
        Cells::give_back(node.of(0).member(0), cell);
        EXPECT_TRUE(taken.insert(cell).second)
            << "cell " << cell << " again, while others wait for their turn";
    }
}

TEST(Cells, TakeThePayloadPieceByPiece) {
    Node node(1);
    Cells cells(node.of(0), 0);
    std::vector<std::byte> bytes = content(7, 3000);
    Payload payload{bytes.data(), bytes.size(), nullptr};
    cells.fill(1, payload, 1000);
    cells.fill(3, payload, 2000);
    EXPECT_EQ(payload.size, 0u);
    EXPECT_EQ(std::memcmp(node.of(0).cell(0, 1), bytes.data(), 1000), 0);
    EXPECT_EQ(std::memcmp(node.of(0).cell(0, 3), bytes.data() + 1000, 2000), 0);
}

}  // namespace
}  // namespace lanyard
