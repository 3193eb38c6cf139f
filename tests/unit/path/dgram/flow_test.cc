// Tests flows without losses: what is in which packet, when acknowledgements are sent, windows, and what is
// kept for an idle peer.
#include <gtest/gtest.h>

#include <algorithm>

#include "pair.h"

namespace lanyard::dgram {
namespace {

struct TwoSides : testing::Test {
    Side a{0, 1, 100}, b{1, 0, 200};
    uint64_t now_ns = 1'000'000;

    // Both sides know each other, and the round trip is about 100 us.
    void meet() {
        a.send("hello");
        PacketBytes packet = a.packet(now_ns);
        b.give(packet, now_ns += 50'000);
        b.send("hello");
        packet = b.packet(now_ns);
        a.give(packet, now_ns += 50'000);
        exchange(a, b, now_ns, now_ns + 3'000'000);
    }
};

TEST_F(TwoSides, FirstPacketHasDataAndTheFirstAnswerNamesBothEpochs) {
    a.send("first");
    PacketBytes first = a.packet(now_ns);
    PacketHeader header;
    ASSERT_TRUE(read_header(Crc32c::built_in(), first, header));
    EXPECT_EQ(header.number, number_field(1));
    EXPECT_TRUE(header.introduces);
    EXPECT_EQ(header.from_epoch, 100u);
    EXPECT_EQ(header.to_epoch, 0u);
    EXPECT_EQ(first.size(), 60 + 5u);
    EXPECT_EQ(b.give(first, now_ns), Flow::Outcome::taken);
    EXPECT_EQ(b.arrived, std::vector<std::string>{"first"});
    b.send("answer");
    PacketBytes answer = b.packet(now_ns);
    ASSERT_TRUE(read_header(Crc32c::built_in(), answer, header));
    EXPECT_EQ(header.from_epoch, 200u);
    EXPECT_EQ(header.to_epoch, 100u);
    EXPECT_TRUE(has(answer, FrameKind::acknowledge)) << "rides on what goes anyway";
    a.give(answer, now_ns);
    EXPECT_EQ(a.delivered_below, 1u);
    EXPECT_EQ(a.arrived, std::vector<std::string>{"answer"});
}

TEST_F(TwoSides, LoneAcknowledgementComesAfterAWhileAndIsNotAnswered) {
    a.send("first");
    b.give(a.packet(now_ns), now_ns);
    EXPECT_TRUE(b.packet(now_ns).empty());
    uint64_t due_ns = b.flow.deadline_ns();
    EXPECT_EQ(due_ns, now_ns + b.home.limits.answer.delay_ns);
    PacketBytes answer = b.packet(due_ns);
    EXPECT_EQ(number_of(answer), 0u);
    a.give(answer, due_ns);
    EXPECT_EQ(a.delivered_below, 1u);
    EXPECT_TRUE(a.packet(due_ns).empty());
    EXPECT_EQ(a.flow.deadline_ns(), UINT64_MAX);
}

TEST_F(TwoSides, ShortEnvelopesShareAPacket) {
    meet();
    for (int i = 0; i < 10; ++i) a.send("x");
    PacketBytes packet = a.packet(now_ns);
    std::vector<Frame> frames = frames_of(packet);
    ASSERT_EQ(frames.size(), 10u);
    EXPECT_EQ(frames[0].kind, FrameKind::envelope);
    EXPECT_EQ(frames[9].kind, FrameKind::next);
    EXPECT_EQ(packet.size(),
              usual_header_bytes + envelope_frame_bytes + 9 * (next_frame_bytes + size_bytes) + 10)
        << "the last says no size";
}

TEST_F(TwoSides, HeadersAreSmallOnceBothKnowEachOther) {
    meet();
    a.send("single");
    EXPECT_EQ(a.packet(now_ns).size(), 52 + 6u);
    b.send_bulk(0, std::string(3000, 'b'));
    std::vector<PacketBytes> packets = b.packets(now_ns);
    ASSERT_EQ(packets.size(), 3u);
    for (size_t i : {0u, 1u}) {
        EXPECT_EQ(packets[i].size(), Side::largest);
        EXPECT_EQ(frames_of(packets[i]).back().size, Side::largest - 23);
    }
}

// An envelope that fills a packet exactly, and envelopes with up to 50 bytes less or more.
TEST_F(TwoSides, EveryLengthOfAnEnvelopeArrives) {
    meet();
    size_t full = Side::largest - usual_header_bytes - envelope_frame_bytes;
    for (size_t size = full - 50; size < full + 50; ++size)
        for (bool more : {false, true}) {
            size_t before = b.arrived.size();
            a.send(std::string(size, 'x'));
            if (more) a.send("");
            std::vector<PacketBytes> packets = a.packets(now_ns);
            EXPECT_EQ(packets.size(), 1u + (size > full || more)) << size;
            for (const PacketBytes &packet : packets) {
                ASSERT_LE(packet.size(), Side::largest);
                ASSERT_EQ(b.give(packet, now_ns), Flow::Outcome::taken);
            }
            ASSERT_EQ(b.arrived.size(), before + 1 + more);
            EXPECT_EQ(b.arrived[before].size(), size);
            exchange(a, b, now_ns, now_ns + 2'000'000);
        }
}

// The same for a payload that follows others and is short enough to be copied. The empty envelope at the end
// is in the same packet only if its own frame fits.
TEST_F(TwoSides, EveryRoomBehindAnEnvelopeIsUsed) {
    meet();
    size_t full =
        Side::largest - usual_header_bytes - envelope_frame_bytes - 2 * (size_bytes + 500 + next_frame_bytes);
    for (size_t size = full - 80; size <= full; ++size) {
        size_t before = b.arrived.size();
        for (size_t each : {size_t{500}, size_t{500}, size}) a.send(std::string(each, 'x'));
        a.send("");
        std::vector<PacketBytes> packets = a.packets(now_ns);
        EXPECT_EQ(packets.size(), size + size_bytes + next_frame_bytes <= full ? 1u : 2u) << size;
        for (const PacketBytes &packet : packets) ASSERT_EQ(b.give(packet, now_ns), Flow::Outcome::taken);
        ASSERT_EQ(b.arrived.size(), before + 4) << size;
        EXPECT_EQ(b.arrived[before + 2].size(), size);
        exchange(a, b, now_ns, now_ns + 2'000'000);
    }
}

TEST_F(TwoSides, BulkGoesBeyondNearOffsets) {
    meet();
    constexpr uint64_t begin = near_offsets - 2000;
    a.bulk_log.emplace_back(10'000, 'b');
    a.flow.send_bulk({7, begin}, 10'000, 0);
    uint64_t next = begin;
    for (const PacketBytes &packet : a.packets(now_ns)) {
        Frame frame = frames_of(packet).back();
        EXPECT_EQ(frame.bulk.offset, next);
        next += frame.size;
        if (next < begin + 10'000) {
            EXPECT_EQ(frame.size, Side::largest - usual_header_bytes - bulk_frame_bytes(frame.bulk));
        }
    }
    EXPECT_EQ(next, begin + 10'000);
}

TEST_F(TwoSides, LongEnvelopeIsCutAndPutTogether) {
    meet();
    std::string text(20'000, 'x');
    for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 26);
    a.send(text);
    a.send("");
    a.send("after");
    exchange(a, b, now_ns, now_ns + 5'000'000);
    ASSERT_EQ(b.arrived.size(), 4u);
    EXPECT_EQ(b.arrived[1], text);
    EXPECT_EQ(b.arrived[2], "");
    EXPECT_EQ(b.arrived[3], "after");
    EXPECT_EQ(a.delivered_below, 4u);
}

TEST_F(TwoSides, EveryPacketFits) {
    meet();
    for (int i = 0; i < 300; ++i) a.send(std::string(static_cast<size_t>(i) * 7 % 1500, 'x'));
    a.send_bulk(0, std::string(50'000, 'b'));
    b.send(std::string(10'000, 'y'));
    for (uint64_t until = now_ns + 20'000'000; now_ns < until; now_ns += 20'000)
        for (auto [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}})
            for (const PacketBytes &packet : from->packets(now_ns)) {
                ASSERT_LE(packet.size(), Side::largest);
                ASSERT_EQ(to->give(packet, now_ns), Flow::Outcome::taken);
            }
    EXPECT_EQ(b.arrived.size(), 301u);
    EXPECT_EQ(a.bulk_done, std::vector<uint64_t>{0});
}

TEST_F(TwoSides, BulkIsToldDeliveredOnceAndAtOnce) {
    meet();
    a.send_bulk(3, std::string(3000, 'b'));
    std::vector<PacketBytes> packets = a.packets(now_ns);
    ASSERT_EQ(packets.size(), 3u);
    EXPECT_FALSE(has(packets[1], FrameKind::probe));
    EXPECT_TRUE(has(packets[2], FrameKind::probe)) << "its sender waits for that";
    for (const PacketBytes &packet : packets) b.give(packet, now_ns);
    PacketBytes answer = b.packet(now_ns);
    ASSERT_FALSE(answer.empty()) << "at once";
    a.give(answer, now_ns);
    EXPECT_EQ(a.bulk_done, std::vector<uint64_t>{3});
    EXPECT_EQ(b.bulk_arrived[3], std::string(3000, 'b'));
}

TEST_F(TwoSides, NoMoreIsInFlightThanTheWindow) {
    meet();
    uint32_t window = a.flow.congestion().window();
    a.send_bulk(0, std::string(10'000'000, 'b'));
    size_t bytes = 0;
    for (int i = 0; i < 50; ++i)  // pacing releases the bulk in small portions
        for (const PacketBytes &packet : a.packets(now_ns += 1000)) bytes += packet.size();
    EXPECT_LE(bytes, window);
    EXPECT_GT(bytes, window - 2 * Side::largest);
}

// Several processes send to the receiver. Its grant limits bulk and envelopes alike, and also a sender that
// had no grant before.
TEST_F(TwoSides, ReceiverLimitsWhatIsOnItsWay) {
    FlowLimits limits;
    limits.congestion.first_window = 100'000;
    limits.grants.queue = 4 * Side::largest;
    for (bool bulk : {false, true}) {
        Side c(0, 1, 100, limits), d(1, 0, 200, limits);
        c.send("hello");
        PacketBytes hello = c.packet(now_ns);
        Grants::Sender others[2];
        for (Grants::Sender &other : others) d.home.grants.received(other, limits.grants.little, now_ns);
        d.give(hello, now_ns);
        d.flow.answer();
        c.give(d.packet(now_ns), now_ns);
        EXPECT_EQ(c.flow.granted(), 2 * Side::largest);
        if (bulk) c.send_bulk(0, std::string(100'000, 'b'));
        else c.send(std::string(100'000, 'b'));
        EXPECT_EQ(c.packets(now_ns).size(), 2u);
        exchange(c, d, now_ns, now_ns + 100'000'000);
        EXPECT_FALSE(c.flow.active());
    }
}

TEST_F(TwoSides, WhoIsLateToLookTakesNothingForLost) {
    meet();
    for (int i = 0; i < 3; ++i) a.send(std::string(1400, 'x'));
    std::vector<PacketBytes> packets = a.packets(now_ns);
    a.home.heard_until_ns = now_ns;
    EXPECT_TRUE(a.packets(now_ns += 5'000'000).empty());
    EXPECT_EQ(a.home.counts.probes, 0u);
    a.home.heard_until_ns = now_ns;  // nothing had arrived
    EXPECT_FALSE(a.packets(now_ns).empty());
    EXPECT_EQ(a.home.counts.probes, 1u);
}

TEST_F(TwoSides, PacingLeavesGapsBehindABurst) {
    FlowLimits limits;
    limits.congestion.burst = 4000;
    Side c(0, 1, 100, limits);
    c.send("hello");
    b.give(c.packet(now_ns), now_ns + 50'000);
    PacketBytes answer = b.packet(now_ns += 300'000);
    c.give(answer, now_ns += 50'000);
    c.send_bulk(0, std::string(10'000'000, 'b'));
    size_t bytes = 0;
    for (const PacketBytes &packet : c.packets(now_ns)) bytes += packet.size();
    EXPECT_LE(bytes, 4000 + Side::largest);
    EXPECT_GT(c.flow.deadline_ns(), now_ns);
    EXPECT_LT(c.flow.deadline_ns(), now_ns + 100'000);
}

TEST_F(TwoSides, KeepNothingWhenAllIsAcknowledged) {
    meet();
    EXPECT_FALSE(a.flow.active());
    EXPECT_FALSE(b.flow.active());
    EXPECT_EQ(a.home.sent.bytes() + a.home.active_states.bytes() + a.home.early.bytes(), 0u);
    a.send_bulk(0, std::string(100'000, 'b'));
    EXPECT_TRUE(a.flow.active());
    exchange(a, b, now_ns, now_ns + 20'000'000);
    EXPECT_FALSE(a.flow.active());
    EXPECT_FALSE(b.flow.active());
    EXPECT_EQ(a.home.sent.bytes() + a.home.bulk.bytes() + a.home.active_states.bytes() +
                  b.home.active_states.bytes(),
              0u);
}

TEST_F(TwoSides, WhatCouldNotBeSentIsSentLaterUnderTheSameNumber) {
    meet();
    a.send("one");
    std::vector<std::byte> buffer(Side::largest);
    OutPacket out{};
    out.buffer = buffer.data();
    ASSERT_TRUE(a.flow.compose(out, now_ns));
    uint64_t number = out.number;
    a.flow.take_back(out, now_ns);
    a.send("two");
    std::vector<PacketBytes> packets = a.packets(now_ns);
    ASSERT_EQ(packets.size(), 1u);
    EXPECT_EQ(number_of(packets[0]), number);
    b.give(packets[0], now_ns);
    EXPECT_EQ(b.arrived, (std::vector<std::string>{"hello", "one", "two"}));
    EXPECT_EQ(a.home.counts.lost_by_order + a.home.counts.lost_by_time + a.home.counts.probes, 0u);
}

TEST_F(TwoSides, AProbeThatCouldNotBeSentIsSentLater) {
    meet();
    a.flow.ask();
    std::vector<std::byte> buffer(Side::largest);
    OutPacket out{};
    out.buffer = buffer.data();
    ASSERT_TRUE(a.flow.compose(out, now_ns));
    a.flow.take_back(out, now_ns);
    EXPECT_EQ(a.flow.deadline_ns(), 0u);
    PacketBytes packet = a.packet(now_ns);
    ASSERT_TRUE(has(packet, FrameKind::probe));
    b.give(packet, now_ns);
    a.give(b.packet(now_ns), now_ns);
    EXPECT_TRUE(a.packet(now_ns).empty());
    EXPECT_FALSE(a.flow.active());
}

TEST_F(TwoSides, WhatCouldNotBeSentTakesNoTimeOfTheLine) {
    meet();
    a.send_bulk(0, std::string(100'000, 'b'));
    std::vector<std::byte> buffer(Side::largest);
    OutPacket out{};
    out.buffer = buffer.data();
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(a.flow.compose(out, now_ns)) << i;
        a.flow.take_back(out, now_ns);
    }
    exchange(a, b, now_ns, now_ns + 20'000'000);
    EXPECT_EQ(a.bulk_done, std::vector<uint64_t>{0});
}

TEST_F(TwoSides, EndTellsThePeerOnce) {
    meet();
    a.flow.close();
    PacketBytes packet = a.packet(now_ns);
    EXPECT_TRUE(a.flow.over());
    b.give(packet, now_ns);
    EXPECT_EQ(b.ends, std::vector<FlowEnd>{FlowEnd::closed});
    EXPECT_TRUE(b.flow.over());
    b.give(packet, now_ns);
    b.send("too late");
    EXPECT_TRUE(b.packet(now_ns).empty());
    EXPECT_EQ(b.ends.size(), 1u);
    EXPECT_TRUE(a.ends.empty());
}

TEST_F(TwoSides, AskingIsAnswered) {
    meet();
    a.flow.ask();
    b.give(a.packet(now_ns), now_ns);
    a.give(b.packet(now_ns), now_ns);
    EXPECT_TRUE(a.packet(now_ns).empty());
    EXPECT_FALSE(a.flow.active());
}

TEST_F(TwoSides, ShortPacketsAreNotAnsweredAtOnceBecauseLongOnesMayBe) {
    a.flow.set_largest(most_packet);  // longer than the window
    for (int i = 0; i < 4; ++i) {
        a.send("short");
        PacketBytes packet = a.packet(now_ns);
        ASSERT_FALSE(packet.empty()) << "one is on its way, and there is room for more: " << i;
        EXPECT_FALSE(has(packet, FrameKind::probe));
    }
}

TEST_F(TwoSides, WhereProcessorsAreSharedAnAnswerWaitsForSomethingToRideOn) {
    meet();
    b.home.oversubscribed = true;
    a.send("question");
    b.give(a.packet(now_ns), now_ns);
    uint64_t due_ns = b.flow.deadline_ns(), trip_ns = b.flow.trip().smoothed_ns();
    EXPECT_EQ(due_ns, now_ns + std::clamp(2 * trip_ns, b.home.limits.answer.delay_ns,
                                          b.home.limits.answer.most_delay_ns));
    b.send("answer");
    PacketBytes answer = b.packet(now_ns);
    EXPECT_TRUE(has(answer, FrameKind::acknowledge));
    EXPECT_NE(number_of(answer), 0u);
}

TEST_F(TwoSides, WhereProcessorsAreSharedTheSenderWaitsForTheLongestAnswer) {
    meet();
    a.home.oversubscribed = true;
    a.send("question");
    a.packet(now_ns);
    EXPECT_GE(a.flow.deadline_ns(), now_ns + a.home.limits.answer.most_delay_ns);
}

TEST_F(TwoSides, NothingIsGivenUpBeforeAllThatCameIsKnown) {
    meet();
    a.send("question");
    a.packet(now_ns);
    a.home.heard_all(now_ns);
    now_ns += 1'000'000'000;
    EXPECT_TRUE(a.packet(now_ns).empty());
    EXPECT_EQ(a.home.counts.probes, 0u);
    EXPECT_LE(a.flow.deadline_ns(), now_ns) << "it is due all the same";
    a.home.heard_all(now_ns);
    EXPECT_FALSE(a.packet(now_ns).empty());
    EXPECT_EQ(a.home.counts.probes, 1u);
}

}  // namespace
}  // namespace lanyard::dgram
