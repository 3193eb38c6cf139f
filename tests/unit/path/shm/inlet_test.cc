// An inlet must deliver what an outlet has written, in a poll or to a waiting receive. Afterwards the writer
// must have its room again.
#include "path/shm/inlet.h"

#include <gtest/gtest.h>

#include <memory>

#include "net/sim/random.h"
#include "path/shm/outlet.h"
#include "sim/seeds.h"
#include "unit/path/shm/node.h"

namespace lanyard {
namespace {

// A ring from member 0 to member 1, which knows member 0 as peer 7.
struct RingEnds {
    RingEnds() { outlet.open(*ring, 0); }

    // Returns false if there is no room.
    bool send(const NotedFrame &frame) {
        size_t size = frame.payload.size();
        Payload payload{frame.payload.data(), size, nullptr};
        if (frame.bulk)
            return outlet.send_bulk({frame.number, frame.number + 5}, payload, cells) == Sent::done;
        if (size <= first_line_room && frame.number % 2 == 0)
            return outlet.send_line(numbered(frame.number, size), payload) == Sent::done;
        return outlet.send(numbered(frame.number, size), payload, cells) == Sent::done;
    }
    // Takes a frame like a waiting receive. Returns false if nothing is shown.
    bool take(NotingSink &sink) {
        ShortFrame shown;
        if (!inlet.peek(shown) || !shown.envelope) return false;
        Envelope envelope;
        std::memcpy(&envelope, shown.envelope, sizeof envelope);
        std::vector<std::byte> payload(shown.size);
        inlet.take(payload.data());
        sink.envelope(7, envelope, payload.data(), payload.size());
        return true;
    }

    Node node{2};
    std::unique_ptr<Ring> ring = std::make_unique<Ring>();
    Cells cells{node.of(0), 0};
    Outlet outlet{node.of(0).member(1).sleep};
    Inlet inlet{*ring, node.of(1), 0, 7, 0};
};

NotedFrame random_frame(sim::Random &random, uint64_t number) {
    bool bulk = random.chance(20);
    size_t most[] = {first_line_room, most_inlined + 20, cell_bytes, 4 * cell_bytes};
    size_t size = random.below(most[random.below(bulk ? 3 : 4)] + 1);
    return {bulk, 7, number, content(number, size)};
}

TEST(Inlet, DeliversWhatTheOutletWrote) {
    sim::for_seeds(30, 5, [](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        sim::Random random(seed);
        RingEnds ends;
        NotingSink sink;
        std::vector<NotedFrame> sent;
        for (int step = 0; step < 1500; ++step) {
            switch (random.below(3)) {
                case 0: {
                    NotedFrame frame = random_frame(random, sent.size());
                    if (ends.send(frame)) sent.push_back(std::move(frame));
                    break;
                }
                case 1:
                    ends.take(sink);
                    break;
                case 2: {
                    int budget = static_cast<int>(random.below(4));
                    EXPECT_LE(ends.inlet.drain(sink, budget), budget);
                    break;
                }
            }
        }
        while (ends.inlet.drain(sink, 100)) {
        }
        EXPECT_EQ(sink.frames.size(), sent.size());
        EXPECT_TRUE(sink.frames == sent);
        EXPECT_EQ(ends.cells.in_use(), 0u);
        EXPECT_TRUE(ends.send({false, 7, 0, content(0, 4 * cell_bytes)})) << "there is room again";
        return !::testing::Test::HasFailure();
    });
}

TEST(Inlet, SaysWhereItsNextFrameWillBe) {
    RingEnds ends;
    NotingSink sink;
    for (uint64_t number = 0; number < 300; ++number) {
        const std::atomic<uint64_t> *word = ends.inlet.awaited_word();
        EXPECT_NE(static_cast<uint32_t>(*word), ends.inlet.awaited_number());
        ASSERT_TRUE(ends.send({false, 7, number, content(number, number % most_inlined)}));
        EXPECT_EQ(static_cast<uint32_t>(*word), ends.inlet.awaited_number());
        EXPECT_TRUE(number % 3 == 0 ? ends.take(sink) : ends.inlet.drain(sink, 10) == 1);
    }
}

// A waiting receive is not shown bulk, or payload that lies in cells.
TEST(Inlet, ShowsWhatLiesInTheRing) {
    RingEnds ends;
    NotingSink sink;
    ShortFrame shown;
    EXPECT_FALSE(ends.inlet.peek(shown));
    for (const NotedFrame &frame :
         {NotedFrame{false, 7, 1, content(1, most_inlined + 1)}, {true, 7, 2, content(2, 5)}}) {
        ASSERT_TRUE(ends.send(frame));
        ASSERT_TRUE(ends.inlet.peek(shown));
        EXPECT_EQ(shown.envelope, nullptr);
        EXPECT_EQ(ends.inlet.drain(sink, 10), 1);
    }
    ASSERT_TRUE(ends.send({false, 7, 3, content(3, most_inlined)}));
    EXPECT_TRUE(ends.inlet.peek(shown) && ends.inlet.peek(shown));
    EXPECT_EQ(shown.size, most_inlined);
    EXPECT_TRUE(ends.take(sink));
    EXPECT_FALSE(ends.inlet.peek(shown));
}

TEST(Inlet, WakesAWriterThatHasRoomAgain) {
    RingEnds ends;
    NotingSink sink;
    SleepWord &sleep = ends.node.of(1).member(0).sleep;
    auto wakes = [&](auto read) {
        sleep.asleep = SleepWord::on_futex;
        read();
        return sleep.asleep == SleepWord::awake;
    };
    ASSERT_TRUE(ends.send({false, 7, 0, {}}));
    EXPECT_FALSE(wakes([&] { ends.inlet.drain(sink, 1); })) << "a line is not told";
    ASSERT_TRUE(ends.send({true, 7, 0, content(0, 1)}));
    EXPECT_TRUE(wakes([&] { ends.inlet.drain(sink, 1); })) << "a cell is";
    int woken = 0;
    for (uint32_t line = 0; line < ring_lines; ++line) {
        ASSERT_TRUE(ends.send({false, 7, line, {}}));
        woken += wakes([&] {
            if (line % 2 == 0) ends.inlet.drain(sink, 1);
            else ends.take(sink);
        });
    }
    EXPECT_TRUE(woken == 4 || woken == 5) << woken << " times in a lap";
}

}  // namespace
}  // namespace lanyard
