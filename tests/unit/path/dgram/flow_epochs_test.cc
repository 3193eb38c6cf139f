// Tests packets that do not belong to the flow: of another secret, another time or another direction. Also
// tests packets whose proof is right but whose contents make no sense.
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
    EXPECT_EQ(b.give(stranger.packet(now_ns), now_ns), Flow::Outcome::dropped);
    EXPECT_EQ(b.home.counts.strangers, 1u);
    EXPECT_FALSE(b.flow.active());
}

TEST(FlowEpochs, APacketProvesOneDirectionOnly) {
    Side a(0, 1, 100), b(1, 0, 200);
    a.send("to b");
    PacketBytes packet = a.packet(now_ns);
    EXPECT_EQ(a.give(packet, now_ns), Flow::Outcome::dropped) << "sent back";
    Side third(2, 0, 300);
    EXPECT_EQ(third.give(packet, now_ns), Flow::Outcome::dropped);
    EXPECT_EQ(third.home.counts.strangers, 1u);
    EXPECT_EQ(b.give(packet, now_ns), Flow::Outcome::taken);
}

// Each side has sent its first packet before the other's first packet arrives.
void begin_at_once(Side &a, Side &b) {
    a.send("from a");
    b.send("from b");
    PacketBytes of_a = a.packet(now_ns), of_b = b.packet(now_ns);
    EXPECT_EQ(a.give(of_b, now_ns), Flow::Outcome::taken);
    EXPECT_EQ(b.give(of_a, now_ns), Flow::Outcome::taken);
}

TEST(FlowEpochs, BothMayBeginAtOnce) {
    Side a(0, 1, 100), b(1, 0, 200);
    begin_at_once(a, b);
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
    for (const PacketBytes &packet : said) EXPECT_EQ(b.give(packet, now_ns), Flow::Outcome::copy);
    EXPECT_EQ(b.arrived.size(), 5u);
    EXPECT_EQ(b.home.counts.copies, 5u);
}

TEST(FlowEpochs, AnotherEpochOfThePeerIsStale) {
    Side a(0, 1, 100), b(1, 0, 200), again(0, 1, 101);
    meet(a, b);
    again.send("a new life");
    EXPECT_EQ(b.give(again.packet(now_ns), now_ns), Flow::Outcome::dropped);
    EXPECT_EQ(b.home.counts.stale, 1u);
    EXPECT_EQ(b.arrived.size(), 1u);
}

TEST(FlowEpochs, AreNamedUntilThePeerIsKnownToKnowThem) {
    Side a(0, 1, 100), b(1, 0, 200);
    a.send("one");
    PacketBytes of_a = a.packet(now_ns);
    EXPECT_EQ(header_of(of_a).to_epoch, 0u);
    a.send("two");
    EXPECT_TRUE(header_of(a.packet(now_ns)).introduces) << "nothing has arrived from b";
    b.give(of_a, now_ns);
    b.send("one");
    PacketBytes of_b = b.packet(now_ns);
    EXPECT_TRUE(header_of(of_b).introduces) << "a does not know b yet";
    EXPECT_EQ(header_of(of_b).to_epoch, 100u);
    a.give(of_b, now_ns);
    a.send("three");
    of_a = a.packet(now_ns);
    EXPECT_FALSE(header_of(of_a).introduces) << "b has named 100";
    EXPECT_EQ(b.give(of_a, now_ns), Flow::Outcome::taken);
    b.send("two");
    of_b = b.packet(now_ns);
    EXPECT_FALSE(header_of(of_b).introduces) << "a has proven to know 200";
    EXPECT_EQ(a.give(of_b, now_ns), Flow::Outcome::taken);
}

// Both sides begin at once. Each side receives the other's epoch before it knows that the other has received
// its own.
TEST(FlowEpochs, AreNamedToWhoBeganAtTheSameTime) {
    Side a(0, 1, 100), b(1, 0, 200);
    begin_at_once(a, b);
    a.send("again");
    PacketBytes of_a = a.packet(now_ns);
    EXPECT_TRUE(header_of(of_a).introduces) << "b's packet said nothing of a";
    EXPECT_EQ(header_of(of_a).to_epoch, 200u);
}

TEST(FlowEpochs, AUsualPacketMayOvertakeThoseThatIntroduce) {
    Side a(0, 1, 100), b(1, 0, 200);
    std::vector<PacketBytes> introducing;
    for (int i = 0; i < 3; ++i) {
        a.send(std::to_string(i));
        introducing.push_back(a.packet(now_ns));
    }
    b.give(introducing[0], now_ns);
    b.flow.answer();
    a.give(b.packet(now_ns), now_ns);
    a.send("usual");
    PacketBytes usual = a.packet(now_ns);
    ASSERT_FALSE(header_of(usual).introduces);
    EXPECT_EQ(b.give(usual, now_ns), Flow::Outcome::taken);
    b.send("now both know");
    a.give(b.packet(now_ns), now_ns);
    EXPECT_EQ(b.give(introducing[2], now_ns), Flow::Outcome::taken);
    EXPECT_EQ(b.give(introducing[1], now_ns), Flow::Outcome::taken);
    EXPECT_EQ(b.arrived, (std::vector<std::string>{"0", "1", "2", "usual"}));
}

