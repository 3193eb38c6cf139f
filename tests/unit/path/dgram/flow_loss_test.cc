// Tests flows that lose packets: what is sent again, when, and what happens to silent peers.
#include <gtest/gtest.h>

#include "pair.h"

namespace lanyard::dgram {
namespace {

struct Lossy : testing::Test {
    Side a{0, 1, 100}, b{1, 0, 200};
    uint64_t now_ns = 1'000'000;

    void SetUp() override {
        a.send("hello");
        PacketBytes packet = a.packet(now_ns);
        b.give(packet, now_ns += trip_ns / 2);
        b.send("hello");
        packet = b.packet(now_ns);
        a.give(packet, now_ns += trip_ns / 2);
        exchange(a, b, now_ns, now_ns + 3'000'000);
    }
    // `count` packets with one envelope each.
    std::vector<PacketBytes> send(int count) {
        std::vector<PacketBytes> packets;
        for (int i = 0; i < count; ++i) {
            a.send(std::to_string(i));
            packets.push_back(a.packet(now_ns));
        }
        return packets;
    }
    void answer() {
        for (const PacketBytes &packet : b.packets(now_ns)) a.give(packet, now_ns);
    }
};

TEST_F(Lossy, LostByOrderIsSentAgainAtOnce) {
    std::vector<PacketBytes> packets = send(4);
    now_ns += trip_ns;
    for (int i = 1; i < 4; ++i) {
        b.give(packets[static_cast<size_t>(i)], now_ns);
        answer();
    }
    EXPECT_EQ(b.arrived.size(), 1u) << "nothing out of order";
    PacketBytes again = a.packet(now_ns);
    ASSERT_FALSE(again.empty());
    EXPECT_EQ(number_of(again), number_of(packets[3]) + 1);
    EXPECT_TRUE(has(again, FrameKind::move_on));
    EXPECT_EQ(a.home.counts.lost_by_order, 1u);
    b.give(again, now_ns);
    EXPECT_EQ(b.arrived, (std::vector<std::string>{"hello", "0", "1", "2", "3"}));
    EXPECT_EQ(b.give(packets[0], now_ns), Flow::Outcome::copy) << "late after all";
    EXPECT_EQ(b.arrived.size(), 5u);
    exchange(a, b, now_ns, now_ns + 1'000'000);
    EXPECT_FALSE(a.flow.active() || b.flow.active());
}

TEST_F(Lossy, LostByTimeWhereNotEnoughFollows) {
    std::vector<PacketBytes> packets = send(2);
    uint64_t sent_ns = now_ns;
    now_ns += trip_ns / 2;
    b.give(packets[1], now_ns);
    answer();
    EXPECT_TRUE(a.packet(now_ns).empty());
    uint64_t due_ns = a.flow.deadline_ns();
    EXPECT_EQ(due_ns, sent_ns + a.flow.trip().loss_age_ns());
    PacketBytes again = a.packet(due_ns);
    ASSERT_FALSE(again.empty());
    EXPECT_EQ(a.home.counts.lost_by_time, 1u);
    EXPECT_EQ(a.home.counts.probes, 0u);
    b.give(again, due_ns);
    EXPECT_EQ(b.arrived.size(), 3u);
}

TEST_F(Lossy, LostTailIsProbedWithDoublingPatience) {
    send(1);
    std::vector<uint64_t> waited;
    for (int i = 0; i < 16; ++i) {
        uint64_t due_ns = a.flow.deadline_ns();
        waited.push_back(due_ns - now_ns);
        ASSERT_TRUE(a.packet(due_ns - 1).empty());
        PacketBytes probe = a.packet(now_ns = due_ns);
        ASSERT_TRUE(has(probe, FrameKind::probe)) << i;
        ASSERT_TRUE(has(probe, FrameKind::envelope)) << "with the contents of what was lost";
    }
    EXPECT_LT(waited[0], 10 * trip_ns);
    EXPECT_EQ(waited[1], 2 * waited[0]);
    EXPECT_EQ(waited[2], 4 * waited[0]);
    EXPECT_EQ(waited.back(), a.home.limits.longest_probe_ns);
    PacketBytes probe = a.packet(now_ns = a.flow.deadline_ns());
    b.give(probe, now_ns);
    answer();
    EXPECT_EQ(b.arrived.size(), 2u);
    EXPECT_EQ(a.delivered_below, 2u);
    exchange(a, b, now_ns, now_ns + 1'000'000);
    EXPECT_FALSE(a.flow.active() || b.flow.active());
}

TEST_F(Lossy, ProbeBehindSeveralAsksWhichAreLost) {
    std::vector<PacketBytes> packets = send(3);
    b.give(packets[0], now_ns);
    b.give(packets[1], now_ns);  // its acknowledgement is late
    std::vector<PacketBytes> probe = a.packets(now_ns = a.flow.deadline_ns());
    ASSERT_EQ(probe.size(), 1u);
    EXPECT_TRUE(has(probe[0], FrameKind::probe));
    EXPECT_FALSE(has(probe[0], FrameKind::envelope)) << "all may have arrived";
    EXPECT_EQ(a.home.counts.given_up(), 0u);
    b.give(probe[0], now_ns += trip_ns / 2);
    answer();
    EXPECT_EQ(a.home.counts.given_up(), 1u) << "the last one, as the answer shows";
    PacketBytes again = a.packet(now_ns);
    EXPECT_TRUE(has(again, FrameKind::envelope));
    b.give(again, now_ns);
    EXPECT_EQ(b.arrived.size(), 4u);
}

TEST_F(Lossy, LostAcknowledgementIsRepeatedForACopy) {
    std::vector<PacketBytes> packets = send(1);
    b.give(packets[0], now_ns);
    b.packets(now_ns + 1'000'000);  // lost
    EXPECT_FALSE(b.flow.active());
    now_ns += 2'000'000;
    EXPECT_EQ(b.give(packets[0], now_ns), Flow::Outcome::copy);
    answer();
    EXPECT_EQ(a.delivered_below, 2u);
    EXPECT_EQ(b.arrived.size(), 2u);
    EXPECT_EQ(b.home.counts.copies, 1u);
}

TEST_F(Lossy, OnlyWhatIsLostOfBulkIsSentAgain) {
    a.send_bulk(0, std::string(8'000, 'b'));
    std::vector<PacketBytes> packets = a.packets(now_ns);
    ASSERT_EQ(packets.size(), 6u);
    now_ns += trip_ns;
    for (size_t i = 0; i < packets.size(); ++i)
        if (i != 1) b.give(packets[i], now_ns);
    answer();
    std::vector<PacketBytes> again = a.packets(now_ns);  // takes two packets if other frames need room
    ASSERT_FALSE(again.empty());
    size_t bytes = 0;
    for (const PacketBytes &packet : again) {
        bytes += frames_of(packet).back().size;
        b.give(packet, now_ns);
    }
    EXPECT_EQ(frames_of(again[0]).back().bulk.offset, frames_of(packets[1]).back().bulk.offset);
    EXPECT_EQ(bytes, frames_of(packets[1]).back().size);
    now_ns += 1'000'000;
    answer();
    for (const PacketBytes &packet : a.packets(now_ns)) b.give(packet, now_ns);
    answer();
    EXPECT_EQ(a.bulk_done, std::vector<uint64_t>{0});
    EXPECT_EQ(b.bulk_arrived[0], std::string(8'000, 'b'));
}

TEST_F(Lossy, LostIsCutAnewForSmallerPackets) {
    a.send(std::string(1400, 'x'));
    a.packet(now_ns);  // lost
    a.flow.set_largest(600);
    int packets = 0;
    for (int i = 0; i < 100 && b.arrived.size() < 2; ++i) {
        now_ns = std::max(now_ns + 1, std::min(a.flow.deadline_ns(), now_ns + 1'000'000));
        for (const PacketBytes &packet : a.packets(now_ns)) {
            EXPECT_LE(packet.size(), 600u);
            b.give(packet, now_ns);
            ++packets;
        }
        answer();
    }
    EXPECT_EQ(b.arrived.back(), std::string(1400, 'x'));
    EXPECT_EQ(packets, 3);
}

TEST_F(Lossy, NoMoreIsCutThanWasLost) {
    FlowLimits limits;
    limits.congestion.first_window = 600;
    limits.congestion.first_packets = 0;
    Side c(0, 1, 100, limits), d(1, 0, 200);
    c.flow.set_largest(600);
    c.send(std::string(1400, 'x'));
    std::vector<PacketBytes> first = c.packets(now_ns);  // lost; the window holds the rest back
    ASSERT_EQ(first.size(), 1u);
    c.flow.set_largest(Side::largest);
    std::vector<PacketBytes> again = c.packets(now_ns = c.flow.deadline_ns());
    ASSERT_FALSE(again.empty());
    EXPECT_EQ(frames_of(again[0]).back().size, frames_of(first[0]).back().size);
    for (const PacketBytes &packet : again) d.give(packet, now_ns);
    exchange(c, d, now_ns, now_ns + 100'000'000);
    EXPECT_EQ(d.arrived, std::vector<std::string>{std::string(1400, 'x')});
    EXPECT_EQ(c.delivered_below, 1u);
}

TEST_F(Lossy, SilentPeerIsLostOnce) {
    uint64_t begin_ns = now_ns;
    a.send_bulk(0, std::string(50'000, 'b'));
    a.send("x");
    a.packets(now_ns);
    while (a.ends.empty() && a.flow.deadline_ns() != UINT64_MAX) {
        now_ns = std::max(now_ns, a.flow.deadline_ns());
        a.packets(now_ns);
    }
    EXPECT_EQ(a.ends, std::vector<FlowEnd>{FlowEnd::silent});
    EXPECT_EQ(now_ns, begin_ns + a.home.limits.peer_timeout_ns);
    EXPECT_FALSE(a.flow.active());
    EXPECT_EQ(a.home.sent.bytes() + a.home.bulk.bytes() + a.home.active_states.bytes(), 0u);
    a.send("more");
    EXPECT_TRUE(a.packet(now_ns + 1).empty());
    EXPECT_EQ(a.ends.size(), 1u);
}

TEST_F(Lossy, ReceiverWithoutRoomTakesThePacketItNeeds) {
    FlowLimits limits;
    limits.early_blocks = 2;
    Side c(1, 0, 300, limits);
    Side d(0, 1, 400);
    for (int i = 0; i < 8; ++i) d.send(std::string(1300, static_cast<char>('a' + i)));
    std::vector<PacketBytes> packets = d.packets(now_ns);
    ASSERT_GT(packets.size(), 6u);
    for (size_t i = 1; i < packets.size(); ++i) c.give(packets[i], now_ns);
    EXPECT_GT(c.home.counts.no_room, 0u);
    EXPECT_TRUE(c.arrived.empty());
    exchange(c, d, now_ns, now_ns + 100'000'000);
    EXPECT_EQ(c.arrived.size(), 8u);
    EXPECT_EQ(d.delivered_below, 8u);
}

TEST_F(Lossy, SecondProbeHasWhatTheReceiverNeedsFirst) {
    FlowLimits limits;
    limits.early_blocks = 0;
    Side c(1, 0, 300, limits);
    Side d(0, 1, 400);
    for (int i = 0; i < 8; ++i) d.send(std::string(1300, static_cast<char>('a' + i)));
    std::vector<PacketBytes> packets = d.packets(now_ns);
    for (size_t i = 1; i < packets.size(); ++i) c.give(packets[i], now_ns);
    EXPECT_EQ(c.home.counts.no_room, packets.size() - 1);
    EXPECT_LE(c.flow.deadline_ns(), now_ns) << "says at once that it lives";
    // The first probe carries no data, and is lost. With the second probe, all packets that are outstanding
    // are given up, so the newest packet has the contents of the first one.
    d.packets(now_ns = d.flow.deadline_ns());
    EXPECT_EQ(d.home.counts.probes, 1u);
    PacketBytes second = d.packets(now_ns = d.flow.deadline_ns())[0];
    c.give(second, now_ns);
    EXPECT_EQ(c.arrived.size(), 1u);
    exchange(c, d, now_ns, now_ns + 100'000'000);
    EXPECT_EQ(c.arrived.size(), 8u);
    EXPECT_LE(d.home.counts.probes, 3u);  // no later acknowledgement shows that the last packet was lost
}

TEST_F(Lossy, DamagedPacketIsAsIfItHadNotCome) {
    PacketBytes packet = send(1)[0];
    packet[40] ^= std::byte{4};
    EXPECT_EQ(b.give(packet, now_ns), Flow::Outcome::dropped);
    EXPECT_EQ(b.home.counts.damaged, 1u);
    EXPECT_EQ(b.arrived.size(), 1u);
    packet[40] ^= std::byte{4};
    EXPECT_EQ(b.give(packet, now_ns), Flow::Outcome::taken);
}

}  // namespace
}  // namespace lanyard::dgram
