// Tests in which order the rings are read.
#include "path/shm/inlets.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>

#include "net/sim/random.h"
#include "path/shm/outlet.h"
#include "sim/seeds.h"
#include "unit/path/shm/node.h"

namespace lanyard {
namespace {

// All members except the last write to the last, which knows member i as peer 100 + i.
class Readers {
public:
    explicit Readers(uint32_t writers) : node_(writers + 1), writers_(writers) {}

    void open(uint32_t writer) {
        Ring &ring = *rings_.emplace_back(std::make_unique<Ring>());
        Segment &segment = node_.of(writer);
        Outlet &outlet = outlets_.try_emplace(writer, segment.member(writers_).sleep).first->second;
        outlet.open(ring, writer);
        cells_.try_emplace(writer, segment, writer);
        read[writer] = inlets.open(ring, node_.of(writers_), writer, 100 + writer);
        ASSERT_NE(read[writer], nullptr);
    }
    bool is_open(uint32_t writer) const { return read.contains(writer); }
    bool send(uint32_t writer, uint64_t number, size_t size) {
        std::vector<std::byte> bytes = content(number, size);
        return outlets_.at(writer).send(numbered(number, size), {bytes.data(), size, nullptr},
                                        cells_.at(writer)) == Sent::done;
    }
    // Polls once and returns the writers of the frames, in order.
    std::vector<uint32_t> poll(int budget) {
        NotingSink sink;
        int frames = inlets.poll(sink, budget);
        EXPECT_EQ(static_cast<size_t>(frames), sink.frames.size());
        std::vector<uint32_t> heard;
        for (const NotedFrame &frame : sink.frames) heard.push_back(frame.peer - 100);
        return heard;
    }

    Inlets inlets;
    std::map<uint32_t, Inlet *> read;

private:
    Node node_;
    const uint32_t writers_;
    std::vector<std::unique_ptr<Ring>> rings_;
    std::map<uint32_t, Outlet> outlets_;
    std::map<uint32_t, Cells> cells_;
};

using Heard = std::vector<uint32_t>;

TEST(Inlets, HearEachInTurn) {
    Readers readers(6);
    for (uint32_t writer : {3, 0, 5, 1, 4, 2}) readers.open(writer);
    for (uint32_t writer = 0; writer < 6; ++writer)
        for (uint64_t number = 0; number < 3; ++number) ASSERT_TRUE(readers.send(writer, number, 0));
    EXPECT_EQ(readers.poll(2), (Heard{3, 3}));
    EXPECT_EQ(readers.poll(2), (Heard{0, 0}));
    EXPECT_EQ(readers.poll(4), (Heard{5, 5, 5, 1}));
    EXPECT_EQ(readers.poll(3), (Heard{4, 4, 4}));
    EXPECT_EQ(readers.poll(3), (Heard{2, 2, 2}));
    EXPECT_EQ(readers.poll(10), (Heard{3, 0, 1, 1}));
    EXPECT_EQ(readers.poll(10), Heard{});
}

TEST(Inlets, LetNobodyStarveTheOthers) {
    Readers readers(5);
    for (uint32_t writer = 0; writer < 5; ++writer) readers.open(writer);
    std::map<uint32_t, int> heard;
    uint64_t number = 0;
    for (int turn = 0; turn < 100; ++turn) {
        for (uint32_t writer = 0; writer < 5; ++writer)
            while (readers.send(writer, number++, 0)) {}
        for (uint32_t writer : readers.poll(3)) ++heard[writer];
    }
    for (uint32_t writer = 0; writer < 5; ++writer) EXPECT_EQ(heard[writer], 60);
}

// Rings are opened, written, polled with any budget and read out of turn. Each is a queue by itself, and a
// poll that did not use up its budget has left nothing.
TEST(Inlets, AreLikeAsManyQueues) {
    sim::for_seeds(30, 5, [](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        sim::Random random(seed);
        const auto writers = static_cast<uint32_t>(1 + random.below(12));
        Readers readers(writers);
        std::map<uint32_t, std::deque<NotedFrame>> under_way;
        uint64_t number = 0;
        for (int step = 0; step < 1000; ++step) {
            auto writer = static_cast<uint32_t>(random.below(writers));
            if (!readers.is_open(writer)) {
                if (random.chance(20)) readers.open(writer);
                continue;
            }
            std::deque<NotedFrame> &queue = under_way[writer];
            if (random.chance(60)) {
                size_t size = random.below((random.chance(10) ? cell_bytes : most_inlined) + 1);
                if (readers.send(writer, number, size))
                    queue.push_back({false, 100 + writer, number, content(number, size)});
                ++number;
            } else if (random.chance(50)) {
                ShortFrame shown{};
                bool something = readers.read[writer]->peek(shown);
                EXPECT_EQ(something, !queue.empty());
                if (!something || !shown.envelope) continue;
                std::vector<std::byte> payload(shown.size);
                readers.inlets.take(*readers.read[writer], payload.data());
                EXPECT_EQ(payload, queue.front().payload);
                queue.pop_front();
            } else {
                NotingSink sink;
                int budget = static_cast<int>(1 + random.below(10));
                int frames = readers.inlets.poll(sink, budget);
                EXPECT_EQ(static_cast<size_t>(frames), sink.frames.size());
                for (const NotedFrame &frame : sink.frames) {
                    std::deque<NotedFrame> &from = under_way[frame.peer - 100];
                    EXPECT_TRUE(!from.empty() && frame == from.front()) << "frame " << frame.number;
                    if (!from.empty()) from.pop_front();
                }
                EXPECT_LE(frames, budget);
                for (const auto &[each, left] : under_way)
                    EXPECT_TRUE(frames == budget || left.empty()) << "of " << each;
            }
            if (::testing::Test::HasFailure()) return false;
        }
        return true;
    });
}

}  // namespace
}  // namespace lanyard