TEST(FlowEpochs, AUsualPacketIsOfThisFlowOrOfAStranger) {
    Side a(0, 1, 100), b(1, 0, 200);
    meet(a, b);
    a.send("to b");
    PacketBytes usual = a.packet(now_ns + 2'000'000);
    ASSERT_FALSE(header_of(usual).introduces);
    Side nobody_met(1, 0, 200), met_another(1, 0, 200), another(0, 1, 101), is_another(1, 0, 201),
        a_again(0, 1, 100);
    meet(another, met_another);
    meet(a_again, is_another);
    for (Side *side : {&nobody_met, &met_another, &is_another}) {
        EXPECT_EQ(side->give(usual, now_ns), Flow::Outcome::dropped);
        EXPECT_EQ(side->home.counts.strangers, 1u);
        EXPECT_EQ(side->home.counts.stale, 0u);
    }
    EXPECT_FALSE(Flow::is_proven(nobody_met.home, usual));
    EXPECT_EQ(b.give(usual, now_ns + 2'000'000), Flow::Outcome::taken);
}

TEST(FlowEpochs, AreNamedAgainWhileProbesAreNotAnswered) {
    Side a(0, 1, 100), b(1, 0, 200);
    meet(a, b);
    a.send("lost");
    EXPECT_FALSE(header_of(a.packet(now_ns + 2'000'000)).introduces);
    PacketBytes probe;
    for (int i = 0; i < 3; ++i) {
        probe = a.packet(a.flow.deadline_ns());
        EXPECT_TRUE(header_of(probe).introduces);
        EXPECT_EQ(header_of(probe).to_epoch, 200u);
        EXPECT_TRUE(Flow::is_proven(b.home, probe));
    }
    uint64_t then_ns = now_ns + 50'000'000;
    EXPECT_EQ(b.give(probe, then_ns), Flow::Outcome::taken);
    a.give(b.packet(then_ns), then_ns);
    a.send("answered");
    EXPECT_FALSE(header_of(a.packet(then_ns)).introduces);
}

TEST(FlowEpochs, WhoHasForgottenRefusesAndEndsTheFlowOnce) {
    Side a(0, 1, 100), b(1, 0, 200), anew(1, 0, 201);
    meet(a, b);
    a.send("do you remember?");
    EXPECT_EQ(anew.give(a.packet(now_ns + 2'000'000), now_ns), Flow::Outcome::dropped);
    EXPECT_EQ(anew.home.counts.strangers, 1u);
    EXPECT_TRUE(anew.packet(now_ns).empty()) << "nobody knows from whom it is";
    EXPECT_EQ(anew.give(a.packet(a.flow.deadline_ns()), now_ns), Flow::Outcome::dropped);
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
    old.packet(now_ns + 2'000'000);
    anew.give(old.packet(old.flow.deadline_ns()), now_ns);
    PacketBytes refusal = anew.packet(now_ns);  // states to epoch 99 that epoch 200 is refused
    ASSERT_TRUE(has(refusal, FrameKind::end));
    Side c(1, 0, 210);
    meet(a, c);
    a.give(refusal, now_ns);
    EXPECT_TRUE(a.ends.empty());
    EXPECT_EQ(a.home.counts.stale, 1u);
}

TEST(FlowEpochs, TheEndIsToldInTheUsualForm) {
    Side a(0, 1, 100), b(1, 0, 200);
    meet(a, b);
    a.flow.close();
    PacketBytes end = a.packet(now_ns);
    EXPECT_FALSE(header_of(end).introduces);
    b.give(end, now_ns);
    EXPECT_EQ(b.ends, std::vector<FlowEnd>{FlowEnd::closed});
}

// Packet numbers wrap on the wire at 2^31, and the full numbers pass 2^32. Both events must have no effect.
TEST(FlowEpochs, NumbersGoRound) {
    for (uint64_t round : {uint64_t{1} << 31, uint64_t{1} << 32}) {
        FlowLimits limits;
        limits.first_number = round - 10;
        Side a(0, 1, 100, limits), b(1, 0, 200, limits);
        meet(a, b);
        std::vector<PacketBytes> had;
        uint64_t at_ns = now_ns + 2'000'000;
        for (int i = 0; i < 40; ++i, at_ns += 1'000'000) {
            a.send(std::to_string(i));
            had.push_back(a.packet(at_ns));
            EXPECT_NE(header_of(had.back()).number, 0u);
            if (i % 7) {  // every seventh packet is lost
                EXPECT_EQ(b.give(had.back(), at_ns), Flow::Outcome::taken) << i;
            }
            exchange(a, b, at_ns, at_ns + 1'000'000);
        }
        EXPECT_EQ(b.arrived.size(), 41u);
        for (size_t i = 0; i < had.size(); ++i) EXPECT_EQ(b.give(had[i], at_ns), Flow::Outcome::copy) << i;
        exchange(a, b, at_ns, at_ns + 10'000'000);
        EXPECT_EQ(a.delivered_below, 41u);
        EXPECT_EQ(a.home.counts.malformed + b.home.counts.malformed + b.home.counts.beyond, 0u);
        EXPECT_LT(number_of(had.back()), number_of(had.front())) << "of which 31 bits travel";
        EXPECT_FALSE(a.flow.active() || b.flow.active());
    }
}

