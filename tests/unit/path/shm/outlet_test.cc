// Tests what an outlet writes: in which form, and that it writes either all of a frame or nothing.
// inlet_test.cc compares the content of the frames.
#include "path/shm/outlet.h"

#include <gtest/gtest.h>

#include <memory>

#include "unit/path/shm/node.h"

namespace lanyard {
namespace {

class OutletTest : public ::testing::Test {
protected:
    OutletTest() {
        outlet.open(*ring, 0);
        reader.open(*ring, 0);
    }
    Sent send(size_t size) {
        std::vector<std::byte> bytes = content(number, size);
        return outlet.send(numbered(number++, size), {bytes.data(), size, nullptr}, cells);
    }
    Sent send_bulk(size_t size) {
        std::vector<std::byte> bytes = content(number, size);
        return outlet.send_bulk({number++, 0}, {bytes.data(), size, nullptr}, cells);
    }
    void expect(RingFrame kind, size_t payload, uint32_t lines) {
        uint64_t word = reader.peek();
        ASSERT_NE(word, 0u);
        EXPECT_EQ(frame_kind(word), kind);
        EXPECT_EQ(frame_payload(word), payload);
        reader.pass(lines);
    }

    Node node{2};
    std::unique_ptr<Ring> ring = std::make_unique<Ring>();
    Cells cells{node.of(0), 0};
    SleepWord &sleep = node.of(0).member(1).sleep;
    Outlet outlet{sleep};
    RingReader reader;
    uint64_t number = 0;
};

TEST_F(OutletTest, PutsPayloadWhereItFits) {
    EXPECT_EQ(outlet.send_line(numbered(0, 0), {}), Sent::done);
    expect(RingFrame::inlined, 0, 1);
    for (size_t size : {size_t{0}, first_line_room, first_line_room + 1, most_inlined}) {
        EXPECT_EQ(send(size), Sent::done);
        expect(RingFrame::inlined, size, lines_for(size));
    }
    EXPECT_EQ(cells.in_use(), 0u);
    EXPECT_EQ(send(most_inlined + 1), Sent::done);
    expect(RingFrame::in_cell, most_inlined + 1, 1);
    EXPECT_EQ(send_bulk(3), Sent::done);
    expect(RingFrame::bulk, 3, 1);
    EXPECT_EQ(cells.in_use(), 2u);
    EXPECT_EQ(reader.peek(), 0u);
}

TEST_F(OutletTest, TellsTheWholeSizeWithTheFirstCell) {
    ASSERT_EQ(Outlet::max_payload(node.of(0)), 4 * cell_bytes);
    EXPECT_EQ(send(2 * cell_bytes + 5), Sent::done);
    expect(RingFrame::in_cell, 2 * cell_bytes + 5, 1);
    expect(RingFrame::in_cell, cell_bytes, 1);
    expect(RingFrame::in_cell, 5, 1);
    EXPECT_EQ(cells.in_use(), 3u);
}

TEST_F(OutletTest, WritesNothingWhereTheRingLacksRoom) {
    for (uint32_t line = 0; line < ring_lines - 2; ++line)
        ASSERT_EQ(outlet.send_line(numbered(0, 0), {}), Sent::done);
    EXPECT_EQ(send(first_line_room + 2 * next_line_room), Sent::full);
    EXPECT_EQ(send(3 * cell_bytes), Sent::full);
    EXPECT_EQ(cells.in_use(), 0u);
    EXPECT_EQ(send(first_line_room + next_line_room), Sent::done);
    EXPECT_EQ(outlet.send_line(numbered(0, 0), {}), Sent::full);
    EXPECT_EQ(send_bulk(1), Sent::full);
    EXPECT_EQ(cells.in_use(), 0u);
    for (uint32_t line = 0; line < ring_lines - 2; ++line) expect(RingFrame::inlined, 0, 1);
    expect(RingFrame::inlined, first_line_room + next_line_room, 2);
    EXPECT_EQ(reader.peek(), 0u);
}

TEST_F(OutletTest, WritesNothingWhereCellsAreLacking) {
    for (uint32_t left = node.header().cells; left > 2; --left) {
        ASSERT_EQ(send_bulk(1), Sent::done);
        expect(RingFrame::bulk, 1, 1);
    }
    EXPECT_EQ(send(2 * cell_bytes + 1), Sent::full);
    EXPECT_EQ(reader.peek(), 0u);
    EXPECT_EQ(send(2 * cell_bytes), Sent::done);
    expect(RingFrame::in_cell, 2 * cell_bytes, 1);
    expect(RingFrame::in_cell, cell_bytes, 1);
    EXPECT_EQ(send_bulk(1), Sent::full);
    EXPECT_EQ(send(most_inlined), Sent::done) << "which needs none";
    expect(RingFrame::inlined, most_inlined, most_lines);
    EXPECT_EQ(reader.peek(), 0u);
}

TEST_F(OutletTest, TakesBackTheCellsOfAWholeRingThatIsNotRead) {
    EXPECT_EQ(send(3 * cell_bytes), Sent::done);
    EXPECT_EQ(send(most_inlined), Sent::done);
    EXPECT_EQ(send_bulk(1), Sent::done);
    while (outlet.send_line(numbered(0, 0), {}) == Sent::done) {}
    EXPECT_EQ(cells.in_use(), 4u);
    Outlet::take_back_cells(*ring, 0, cells);
    EXPECT_EQ(cells.in_use(), 0u);
}

TEST_F(OutletTest, WakesTheReader) {
    auto wakes = [&](auto send) {
        sleep.asleep = SleepWord::on_futex;
        EXPECT_EQ(send(), Sent::done);
        return sleep.asleep == SleepWord::awake;
    };
    EXPECT_TRUE(wakes([&] { return outlet.send_line(numbered(0, 0), {}); }));
    EXPECT_TRUE(wakes([&] { return send(most_inlined); }));
    EXPECT_TRUE(wakes([&] { return send(2 * cell_bytes); }));
    EXPECT_TRUE(wakes([&] { return send_bulk(1); }));
}

}  // namespace
}  // namespace lanyard
