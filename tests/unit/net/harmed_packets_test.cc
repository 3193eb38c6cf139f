// Tests HarmedPackets above an endpoint that returns what was sent.
#include "net/harmed_packets.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>

namespace lanyard {
namespace {

// Returns what was sent, in order.
class Mirror final : public PacketIo {
public:
    std::string name() const override { return "mirror"; }
    int64_t destination(std::string_view) override { return 0; }
    size_t largest(uint64_t) const override { return 1500; }
    int send(const Outgoing *list, int count) override {
        if (full) return 0;
        if (left-- == 0) return -ENOMEM;
        for (int i = 0; i < count; ++i) {
            std::string bytes;
            for (const iovec *part = list[i].parts; part < list[i].parts + list[i].count; ++part)
                bytes.append(static_cast<const char *>(part->iov_base), part->iov_len);
            there.push_back(bytes);
        }
        return count;
    }
    int receive(Arrived *list, int most) override {
        lent.clear();
        int count = 0;
        while (count < most && !there.empty()) {
            lent.push_back(there.front());
            there.pop_front();
            list[count++] = {reinterpret_cast<const std::byte *>(lent.back().data()), lent.back().size()};
        }
        return count;
    }
    int descriptor() const override { return -1; }
    uint64_t now_ns() override { return 0; }
    std::string describe() const override { return "mirror"; }

    bool full = false;
    int left = -1;  // how many calls of send() succeed before one fails; -1: all
    std::deque<std::string> there, lent;
};

struct Outcome {
    std::map<uint32_t, int> received;  // packets by number
    int damaged = 0, disordered = 0;
    HarmedPackets::Counts counts;
};

constexpr uint32_t packets_sent = 20'000;

Outcome suffer(const Harm &harm) {
    HarmedPackets io(std::make_unique<Mirror>(), harm);
    Outcome outcome;
    uint32_t latest = 0;
    auto take = [&] {
        PacketIo::Arrived list[8];
        while (int count = io.receive(list, 8))
            for (int i = 0; i < count; ++i) {
                uint32_t number[2];
                EXPECT_EQ(list[i].size, sizeof number);
                std::memcpy(number, list[i].data, sizeof number);
                if (number[0] != ~number[1]) {
                    ++outcome.damaged;
                    continue;
                }
                ++outcome.received[number[0]];
                outcome.disordered += number[0] < latest;
                latest = std::max(latest, number[0]);
            }
    };
    for (uint32_t at = 0; at < packets_sent; ++at) {
        uint32_t number[2] = {at, ~at};
        iovec parts[2] = {{&number[0], 4}, {&number[1], 4}};
        PacketIo::Outgoing packet{0, parts, 2};
        EXPECT_EQ(io.send(&packet, 1), 1);
        if (at % 3 == 0) take();
    }
    for (int turn = 0; turn < 3; ++turn) take();
    outcome.counts = io.counts();
    return outcome;
}

TEST(HarmedPackets, DoesNoHarmUnasked) {
    Outcome outcome = suffer({});
    EXPECT_EQ(outcome.received.size(), packets_sent);
    EXPECT_EQ(outcome.damaged + outcome.disordered, 0);
}

TEST(HarmedPackets, DoesTheHarmItIsAskedFor) {
    Harm harm;
    ASSERT_EQ(parse_harm("loss=2,double=1,overtake=3,damage=0.5,seed=9", harm), "");
    EXPECT_EQ(harm.lost, 20'000u);
    EXPECT_EQ(harm.damaged, 5'000u);
    Outcome outcome = suffer(harm);
    auto about = [](uint64_t count, double share) {
        double part = static_cast<double>(count) / packets_sent;
        return part > 0.7 * share && part < 1.3 * share;
    };
    EXPECT_TRUE(about(outcome.counts.lost, 0.02));
    EXPECT_TRUE(about(outcome.counts.doubled, 0.01));
    EXPECT_TRUE(about(outcome.counts.overtaken, 0.03));
    EXPECT_TRUE(about(outcome.counts.damaged, 0.005));
    EXPECT_EQ(outcome.received.size(), packets_sent - outcome.counts.lost - outcome.counts.damaged);
    EXPECT_EQ(static_cast<uint64_t>(outcome.damaged), outcome.counts.damaged);
    EXPECT_GT(outcome.disordered, 100);
    int doubled = 0;
    for (auto [number, times] : outcome.received) doubled += times == 2;
    EXPECT_EQ(static_cast<uint64_t>(doubled), outcome.counts.doubled);
}

TEST(HarmedPackets, IsTheSameForASeed) {
    Harm harm{.lost = 100'000, .overtaken = 100'000, .seed = 3};
    EXPECT_EQ(suffer(harm).received, suffer(harm).received);
    Harm other = harm;
    other.seed = 4;
    EXPECT_NE(suffer(harm).received, suffer(other).received);
}

TEST(HarmedPackets, LetsPacketsBeAsLongAsItIsAskedForAndTheEndpointSays) {
    Harm harm;
    EXPECT_EQ(HarmedPackets(std::make_unique<Mirror>(), harm).largest(0), 1500u);
    for (auto [text, largest] : {std::pair{"longest=1472", 1472u}, {"longest=9000", 1500u}}) {
        ASSERT_EQ(parse_harm(text, harm), "");
        EXPECT_TRUE(harm.any());
        EXPECT_EQ(HarmedPackets(std::make_unique<Mirror>(), harm).largest(0), largest);
    }
}

TEST(HarmedPackets, IsFullWhereTheEndpointIs) {
    auto mirror = std::make_unique<Mirror>();
    mirror->full = true;
    HarmedPackets io(std::move(mirror), {});
    PacketIo::Outgoing packet{0, nullptr, 0};
    EXPECT_EQ(io.send(&packet, 1), 0);
}

TEST(HarmedPackets, SaysHowManyItSentBeforeAnError) {
    std::vector<PacketIo::Outgoing> list(5, PacketIo::Outgoing{0, nullptr, 0});
    for (int taken : {3, 0}) {
        auto mirror = std::make_unique<Mirror>();
        mirror->left = taken;
        HarmedPackets io(std::move(mirror), {});
        EXPECT_EQ(io.send(list.data(), 5), taken ? taken : -ENOMEM);
    }
}

TEST(HarmedPackets, RefusesWhatItDoesNotUnderstand) {
    auto refusal = [](const char *text) {
        Harm harm;
        return parse_harm(text, harm);
    };
    for (const char *text : {"loss", "gain=1", "=1", "loss=1,double"})
        EXPECT_NE(refusal(text).find("is not understood"), std::string::npos) << text;
    for (const char *text :
         {"loss=", "loss=x", "loss=101", "loss=-1", "loss=nan", "loss=1;double=2", "damage=0.1x"})
        EXPECT_NE(refusal(text).find(" takes per cent of the packets, from 0 to 100"), std::string::npos)
            << text;
    for (const char *text : {"longest=511", "longest=70000", "longest=1472.5"})
        EXPECT_NE(refusal(text).find("longest takes the bytes of a packet, from 512 to 65535"),
                  std::string::npos)
            << text;
    for (const char *text : {"seed=-1", "seed=1.5", "seed=1e30"})
        EXPECT_NE(refusal(text).find("seed takes a whole number"), std::string::npos) << text;
    EXPECT_EQ(refusal("loss=1,double=1,loss=2"), "loss is given twice");
    EXPECT_EQ(refusal("loss=0,double=100,seed=9007199254740992"), "");
}

}  // namespace
}  // namespace lanyard
