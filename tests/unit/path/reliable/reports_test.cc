// Tests that events are reported once and in order, and that held payload stays in place or is packed.
#include "path/reliable/reports.h"

#include <gtest/gtest.h>

#include "path/reliable/held_payload.h"
#include "sim/spread_type.h"

namespace lanyard {
namespace {

struct Told final : Sink {
    void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override { ADD_FAILURE(); }
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override { ADD_FAILURE(); }
    void sent(uint64_t token) override {
        all.push_back("sent " + std::to_string(token));
        if (token == 2 && reports) reports->sent(9);
        if (token == 3 && reports) {  // a bulk frame that was `done` at once
            reports->sent(10);
            reports->retract_sent();
        }
    }
    void undelivered(uint32_t peer, const Envelope &envelope) override {
        all.push_back("undelivered " + std::to_string(peer) + " " + std::to_string(envelope.length));
    }
    void lost(uint32_t peer, Error reason) override {
        all.push_back("lost " + std::to_string(peer) + ": " + reason.take().sentence);
        if (reports) reports->lost(4, "is gone, too");
    }

    Reports *reports = nullptr;
    std::vector<std::string> all;
};

TEST(Reports, TellsEachOnce) {
    Reports reports;
    EXPECT_TRUE(reports.empty());
    Envelope first{}, second{};
    first.length = 11;
    second.length = 22;
    reports.sent(1);
    reports.lost(3, "is gone", {first, second});
    reports.sent(5);
    EXPECT_FALSE(reports.empty());
    Told told;
    EXPECT_EQ(reports.tell(told), 3);
    EXPECT_EQ(told.all, (std::vector<std::string>{"sent 1", "sent 5", "undelivered 3 11", "undelivered 3 22",
                                                  "lost 3: process 3 is gone"}));
    EXPECT_TRUE(reports.empty());
    EXPECT_EQ(reports.tell(told), 0);
}

TEST(Reports, WhatIsSentMeanwhileIsToldAndALossThenInTheNextPoll) {
    Reports reports;
    Told told;
    told.reports = &reports;
    reports.sent(2);
    reports.sent(3);
    reports.lost(3, "is gone");
    EXPECT_EQ(reports.tell(told), 4);
    EXPECT_EQ(told.all,
              (std::vector<std::string>{"sent 2", "sent 3", "sent 9", "lost 3: process 3 is gone"}));
    EXPECT_FALSE(reports.empty());
    told.reports = nullptr;
    EXPECT_EQ(reports.tell(told), 1);
    EXPECT_EQ(told.all.back(), "lost 4: process 4 is gone, too");
}

TEST(Reports, HoldsALossUntilItIsTold) {
    struct Asking final : Sink {
        explicit Asking(Reports &from) : reports(from) {}
        void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override {}
        void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override {}
        void sent(uint64_t) override {}
        void lost(uint32_t peer, Error reason) override {
            reason.discard();
            EXPECT_FALSE(reports.holds_loss_of(peer));
            EXPECT_EQ(reports.holds_loss_of(5), peer == 3) << "the next one";
        }
        Reports &reports;
    };
    Reports reports;
    Asking asking(reports);
    reports.lost(3, "is gone");
    reports.lost(5, "is gone");
    EXPECT_TRUE(reports.holds_loss_of(3) && reports.holds_loss_of(5));
    EXPECT_FALSE(reports.holds_loss_of(4));
    EXPECT_EQ(reports.tell(asking), 2);
    EXPECT_FALSE(reports.holds_loss_of(3) || reports.holds_loss_of(5));
}

TEST(HeldPayload, StaysWhereItIsOrIsPacked) {
    std::vector<std::byte> memory(30, std::byte{7});
    HeldPayload held;
    Payload contiguous{memory.data(), memory.size()};
    held.hold(contiguous, 5);
    EXPECT_EQ(held.data(), memory.data());
    EXPECT_EQ(held.release(), 5u);
    EXPECT_EQ(held.data(), nullptr);

    const Datatype &blocks = sim::spread_type();
    std::vector<std::byte> packed(12);
    for (size_t i = 0; i < packed.size(); ++i) packed[i] = static_cast<std::byte>(i);
    std::vector<std::byte> spread(4 * static_cast<size_t>(blocks.extent) + 1);
    Cursor cursor({spread.data(), 4, &blocks});
    cursor.unpack(packed.data(), packed.size());
    cursor.seek(0);
    Payload scattered{nullptr, packed.size(), &cursor};
    held.hold(scattered, 6);
    std::fill(spread.begin(), spread.end(), std::byte{0xee});
    EXPECT_TRUE(std::equal(packed.begin(), packed.end(), held.data()))
        << "a copy, which the program cannot change any more";
    EXPECT_EQ(held.release(), 6u);

    Payload empty{nullptr, 0, nullptr};
    held.hold(empty, 7);
    EXPECT_EQ(held.release(), 7u);
}

}  // namespace
}  // namespace lanyard
