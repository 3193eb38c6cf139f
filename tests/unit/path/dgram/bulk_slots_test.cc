// Tests the slots of bulk that is being sent: each payload has its own, and released slots are used again.
#include "path/dgram/bulk_slots.h"

#include <gtest/gtest.h>

namespace lanyard::dgram {
namespace {

TEST(BulkSlots, GivesEachItsOwnAndUsesThemAgain) {
    BulkSlots slots;
    std::byte memory[30];
    auto take = [&](uint32_t peer, size_t at, uint64_t token) {
        Payload payload{memory + at, 10};
        return slots.take(peer, payload, token);
    };
    uint32_t first = take(1, 0, 100), second = take(2, 10, 200);
    EXPECT_NE(first, second);
    EXPECT_EQ(slots.data(first), memory);
    EXPECT_EQ(slots.data(second), memory + 10);
    EXPECT_EQ(slots.count(), 2u);
    EXPECT_EQ(slots.release(first), 100u);
    EXPECT_EQ(slots.count(), 1u);
    EXPECT_EQ(take(1, 20, 300), first);
    EXPECT_EQ(slots.data(first), memory + 20);
    EXPECT_EQ(slots.release(second), 200u);
    EXPECT_EQ(slots.release(first), 300u);
    EXPECT_EQ(slots.count(), 0u);
}

TEST(BulkSlots, ThoseOfAPeerThatIsLostAreReleased) {
    BulkSlots slots;
    std::byte memory[10];
    for (uint64_t i = 0; i < 6; ++i) {
        Payload payload{memory, sizeof memory};
        slots.take(i % 3 == 1 ? 4 : 5, payload, i);
    }
    slots.release(1);
    std::vector<uint64_t> tokens;
    slots.for_each_of(4, [&](size_t slot) { tokens.push_back(slots.release(slot)); });
    EXPECT_EQ(tokens, std::vector<uint64_t>{4});
    slots.for_each_of(4, [&](size_t) { ADD_FAILURE(); });
    EXPECT_EQ(slots.count(), 4u);
}

}  // namespace
}  // namespace lanyard::dgram
