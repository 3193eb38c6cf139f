// Flows and packets that are not theirs: of another secret, another time, another direction; and such as make no sense though proven.
#include <gtest/gtest.h>

#include "pair.h"

namespace lanyard::dgram {
namespace {

constexpr uint64_t now_ns = 1'000'000;

void give_all(Side &from, Side &to, uint64_t at_ns = now_ns) {
    for (const PacketBytes &packet : from.packets(at_ns)) to.give(packet, at_ns);
}

void meet(Side &a, Side &b) {
    a.send("hello");
    give_all(a, b);
    b.send("hello");
    give_all(b, a);
    give_all(a, b, now_ns + 1'000'000);
}

TEST(FlowEpochs, PacketsWithoutTheSecretAreOfStrangers) {
    Side b(1, 0, 200), stranger(0, 1, 100, {}, '8');
    stranger.send("let me in");
    EXPECT_EQ(b.give(stranger.packet(now_ns), now_ns), Flow::Came::dropped);
    EXPECT_EQ(b.home.counts.strangers, 1u);
    EXPECT_FALSE(b.flow.active());
}

TEST(FlowEpochs, APacketProvesOneDirectionOnly) {
    Side a(0, 1, 100), b(1, 0, 200);
    a.send("to b");
    PacketBytes packet = a.packet(now_ns);
    EXPECT_EQ(a.give(packet, now_ns), Flow::Came::dropped) << "sent back";
    Side third(2, 0, 300);
    EXPECT_EQ(third.give(packet, now_ns), Flow::Came::dropped);
    EXPECT_EQ(third.home.counts.strangers, 1u);
    EXPECT_EQ(b.give(packet, now_ns), Flow::Came::taken);
}

TEST(FlowEpochs, BothMayBeginAtOnce) {
    Side a(0, 1, 100), b(1, 0, 200);
    a.send("from a");
    b.send("from b");
    PacketBytes of_a = a.packet(now_ns), of_b = b.packet(now_ns);
    EXPECT_EQ(a.give(of_b, now_ns), Flow::Came::taken);
    EXPECT_EQ(b.give(of_a, now_ns), Flow::Came::taken);
    give_all(a, b, now_ns + 1'000'000);
    give_all(b, a, now_ns + 1'000'000);
    EXPECT_EQ(a.delivered_below, 1u);
    EXPECT_EQ(b.delivered_below, 1u);
}

TEST(FlowEpochs, RepeatedPacketsDeliverNothing) {
    Side a(0, 1, 100), b(1, 0, 200);
    std::vector<PacketBytes> said;
    for (int i = 0; i < 5; ++i) {
        a.send(std::to_string(i));
        said.push_back(a.packet(now_ns));
        b.give(said.back(), now_ns);
    }
    for (const PacketBytes &packet : said) EXPECT_EQ(b.give(packet, now_ns), Flow::Came::copy);
    EXPECT_EQ(b.came.size(), 5u);
    EXPECT_EQ(b.home.counts.copies, 5u);
}

TEST(FlowEpochs, AnotherEpochOfThePeerIsStale) {
    Side a(0, 1, 100), b(1, 0, 200), again(0, 1, 101);
    meet(a, b);
    again.send("a new life");
    EXPECT_EQ(b.give(again.packet(now_ns), now_ns), Flow::Came::dropped);
    EXPECT_EQ(b.home.counts.stale, 1u);
    EXPECT_EQ(b.came.size(), 1u);
}

TEST(FlowEpochs, WhoHasForgottenRefusesAndEndsTheFlowOnce) {
    Side a(0, 1, 100), b(1, 0, 200), anew(1, 0, 201);
    meet(a, b);
    a.send("do you remember?");
    PacketBytes packet = a.packet(now_ns + 2'000'000);
    EXPECT_EQ(anew.give(packet, now_ns), Flow::Came::dropped);
    EXPECT_EQ(anew.home.counts.stale, 1u);
    PacketBytes refusal = anew.packet(now_ns);
    EXPECT_TRUE(has(refusal, FrameKind::end));
    EXPECT_FALSE(anew.flow.over());
    a.give(refusal, now_ns + 3'000'000);
    EXPECT_EQ(a.ends, std::vector<FlowEnd>{FlowEnd::refused});
    a.give(refusal, now_ns + 3'000'000);
    EXPECT_EQ(a.ends.size(), 1u);
    EXPECT_FALSE(a.flow.active());
}

TEST(FlowEpochs, ARefusalOfSomethingElseIsNotBelieved) {
    Side a(0, 1, 100), b(1, 0, 200), old(0, 1, 99), anew(1, 0, 201);
    meet(old, b);
    old.send("old");
    anew.give(old.packet(now_ns + 2'000'000), now_ns);
    PacketBytes refusal = anew.packet(now_ns);  // says epoch 99 that it is not 200
    Side c(1, 0, 210);
    meet(a, c);
    a.give(refusal, now_ns);
    EXPECT_TRUE(a.ends.empty());
    EXPECT_EQ(a.home.counts.stale, 1u);
}

Envelope second() {
    Envelope envelope{};
    envelope.context = 1;
    return envelope;
}

// Made by one who has the secret, but says nonsense.
class Nonsense : public testing::Test {
protected:
    Side a{0, 1, 100}, b{1, 0, 200};
    void SetUp() override { meet(a, b); }

