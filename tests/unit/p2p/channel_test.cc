// Tests the order, room and credit of envelopes to a peer. The path accepts as many envelopes as the test
// allows.
#include "p2p/channel.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/process_idle.h"
#include "net/sim/random.h"
#include "sim/seeds.h"
#include "unit/engine/stubs.h"

namespace lanyard {
namespace {

// Records what is sent to each peer, as long as there is room.
class NotingPath final : public StubPath, private ShortLane {
public:
    explicit NotingPath(SleepWord &sleep) : StubPath(static_cast<ShortLane &>(*this)), ring(sleep) {}
    Sent send(uint32_t peer, const Envelope &envelope, Payload payload) override {
        ++asked;
        if (room[peer] == 0) return Sent::full;
        --room[peer];
        sent[peer].push_back(envelope);
        if (payload.data)
            payloads[peer].emplace_back(reinterpret_cast<const char *>(payload.data), payload.size);
        return Sent::done;
    }
    int poll(Sink &, int, uint64_t) override { return 0; }
    RingWriter *ring_to(uint32_t) override { return &ring; }
    std::vector<int> tags(uint32_t peer) {
        std::vector<int> all;
        for (const Envelope &envelope : sent[peer]) all.push_back(envelope.tag);
        return all;
    }

    RingWriter ring;
    std::map<uint32_t, int> room;
    std::map<uint32_t, std::vector<Envelope>> sent;
    std::map<uint32_t, std::vector<std::string>> payloads;
    int asked = 0;
};

// An outgoing message that may run a function after it has left.
struct Message : Outgoing {
    Message(Channels &all, Channel &to, int its_tag, std::function<void()> afterwards = nullptr)
        : channels(all), channel(to), tag(its_tag), then(std::move(afterwards)) {
        flush = leave;
    }
    static bool leave(Outgoing &outgoing) {
        auto &message = static_cast<Message &>(outgoing);
        Envelope envelope{};
        envelope.tag = message.tag;
        if (message.channels.send(message.channel, envelope, {}) == Sent::full) return false;
        message.left = true;
        if (message.then) message.then();
        return true;
    }
    Channels &channels;
    Channel &channel;
    int tag;
    std::function<void()> then;
    bool left = false;
};

class ChannelTest : public ::testing::Test {
protected:
    static constexpr int64_t credit = 1024;

    ChannelTest() {
        engine.set_sink(no_sink);
        for (uint32_t number = 0; number < std::size(channel); ++number) {
            channels.open(channel[number], number, false);
            channels.route(channel[number], path);
        }
    }
    static Envelope control(int tag) {
        Envelope envelope{};
        envelope.tag = tag;
        return envelope;
    }
    void step() {
        EngineGuard guard(engine);
        engine.make_turn();
    }

