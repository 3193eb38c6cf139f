// Tests one ring by itself: laps, frames of several lines across the end, room, and the wrap of the running
// number after 2^32 lines.
#include "path/short_ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "net/sim/random.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

struct Frame {
    uint64_t id;
    size_t size;
};

std::byte byte_of(uint64_t id, size_t i) { return static_cast<std::byte>(id * 31 + i); }

bool write(RingWriter &writer, const Frame &frame) {
    uint32_t lines = lines_for(frame.size);
    if (!writer.room(lines)) return false;
    Envelope envelope{};
    envelope.context = frame.id;
    std::memcpy(writer.line().bytes, &envelope, sizeof envelope);
    for (size_t i = 0, line = 0, place = sizeof envelope; i < frame.size; ++i, ++place) {
        if (place == sizeof(RingLine::bytes)) {
            writer.number_line(static_cast<uint32_t>(++line));
            place = 0;
        }
        writer.line(static_cast<uint32_t>(line)).bytes[place] = byte_of(frame.id, i);
    }
    for (uint32_t ahead = 1; ahead < lines; ++ahead) demote(&writer.line(ahead), sizeof(RingLine));
    writer.publish(RingFrame::inlined, frame.size, lines);
    writer.fetch_next(lines);
    return true;
}

void expect(RingReader &reader, const Frame &frame) {
    uint64_t word = reader.peek();
    ASSERT_NE(word, 0u) << "frame " << frame.id << " of " << frame.size << " bytes is not seen";
    ASSERT_EQ(frame_kind(word), RingFrame::inlined);
    ASSERT_EQ(frame_payload(word), frame.size);
    Envelope envelope;
    std::memcpy(&envelope, reader.first(), sizeof envelope);
    ASSERT_EQ(envelope.context, frame.id);
    std::vector<std::byte> payload(frame.size + 1);
    reader.copy_out(payload.data(), frame.size);
    for (size_t i = 0; i < frame.size; ++i) ASSERT_EQ(payload[i], byte_of(frame.id, i));
    reader.pass(lines_for(frame.size));
}

class RingTest : public ::testing::Test {
protected:
    void open(uint32_t number) {
        demotes = true;
        ring = std::make_unique<Ring>();
        writer.open(*ring, 3, number);
        reader.open(*ring, 3, number);
    }
    // Writes frames of random sizes and reads them a few frames later. All must arrive.
    void run(sim::Random &random, int frames, size_t most) {
        std::deque<Frame> under_way;
        for (uint64_t id = 1; id <= static_cast<uint64_t>(frames);) {
            Frame frame{id, random.below(most + 1)};
            if (random.chance(60) && write(writer, frame)) {
                under_way.push_back(frame);
                ++id;
            } else if (!under_way.empty()) {
                expect(reader, under_way.front());
                under_way.pop_front();
            } else {
                ASSERT_EQ(reader.peek(), 0u);
                ASSERT_TRUE(writer.room(most_lines)) << "an empty ring has room for any frame";
            }
            if (HasFatalFailure()) return;
        }
        for (const Frame &frame : under_way) expect(reader, frame);
        ASSERT_EQ(reader.peek(), 0u);
    }

    std::unique_ptr<Ring> ring;
    SleepWord sleep{};
    RingWriter writer{sleep};
    RingReader reader;
};

TEST_F(RingTest, CarriesFramesRoundAndRound) {
    for (uint64_t seed : sim::seeds(20)) {
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed));
        sim::Random random(seed);
        open(0);
        run(random, 3000, random.chance(50) ? most_inlined : random.below(most_inlined) + 1);
        if (HasFatalFailure()) return;
    }
}

TEST_F(RingTest, IsFullAfterALap) {
    open(0);
    uint32_t written = 0;
    while (write(writer, {written, 0})) ++written;
    EXPECT_EQ(written, ring_lines);
    for (uint32_t i = 0; i < ring_lines; ++i) expect(reader, {i, 0});
    EXPECT_EQ(reader.peek(), 0u);
    EXPECT_TRUE(writer.room(most_lines));
}

// The number wraps after 2^32 lines, which a ring reaches within minutes. No frame may be overlooked there,
// not even an empty one.
TEST_F(RingTest, GoesOnWhenTheNumberWraps) {
    for (uint32_t before : {1u, 2u, 300u, 301u, 302u}) {
        open(UINT32_MAX - before);
        for (uint64_t id = 0; id < 1000; ++id) {
            ASSERT_TRUE(write(writer, {id, 0}));
            expect(reader, {id, 0});
            if (HasFatalFailure()) return;
        }
        open(UINT32_MAX - before);
        sim::Random random(before);
        run(random, 1000, most_inlined);
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace lanyard