    template <class Write>
    Flow::Came say(uint64_t number, Write write) {
        b.send("true");
        PacketBytes packet = b.packet(now_ns + 5'000'000);
        PacketHeader header;
        read_header(Crc32c::built_in(), packet, header);
        header.number = number;
        packet.resize(1000);
        FrameWriter writer(packet.data() + header_bytes, packet.size() - header_bytes);
        write(writer);
        packet.resize(header_bytes + writer.size());
        write_header(packet.data(), header);
        seal(Crc32c::built_in(), packet.data(), packet.size(), nullptr, 0);
        return a.give(packet, now_ns + 5'000'000);
    }
};

TEST_F(Nonsense, AcknowledgementOfWhatWasNeverSent) {
    Acknowledgement said;
    said.cumulative = 1000;
    EXPECT_EQ(say(0, [&](FrameWriter &to) { to.acknowledge(said); }), Flow::Came::dropped);
    said.cumulative = 1;
    said.expected = 50;
    EXPECT_EQ(say(0, [&](FrameWriter &to) { to.acknowledge(said); }), Flow::Came::dropped);
    EXPECT_EQ(a.home.counts.malformed, 2u);
    EXPECT_EQ(a.delivered_below, 1u);
}

TEST_F(Nonsense, DataWithoutANumber) {
    EXPECT_EQ(say(0, [&](FrameWriter &to) { to.envelope(1, second(), 0); }), Flow::Came::dropped);
    EXPECT_EQ(a.came.size(), 1u);
}

TEST_F(Nonsense, SettledBeyondThePacketItself) {
    EXPECT_EQ(say(2, [&](FrameWriter &to) { to.settled(5); }), Flow::Came::dropped);
    EXPECT_EQ(a.home.counts.malformed, 1u);
}

TEST_F(Nonsense, NumbersFarAhead) {
    EXPECT_EQ(say(1'000'000, [&](FrameWriter &to) { to.envelope(1, second(), 0); }), Flow::Came::dropped);
    EXPECT_EQ(a.home.counts.beyond, 1u);
}

TEST_F(Nonsense, NothingOfAPacketIsTakenThatIsSenselessAtItsEnd) {
    EXPECT_EQ(say(2, [&](FrameWriter &to) {
                  to.envelope(1, second(), 0);
                  to.end(static_cast<EndReason>(7), 0);
              }),
              Flow::Came::dropped);
    EXPECT_EQ(a.came.size(), 1u);
    EXPECT_EQ(say(2, [&](FrameWriter &to) { to.envelope(1, second(), 0); }), Flow::Came::taken);
    EXPECT_EQ(a.came.size(), 2u);
}

}  // namespace
}  // namespace lanyard::dgram