    SleepWord sleep;
    NotingPath path{sleep};
    ProcessIdle idle{IdlePolicy{0, 0, false}};
    Engine engine{idle};
    Channels channels{engine, {credit, 2 * credit}};
    Channel channel[1000];
};

using Tags = std::vector<int>;

TEST_F(ChannelTest, NothingOvertakesWhatWaits) {
    Message first(channels, channel[1], 1), third(channels, channel[1], 3);
    channels.start(channel[1], first);
    EXPECT_FALSE(channel[1].is_clear());
    EXPECT_EQ(channels.waiting(), 1u);
    channels.post(channel[1], control(2), "two", 3);
    path.room[1] = 1;
    channels.start(channel[1], third);  // there is room, but older messages wait
    EXPECT_EQ(path.tags(1), Tags{});
    step();
    EXPECT_EQ(path.tags(1), Tags{1});
    path.room[1] = 10;
    step();
    EXPECT_EQ(path.tags(1), (Tags{1, 2, 3}));
    EXPECT_EQ(path.payloads[1], std::vector<std::string>{"two"});
    EXPECT_TRUE(channel[1].is_clear());
    EXPECT_EQ(channels.waiting(), 0u);
}

TEST_F(ChannelTest, FlushingCostsWhatWaits) {
    std::vector<std::unique_ptr<Message>> messages;
    for (int peer : {3, 500, 999}) {
        messages.push_back(std::make_unique<Message>(channels, channel[peer], peer));
        channels.start(channel[peer], *messages.back());
    }
    path.asked = 0;
    for (int i = 0; i < 10; ++i) step();
    EXPECT_EQ(path.asked, 30);
    path.room = {{3, 1}, {500, 1}, {999, 1}};
    step();
    path.asked = 0;
    step();
    EXPECT_EQ(path.asked, 0);
}

TEST_F(ChannelTest, TheRingIsThereWhileNothingElseIsToBeDone) {
    EXPECT_EQ(channel[1].ring, &path.ring);
    Message message(channels, channel[1], 1);
    channels.start(channel[1], message);
    EXPECT_EQ(channel[1].ring, nullptr);
    EXPECT_EQ(channel[2].ring, &path.ring);
    path.room[1] = 1;
    step();
    EXPECT_EQ(channel[1].ring, &path.ring);
    channels.allow_rings(false);
    channels.choose_ring(channel[1]);
    EXPECT_EQ(channel[1].ring, nullptr);
    channels.allow_rings(true);
    channels.choose_ring(channel[1]);
    channels.close(channel[1]);
    EXPECT_EQ(channel[1].ring, nullptr);
}

TEST_F(ChannelTest, WhatIsWithdrawnIsNotSent) {
    Message one(channels, channel[1], 1), two(channels, channel[1], 2), three(channels, channel[1], 3);
    for (Message *message : {&one, &two, &three}) channels.start(channel[1], *message);
    channels.withdraw(channel[1], two);
    path.room[1] = 10;
    step();
    EXPECT_EQ(path.tags(1), (Tags{1, 3}));
    Message alone(channels, channel[2], 4);
    channels.start(channel[2], alone);
    channels.withdraw(channel[2], alone);
    EXPECT_EQ(channels.waiting(), 0u);
    EXPECT_EQ(channel[2].ring, &path.ring);
    path.room[2] = 1;
    step();
    EXPECT_EQ(path.tags(2), Tags{});
}

TEST_F(ChannelTest, CreditOwedGoesWithTheNextEnvelope) {
    Channels::owe(channel[1], inline_payload);  // costs nothing
    EXPECT_EQ(channel[1].credit_owed, 0);
    Channels::owe(channel[1], 65);
    path.room[1] = 1;
    channels.post(channel[1], control(1), nullptr, 0);
    EXPECT_EQ(path.sent[1].at(0).credit, 2);  // units of 64 bytes
    EXPECT_EQ(channel[1].credit_owed, 0);
    Channels::returned(channel[1], 2);
    EXPECT_EQ(channel[1].credit_left, credit + 128);
}

// If an envelope with credit finds no room, the credit is neither lost nor returned twice.
TEST_F(ChannelTest, CreditIsReturnedOnceWhateverFindsNoRoom) {
    Channels::owe(channel[1], 100);
    channels.post(channel[1], control(1), nullptr, 0);
    EXPECT_EQ(channel[1].credit_owed, 128);
    step();
    Channels::owe(channel[1], 100);
    path.room[1] = 10;
    step();
    channels.post(channel[1], control(2), nullptr, 0);
    ASSERT_EQ(path.sent[1].size(), 2u);
    EXPECT_EQ(path.sent[1][0].credit, 4);
    EXPECT_EQ(path.sent[1][1].credit, 0);
}

// The credit of a process outside the job does not depend on how many peers this process has.
TEST_F(ChannelTest, HalfOfAStrangersCreditTravelsAlone) {
    Channel stranger;
    channels.open(stranger, 7, true);
    channels.route(stranger, path);
    EXPECT_EQ(stranger.credit_left, 2 * credit);
    path.room[7] = 1;
    channels.consumed(stranger, credit - 64);
    EXPECT_TRUE(path.sent[7].empty());
    channels.consumed(stranger, 64);
    ASSERT_EQ(path.sent[7].size(), 1u);
    EXPECT_EQ(path.sent[7][0].credit, credit / 64);
}

TEST_F(ChannelTest, HalfOfAllTheCreditTravelsAlone) {
    channels.consumed(channel[1], credit / 2 - 64);
    EXPECT_TRUE(channel[1].is_clear());
    channels.consumed(channel[1], 64);
    EXPECT_EQ(channels.waiting(), 1u);
    channels.consumed(channel[1], 64);  // returned by the credit envelope that already waits
    path.room[1] = 10;
    step();
    ASSERT_EQ(path.sent[1].size(), 1u);
    EXPECT_EQ(path.sent[1][0].kind, EnvelopeKind::credit);
    EXPECT_EQ(path.sent[1][0].credit, (credit / 2 + 64) / 64);
}

// Credit is consumed and returned at random, alone or with other envelopes, while room varies. At any time,
// the credit returned to a peer and the credit still owed to it add up to what was consumed.
TEST_F(ChannelTest, CreditIsReturnedOnceInAnyOrderOfEvents) {
    sim::for_seeds(100, 3, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        sim::Random random(seed);
        Channel few[3];
        int64_t consumed[3] = {};
        path.sent.clear();
        for (uint32_t number = 0; number < 3; ++number) {
            channels.open(few[number], number, number == 2);
            channels.route(few[number], path);
            path.room[number] = 0;
        }
        auto returned = [&](uint32_t number) {
            int64_t units = 0;
            for (const Envelope &envelope : path.sent[number]) units += envelope.credit;
            return units * static_cast<int64_t>(credit_unit);
        };
        for (int i = 0; i < 300; ++i) {
            auto number = static_cast<uint32_t>(random.below(3));
            size_t payload = random.below(600);
            switch (random.below(5)) {
                case 0: path.room[number] += static_cast<int>(random.below(3)); break;
                case 1: step(); break;
                case 2: channels.post(few[number], control(i), nullptr, 0); break;
                case 3:
                    Channels::owe(few[number], payload);
                    consumed[number] += Channels::cost(static_cast<int64_t>(payload));
                    break;
                case 4:
                    channels.consumed(few[number], payload);
                    consumed[number] += Channels::cost(static_cast<int64_t>(payload));
                    break;
            }
            for (uint32_t each = 0; each < 3; ++each)
                EXPECT_EQ(returned(each) + few[each].credit_owed, consumed[each]);
            if (HasFailure()) break;
        }
        for (int i = 0; i < 1000 && channels.waiting() > 0; ++i) {
            for (uint32_t number = 0; number < 3; ++number) path.room[number] = 1;
            step();
        }
        return !HasFailure();
    });
}

// An envelope has 16 bits for credit. More credit goes with the next envelope.
TEST_F(ChannelTest, MoreCreditThanOneEnvelopeSays) {
    for (int i = 0; i < 5; ++i) Channels::owe(channel[1], size_t{1} << 20);
    path.room[1] = 10;
    channels.post(channel[1], control(1), nullptr, 0);
    channels.post(channel[1], control(2), nullptr, 0);
    EXPECT_EQ(path.sent[1][0].credit, UINT16_MAX);
    EXPECT_EQ(path.sent[1][0].credit + path.sent[1][1].credit, (5 << 20) / 64);
}

TEST_F(ChannelTest, MessagesAreCountedAndListenedTo) {
    struct Listener final : SentListener {
        void message_sent(const MatchKey &key) override { tags.push_back(key.tag); }
        Tags tags;
    } listener;
    Channels::count(channel[1], {0, 0, 1});
    channel[1].listener = &listener;
    Channels::count(channel[1], {0, 0, 2});
    channel[1].listener = nullptr;
    Channels::count(channel[1], {0, 0, 3});
    EXPECT_EQ(channel[1].sent, 3u);
    EXPECT_EQ(listener.tags, Tags{2});
}

// Continuations send, withdraw and return credit to a few peers at random, while room varies. Each envelope
// leaves once, in the order of its channel, unless it was withdrawn.
TEST_F(ChannelTest, AnyOrderOfEventsKeepsTheOrder) {
    sim::for_seeds(100, 5, [&](uint64_t seed) {
        sim::Random random(seed);
        Channel few[3];
        Tags expected[3];
        std::vector<std::unique_ptr<Message>> messages;
        path.sent.clear();
        for (uint32_t number = 0; number < 3; ++number) {
            channels.open(few[number], number, false);
            channels.route(few[number], path);
            path.room[number] = 0;
        }
        int next = 0;
        std::function<void(int)> act = [&](int depth) {
            auto number = static_cast<uint32_t>(random.below(3));
            switch (random.below(4)) {
                case 0:
                    path.room[number] += static_cast<int>(random.below(3));
                    break;
                case 1: {
                    std::vector<Message *> waiting;
                    for (auto &message : messages)
                        if (message->outgoing_hook.linked()) waiting.push_back(message.get());
                    if (waiting.empty()) break;
                    Message &message = *waiting[random.below(waiting.size())];
                    channels.withdraw(message.channel, message);
                    std::erase(expected[message.channel.number], message.tag);
                    break;
                }
                case 2:
                    channels.consumed(few[number], random.below(600));
                    break;
                default: {
                    expected[number].push_back(next);
                    messages.push_back(std::make_unique<Message>(channels, few[number], next++, [&, depth] {
                        if (depth < 3) act(depth + 1);
                    }));
                    channels.start(few[number], *messages.back());
                }
            }
        };
        for (int i = 0; i < 200; ++i) {
            act(0);
            if (random.below(3) == 0) step();
        }
        for (int i = 0; i < 1000 && channels.waiting() > 0; ++i) {
            for (uint32_t number = 0; number < 3; ++number) path.room[number] = 1;
            step();
        }
        EXPECT_EQ(channels.waiting(), 0u);
        for (uint32_t number = 0; number < 3; ++number) {
            Tags left;
            for (const Envelope &envelope : path.sent[number])
                if (envelope.kind != EnvelopeKind::credit) left.push_back(envelope.tag);
            EXPECT_EQ(left, expected[number]) << "seed " << seed;
        }
        return !HasFailure();
    });
}

}  // namespace
}  // namespace lanyard
