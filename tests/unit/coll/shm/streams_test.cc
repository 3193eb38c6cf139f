// Tests Streams in isolation. The owner must run ahead as far as there is room, the takers must get all
// pieces in order, and the owner must not wait for a taker that has left. Rates of combined data must be kept
// apart from those of data that is only copied.
#include "coll/shm/streams.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/abi_constants.h"
#include "coll/shm/copy_choice.h"
#include "datatype/predefined.h"
#include "one_area.h"

namespace lanyard {
namespace {

using testing::Broadcast;
using testing::OneArea;
using testing::Side;

// Rank 0, which broadcasts `count` pieces. Every byte of a piece is the piece's number.
struct Owner : Broadcast {
    Owner(OneArea &area, int64_t count, const char *method = "twice")
        : Broadcast(area, 0, count * StageMemory::piece_bytes, method) {
        for (size_t i = 0; i < data.size(); ++i)
            data[i] = static_cast<std::byte>(i / size_t{StageMemory::piece_bytes});
    }
    // Posts in use 1 if there is room, and returns the place that the slot then contains.
    const SlotPlace &post() {
        streams.forget();
        streams.plan(task);
        if (streams.wanted() && streams.allot(task)) streams.post(task, 1);
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

// Notes the rates of all parts of copies, as often as they are tried in the exchange of this schedule.
void learn(const Side &side, int64_t bytes) {
    for (auto part : {CopyRates::Part::direct, CopyRates::Part::put, CopyRates::Part::taken})
        for (int i = 0; i <= CopyRates::trials; ++i) {
            CopyMeter meter;
            meter.add(bytes, 1000);
            meter.tell(side.task, part, bytes);
        }
}

TEST(CopyChoice, DataThatIsCombinedHasRatesOfItsOwn) {
    constexpr auto copied = CopyRates::Kind::copied, combined = CopyRates::Kind::combined;
    constexpr int64_t bytes = 100'000;
    ReduceShape shape;
    shape.size = 2;
    shape.root = 1;
    // With elements of one byte, pieces may begin at any byte, as if the data were only copied.
    shape.contribution = {Space::send, 0, bytes, predefined_datatype(abi::type_int8_t)};
    shape.op = predefined_op(abi::op_sum);
    Schedule schedule;
    reduce_exchange(shape, schedule);
    OneArea of_bcast(2), of_reduce(2);
    Broadcast copying(of_bcast, 0, bytes, "auto");
    Side combining(of_reduce, 0, schedule, bytes, "auto");
    learn(copying, bytes);
    learn(combining, bytes);
    const CopyRates &of_copies = copying.task.area.copy_rates(), &of_sums = combining.task.area.copy_rates();
    EXPECT_TRUE(of_copies.learned(copied, bytes) && !of_copies.learned(combined, bytes));
    EXPECT_TRUE(of_sums.learned(combined, bytes) && !of_sums.learned(copied, bytes));
}

}  // namespace
}  // namespace lanyard
