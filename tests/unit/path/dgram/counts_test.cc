// Compares the counters of datagrams with what is known to have happened to each packet: between two flows by
// hand, and between two paths on a network that drops, doubles or damages every nth packet.
#include <gtest/gtest.h>

#include "known_losses.h"
#include "pair.h"

namespace lanyard::dgram {
namespace {

struct Counted : testing::Test {
    Side a{0, 1, 100}, b{1, 0, 200};
    uint64_t now_ns = 1'000'000;

    std::vector<PacketBytes> send(int count) {
        std::vector<PacketBytes> packets;
        for (int i = 0; i < count; ++i) {
            a.send(std::to_string(i));
            packets.push_back(a.packet(now_ns));
        }
        return packets;
    }
    void exchange_all() { exchange(a, b, now_ns, now_ns + 50'000'000); }
};

TEST_F(Counted, ThePacketsThatWereLostAndWhy) {
    std::vector<PacketBytes> packets = send(10);
    now_ns += trip_ns;
    for (size_t i = 0; i < packets.size(); ++i)
        if (i != 2 && i != 3 && i != 9) b.give(packets[i], now_ns);
    exchange_all();
    ASSERT_EQ(b.arrived.size(), 10u);
    const FlowCounts &out = a.home.counts, &in = b.home.counts;
    EXPECT_EQ(out.lost_by_order, 2u);
    EXPECT_EQ(out.lost_by_time, 1u) << "the last, behind which only those arrived that went again";
    EXPECT_EQ(out.probes, 0u);
    EXPECT_EQ(out.given_up(), 3u);
    EXPECT_EQ(out.given_up_too_early, 0u);
    EXPECT_EQ(in.named - in.received, 3u);
    EXPECT_EQ(in.named, out.numbered_out);
    EXPECT_EQ(in.copies, 0u);
    PeerCounts sent = a.flow.counts(), received = b.flow.counts();
    EXPECT_EQ(sent.sent, out.numbered_out);
    EXPECT_EQ(sent.given_up, 3u);
    EXPECT_EQ(received.missing, 3u);
    EXPECT_EQ(received.received, sent.sent - 3);
    EXPECT_GE(sent.round_trip_ns, sent.least_round_trip_ns);
    EXPECT_GT(sent.least_round_trip_ns, 0u);
    EXPECT_EQ(received.round_trip_ns, 0u) << "it has sent nothing that is acknowledged";
    send(1);  // lost, with nothing sent after it
    exchange_all();
    EXPECT_EQ(b.arrived.size(), 11u);
    EXPECT_EQ(out.lost_by_probe, 1u);
    EXPECT_EQ(out.probes, 1u);
    EXPECT_EQ(out.given_up(), 4u);
    EXPECT_EQ(b.flow.counts().missing, 4u);
}

TEST_F(Counted, WhatCameTwiceOrLateIsNotMissing) {
    std::vector<PacketBytes> packets = send(3);
    for (size_t which : {2u, 0u, 1u, 1u, 2u, 1u}) b.give(packets[which], now_ns);
    EXPECT_EQ(b.home.counts.copies, 3u);
    EXPECT_EQ(b.flow.counts().received, 3u);
    EXPECT_EQ(b.flow.counts().missing, 0u);
    exchange_all();
    EXPECT_EQ(a.home.counts.given_up(), 0u);
}

TEST_F(Counted, WhatWasGivenUpTooEarly) {
    std::vector<PacketBytes> packets = send(5);
    for (size_t which : {1u, 2u, 3u, 4u}) b.give(packets[which], now_ns);
    std::vector<PacketBytes> early = b.packets(now_ns);
    b.give(packets[0], now_ns);
    std::vector<PacketBytes> late = b.packets(now_ns);
    ASSERT_EQ(early.size(), 1u);
    a.give(early[0], now_ns += trip_ns);
    EXPECT_EQ(a.flow.counts().given_up, 1u);
    for (const PacketBytes &packet : late) a.give(packet, now_ns);
    EXPECT_EQ(a.flow.counts().too_early, 1u);
    EXPECT_EQ(a.home.counts.given_up_too_early, 1u);
    EXPECT_EQ(b.flow.counts().missing, 0u);
}

TEST_F(Counted, AcknowledgementsAloneAndCarried) {
    send(1);
    exchange_all();  // a sends it again, because the packet was not delivered
    uint64_t alone = b.home.counts.acknowledgements_out;
    EXPECT_EQ(alone, 1u);
    b.send("an answer");
    a.send("a question");
    b.give(a.packet(now_ns), now_ns);
    PacketBytes answer = b.packet(now_ns);
    ASSERT_TRUE(has(answer, FrameKind::acknowledge));
    EXPECT_EQ(b.home.counts.acknowledgements_out, alone);
    EXPECT_EQ(b.home.counts.acknowledgements_carried, 1u);
}

TEST_F(Counted, APacketThatCouldNotBeSentIsNotCounted) {
    a.send("x");
    std::byte buffer[most_packet];
    OutPacket out{};
    out.buffer = buffer;
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(a.flow.compose(out, now_ns));
        EXPECT_EQ(a.flow.counts().sent, 1u);
        a.flow.take_back(out, now_ns);
    }
    EXPECT_EQ(a.home.counts.taken_back, 3u);
    EXPECT_EQ(a.home.counts.packets_out + a.home.counts.bytes_out + a.home.counts.numbered_out, 0u);
    EXPECT_EQ(a.flow.counts().sent, 0u);
}

// A peer becomes silent and is heard again.
TEST_F(Counted, SilencesAreToldOnceEach) {
    struct Owner : Side {
        using Side::Side;
        void silent(Flow &, bool now) override { told.push_back(now); }
        std::vector<bool> told;
    } owner(0, 1, 100);
    owner.send("x");
    uint64_t begin_ns = now_ns;
    PacketBytes last;
    while (now_ns < begin_ns + 10'000'000'000) {
        for (PacketBytes &packet : owner.packets(now_ns)) last = std::move(packet);
        if (now_ns < begin_ns + owner.home.limits.silent_after_ns) {
            EXPECT_TRUE(owner.told.empty());
        }
        now_ns = std::max(now_ns + 1, owner.flow.deadline_ns());
    }
    EXPECT_EQ(owner.told, (std::vector<bool>{true}));
    EXPECT_EQ(owner.home.counts.silences, 1u);
    b.give(last, now_ns);
    for (const PacketBytes &packet : b.packets(now_ns)) owner.give(packet, now_ns);
    EXPECT_EQ(owner.told, (std::vector<bool>{true, false}));
}

TEST(PathCounts, AgreeWithWhatHappenedToEveryPacket) {
    KnownLosses world;
    for (int i = 0; i < 3000; ++i) {
        world.send(0, 1, static_cast<size_t>(i % 1200));
        if (i % 3 == 0) world.send(1, 0, 20);
        if (i % 10 == 0) world.run(1);
    }
    world.run_until_idle();
    for (uint32_t own : {0u, 1u}) {
        uint32_t other = 1 - own;
        const KnownLosses::Fate &in = world.fate(other);  // what happened to the other's packets
        const FlowCounts &counts = world.path(own).counts();
        PeerCounts here = world.path(own).counts_of(other), there = world.path(other).counts_of(own);
        EXPECT_GT(in.dropped, 20u);
        EXPECT_EQ(counts.named - counts.received, in.dropped + in.damaged);
        EXPECT_EQ(here.missing, in.dropped + in.damaged);
        EXPECT_EQ(here.received + here.missing, there.sent);
        EXPECT_EQ(counts.copies, in.doubled);
        EXPECT_EQ(counts.damaged, in.damaged);
        EXPECT_EQ(counts.garbage + counts.strangers + counts.stale + counts.malformed + counts.no_room +
                      counts.beyond,
                  0u);
        EXPECT_GE(there.given_up, in.dropped + in.damaged) << "each of them went again";
        EXPECT_GT(here.least_round_trip_ns, 0u);
    }
    EXPECT_EQ(world.path(0).message_counts().envelopes_sent, 3000u);
    EXPECT_EQ(world.path(1).message_counts().envelopes_received, 3000u);
    EXPECT_EQ(world.path(1).known(), 1u);
    DgramPath::RoundTrips trips = world.path(0).round_trips();
    EXPECT_EQ(trips.mean_ns, world.path(0).counts_of(1).round_trip_ns) << "of the only peer";
    EXPECT_EQ(trips.least_ns, world.path(0).counts_of(1).least_round_trip_ns);
}

}  // namespace
}  // namespace lanyard::dgram