Envelope second() {
    Envelope envelope{};
    envelope.context = 1;
    return envelope;
}

// Packets from a process that has the secret but sends nonsense.
class Nonsense : public testing::Test {
protected:
    Side a{0, 1, 100}, b{1, 0, 200};
    void SetUp() override { meet(a, b); }

    template <class Write>
    Flow::Outcome say(uint64_t number, Write write) {
        return say_field(number ? number_field(number) : 0, write);
    }
    // Like say(), but takes the number in the form that it has on the wire.
    template <class Write>
    Flow::Outcome say_field(uint32_t field, Write write) {
        b.send("true");
        PacketBytes packet = b.packet(now_ns + 5'000'000);
        PacketHeader header = header_of(packet);
        EXPECT_FALSE(header.introduces);
        header.number = field;
        packet.resize(1000);
        FrameWriter writer(packet.data() + header.bytes(), packet.size() - header.bytes());
        write(writer);
        packet.resize(header.bytes() + writer.size());
        write_header(packet.data(), header);
        seal(Crc32c::built_in(), packet.data(), packet.size(), nullptr, 0);
        return a.give(packet, now_ns + 5'000'000);
    }
};

TEST_F(Nonsense, AcknowledgementOfWhatWasNeverSent) {
    Acknowledgement said;
    said.cumulative = 1000;
    EXPECT_EQ(say(0, [&](FrameWriter &to) { to.acknowledge(said); }), Flow::Outcome::dropped);
    said.cumulative = 1;
    said.expected = 50;
    EXPECT_EQ(say(0, [&](FrameWriter &to) { to.acknowledge(said); }), Flow::Outcome::dropped);
    EXPECT_EQ(a.home.counts.malformed, 2u);
    EXPECT_EQ(a.delivered_below, 1u);
}

TEST_F(Nonsense, DataWithoutANumber) {
    EXPECT_EQ(say(0, [&](FrameWriter &to) { to.envelope(1, second(), 0); }), Flow::Outcome::dropped);
    EXPECT_EQ(a.arrived.size(), 1u);
}

TEST_F(Nonsense, MoveOnBeyondThePacketItself) {
    EXPECT_EQ(say(2, [&](FrameWriter &to) { to.move_on(5); }), Flow::Outcome::dropped);
    EXPECT_EQ(a.home.counts.malformed, 1u);
}

TEST_F(Nonsense, NumbersFarAhead) {
    EXPECT_EQ(say(1'000'000, [&](FrameWriter &to) { to.envelope(1, second(), 0); }), Flow::Outcome::dropped);
    EXPECT_EQ(a.home.counts.beyond, 1u);
}

TEST_F(Nonsense, NumbersBeforeTheFirst) {
    for (uint64_t back : {0, 1, 1000})
        EXPECT_EQ(say(0x8000'0000 - back, [&](FrameWriter &to) { to.move_on(1); }), Flow::Outcome::dropped);
    EXPECT_EQ(a.home.counts.malformed, 3u);
    EXPECT_EQ(say(2, [&](FrameWriter &to) { to.envelope(1, second(), 0); }), Flow::Outcome::taken);
}

TEST_F(Nonsense, NumbersWithoutTheirBit) {
    EXPECT_EQ(say_field(2, [&](FrameWriter &to) { to.envelope(1, second(), 0); }), Flow::Outcome::dropped);
    EXPECT_EQ(a.home.counts.malformed, 1u);
    EXPECT_EQ(a.arrived.size(), 1u);
}

TEST_F(Nonsense, NothingOfAPacketIsTakenThatIsSenselessAtItsEnd) {
    EXPECT_EQ(say(2,
                  [&](FrameWriter &to) {
                      to.envelope(1, second(), 0);
                      to.end(static_cast<EndReason>(7), 0);
                  }),
              Flow::Outcome::dropped);
    EXPECT_EQ(a.arrived.size(), 1u);
    EXPECT_EQ(say(2, [&](FrameWriter &to) { to.envelope(1, second(), 0); }), Flow::Outcome::taken);
    EXPECT_EQ(a.arrived.size(), 2u);
}

}  // namespace
}  // namespace lanyard::dgram
