// Tests Streams in isolation. The owner must run ahead as far as there is room, the takers must get all
// pieces in order, and the owner must not wait for a taker that has left.
#include "coll/shm/streams.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "one_area.h"

namespace lanyard {
namespace {

using testing::Broadcast;
using testing::OneArea;

// Rank 0, which broadcasts `count` pieces. Every byte of a piece is the piece's number.
struct Owner : Broadcast {
    Owner(OneArea &area, int64_t count, const char *way = "twice")
        : Broadcast(area, 0, count * StageMemory::piece_bytes, way) {
        for (size_t i = 0; i < data.size(); ++i)
            data[i] = static_cast<std::byte>(i / size_t{StageMemory::piece_bytes});
    }
    // Posts in use 1 if there is room, and returns the place that the slot then contains.
    const SlotPlace &post() {
        streams.forget();
        streams.plan(task);
        if (streams.wanted() && streams.allot(task)) streams.post(task, 1, slot(1));
        return *reinterpret_cast<const SlotPlace *>(slot(1).short_payload);
    }

    Streams streams;
};

bool is_piece(const std::byte *piece, int64_t number) {
    return piece && std::count(piece, piece + StageMemory::piece_bytes, static_cast<std::byte>(number)) ==
                        StageMemory::piece_bytes;
}

TEST(Streams, AreNotWantedWhereOneCopyIs) {
    OneArea area(2);
    Owner owner(area, 4, "once");
    owner.post();
    EXPECT_FALSE(owner.streams.wanted());
}

TEST(Streams, OwnerWaitsForRoomAndTakersGetAllInOrder) {
    constexpr int64_t pieces = 3 * StageMemory::entries;
    OneArea area(3);
    Owner owner(area, pieces);
    const SlotPlace &told = owner.post();
    ASSERT_TRUE(owner.streams.wanted());
    EXPECT_EQ(StagedPlace::in(told).bytes, pieces * StageMemory::piece_bytes);
    int entries = StagedPlace::in(told).entries;
    AreaTeam takers[2] = {area.seen_by(1), area.seen_by(2)};
    IncomingStream first(takers[0], 0, told), second(takers[1], 0, told);
    EXPECT_TRUE(owner.streams.put(owner.task));
    EXPECT_FALSE(owner.streams.put(owner.task));  // there is no room left
    for (int64_t piece = 0; piece < pieces; ++piece) {
        ASSERT_TRUE(is_piece(first.piece(piece), piece));
        first.taken(piece);
        owner.streams.put(owner.task);
        // There is no room for the next piece until the second taker has taken this one.
        ASSERT_TRUE(piece + entries >= pieces || !first.piece(piece + entries));
        ASSERT_TRUE(is_piece(second.piece(piece), piece));
        second.taken(piece);
        if (owner.streams.open()) owner.streams.put(owner.task);
    }
    EXPECT_FALSE(owner.streams.open());
}

TEST(Streams, NobodyWaitsForWhoLeaves) {
    constexpr int64_t pieces = 2 * StageMemory::entries;
    OneArea area(3);
    Owner owner(area, pieces);
    const SlotPlace &told = owner.post();
    AreaTeam takers[2] = {area.seen_by(1), area.seen_by(2)};
    IncomingStream first(takers[0], 0, told), second(takers[1], 0, told);
    area.fall_asleep(0);
    second.leave();
    EXPECT_FALSE(area.asleep(0));
    owner.streams.put(owner.task);
    for (int64_t piece = 0; piece < pieces; ++piece) {
        ASSERT_TRUE(is_piece(first.piece(piece), piece));
        first.taken(piece);
        if (owner.streams.open()) owner.streams.put(owner.task);
    }
    EXPECT_FALSE(owner.streams.open());
}

// If other ranks never take the pieces that an earlier broadcast has left in the stage, the next broadcast
// posts an address instead.
TEST(Streams, AreNotWantedForEverWhereThereIsNoRoom) {
    OneArea area(2);
    Owner owner(area, 2 * StageMemory::entries);
    for (int turn = 0; turn < 2; ++turn) {
        owner.post();
        ASSERT_TRUE(owner.streams.wanted());
        owner.streams.put(owner.task);
    }
    owner.streams.forget();
    owner.streams.plan(owner.task);
    ASSERT_TRUE(owner.streams.wanted());
    EXPECT_FALSE(owner.streams.allot(owner.task));
    while (!owner.streams.allot(owner.task)) {
    }
    EXPECT_FALSE(owner.streams.wanted());
    EXPECT_FALSE(owner.streams.open());
}

}  // namespace
}  // namespace lanyard
