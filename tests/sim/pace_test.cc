// Tests how a link adapts to the speed of its connection. It adapts the length of its bulk frames, and how
// much payload must arrive before a sleeping process wakes.
#include <gtest/gtest.h>

#include "sim/job.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

class Pace : public ::testing::Test {
protected:
    struct MemorySink final : Sink {
        explicit MemorySink(size_t size) : memory(size) {}
        void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override { ++envelopes; }
        std::byte *place(uint32_t, const BulkHeader &, size_t size) override {
            return size <= memory.size() ? memory.data() : nullptr;
        }
        void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t size) override { bytes += size; }
        void sent(uint64_t) override { free = true; }
        void lost(uint32_t, Error) override { FAIL(); }
        std::vector<std::byte> memory;
        uint64_t bytes = 0, envelopes = 0;
        bool free = true;
    };

    void make(const SocketBehaviour &behaviour) {
        links_ = std::make_unique<SimLinks>(baton_, behaviour, TcpLimits(), 2);
    }
    TcpPath &path(uint32_t own) { return links_->path(own); }
    void poll(uint32_t own) { path(own).poll(sinks_[own], 100, baton_.now_ns()); }
    // Sends bulk frames, each as long as the link allows, until `bytes` more bytes have arrived.
    void flow(uint64_t bytes) {
        uint64_t end = sinks_[1].bytes + bytes;
        for (int turn = 0; turn < 1'000'000 && sinks_[1].bytes < end; ++turn) {
            if (sinks_[0].free)
                sinks_[0].free =
                    path(0).send_bulk(1, {}, {data_.data(), path(0).max_bulk_in_place(1), nullptr}, 1) !=
                    Sent::pending;
            preferred_sleep_ = path(1).activity().prefers_sleep || preferred_sleep_;
            for (uint32_t own : {0u, 1u}) poll(own);
        }
        EXPECT_GE(sinks_[1].bytes, end);
    }

    Baton baton_{first_seed()};
    std::unique_ptr<SimLinks> links_;
    MemorySink sinks_[2]{MemorySink(most_bulk), MemorySink(most_bulk)};
    std::vector<std::byte> data_ = std::vector<std::byte>(most_bulk);
    bool preferred_sleep_ = false;
};

TEST_F(Pace, MakesFramesLongWhereTheConnectionTakesThemQuickly) {
    make({.usual_delay_ns = 1,
          .long_delay_percent = 0,
          .capacity = 64 << 20,
          .portion_percent = 0,
          .preempt_percent = 0});
    EXPECT_EQ(path(0).max_bulk_in_place(1), max_bulk_frame);
    flow(30'000'000);
    EXPECT_EQ(path(0).max_bulk_in_place(1), most_bulk);
    EXPECT_FALSE(preferred_sleep_);
}

TEST_F(Pace, KeepsFramesShortWhereTheyTakeLong) {
    make({.usual_delay_ns = 500'000,
          .long_delay_percent = 0,
          .capacity = 32'000,
          .portion_percent = 0,
          .preempt_percent = 0});
    flow(3'000'000);
    EXPECT_EQ(path(0).max_bulk_in_place(1), max_bulk_frame);
}

TEST_F(Pace, MakesFramesShorterAgain) {
    make({.usual_delay_ns = 1'500'000,
          .long_delay_percent = 0,
          .capacity = 3 << 20,
          .portion_percent = 0,
          .preempt_percent = 0});
    int longer = 0, shorter = 0;
    for (int i = 0; i < 60; ++i) {
        size_t before = path(0).max_bulk_in_place(1);
        flow(1'000'000);
        longer += path(0).max_bulk_in_place(1) > before;
        shorter += path(0).max_bulk_in_place(1) < before;
    }
    EXPECT_GT(longer, 2) << "frames that fit into the kernel's buffer are quick";
    EXPECT_GT(shorter, 0) << "others are not";
}

TEST_F(Pace, TellsASleeperOfSlowPayloadByTheChunk) {
    make({.usual_delay_ns = 100'000,
          .long_delay_percent = 0,
          .capacity = 10'000,
          .portion_percent = 0,
          .preempt_percent = 0});
    flow(1'000'000);
    EXPECT_TRUE(preferred_sleep_);
    // The rest of the frame, and the envelope sent next, must be noticed although they are shorter
    // than the amount that wakes a sleeping process.
    for (int turn = 0; turn < 100'000 && !sinks_[0].free; ++turn)
        for (uint32_t own : {0u, 1u}) poll(own);
    ASSERT_TRUE(sinks_[0].free);
    path(0).send(1, {}, {});
    for (int turn = 0; turn < 100'000 && sinks_[1].envelopes == 0; ++turn)
        for (uint32_t own : {0u, 1u}) poll(own);
    EXPECT_EQ(sinks_[1].envelopes, 1u);
    EXPECT_FALSE(path(1).activity().prefers_sleep);
}

}  // namespace
}  // namespace lanyard::sim
