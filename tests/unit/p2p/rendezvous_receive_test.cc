// Tests the receiver's half of the rendezvous by itself: it accepts an offer, and the bytes arrive in every
// possible way.
#include "p2p/rendezvous_receive.h"

#include "unit/p2p/scripted.h"

namespace lanyard {
namespace {

class RendezvousReceiveTest : public ScriptedTest {
protected:
    static constexpr uint64_t sender_id = 4711;

    // The receive has matched an offer; the sender's bytes are `source`.
    bool accept(size_t size, uint64_t address = 0, uint8_t flags = 0) {
        if (source.size() != size) source = text(size);
        if (room.size() < size) room.assign(size, '.');
        describe(receive, room);
        receive.received = static_cast<int64_t>(size);
        Envelope envelope = message(EnvelopeKind::rendezvous, size);
        envelope.flags = flags;
        RendezvousOffer offer{sender_id, address};
        return receives.accept(receive, 1, envelope, bytes_of(offer), sizeof offer);
    }
    void take_first() {
        RendezvousOffer offer{};
        receives.take_first(receive, bytes_of(offer), sizeof offer);
    }
    uint64_t asked_id() {
        EXPECT_EQ(path->sent.back().envelope.kind, EnvelopeKind::clear_to_send);
        return path->said<ClearToSend>().receiver_id;
    }
    void bulk(uint64_t id, size_t offset, size_t size, uint32_t from = 1) {
        Target *target = endpoint.targets.find(id);
        if (target) target->bulk(from, offset, bytes_of(source) + offset, size);
    }
    // Accepts offers of readable messages until this process asks the sender to push one. It does so for one
    // of the first messages, to measure the rate.
    bool asks_for_push(size_t size) {
        path->touched = path->shares = true;
        source = text(size);
        for (int i = 0; i < 20; ++i) {
            receive.completion.reset();
            accept(size, address());
            if (!over()) return true;
            idle.now += 1'000'000;
        }
        return false;
    }
    bool over() const { return receive.completion.complete(); }
    uint64_t address() const { return reinterpret_cast<uintptr_t>(source.data()); }

    RendezvousReceives receives{endpoint};
    std::string source, room;
    ReceiveOperation receive;
};

TEST_F(RendezvousReceiveTest, AsksForBulkAndTakesItInAnyOrder) {
    EXPECT_TRUE(accept(2500));
    uint64_t id = asked_id();
    EXPECT_EQ(path->said<ClearToSend>().end, 2500u);
    take_first();
    bulk(id, 1000, 1500);
    bulk(id, 1000, 500);  // a duplicate
    EXPECT_FALSE(over());
    bulk(id, 0, 1000);
    EXPECT_TRUE(over());
    EXPECT_EQ(room, source);
    EXPECT_TRUE(path->of_kind(EnvelopeKind::finished).empty()) << "the sender knows: this path loses nothing";
    EXPECT_EQ(endpoint.targets.find(id), nullptr);
}

TEST_F(RendezvousReceiveTest, BytesOutsideOrOfOthersAreNotTaken) {
    EXPECT_TRUE(accept(2500));
    uint64_t id = asked_id();
    room.assign(2500, '.');
    bulk(id, 2400, 101);
    bulk(id, 0, 2500, 0);
    EXPECT_EQ(endpoint.targets.find(id)->place(1, 2400, 101), nullptr);
    EXPECT_EQ(room, std::string(2500, '.'));
    EXPECT_EQ(endpoint.targets.find(id)->place(1, 2400, 100),
              reinterpret_cast<std::byte *>(room.data()) + 2400);
    bulk(id, 0, 2500);
    EXPECT_TRUE(over());
}

TEST_F(RendezvousReceiveTest, WhatComesASecondTimeHasNoPlace) {
    EXPECT_TRUE(accept(2500));
    uint64_t id = asked_id();
    bulk(id, 1000, 500);
    EXPECT_EQ(endpoint.targets.find(id)->place(1, 900, 101), nullptr)
        << "a damaged copy must not spoil what is right";
    EXPECT_NE(endpoint.targets.find(id)->place(1, 900, 100), nullptr);
    bulk(id, 0, 2500);
}

TEST_F(RendezvousReceiveTest, AsksAgainForWhatItMissesAfterANewConnection) {
    use({.loses_bulk = true});
    EXPECT_TRUE(accept(2500));
    uint64_t id = asked_id();
    bulk(id, 0, 700);
    bulk(id, 900, 100);
    endpoint.targets.find(id)->renewed(1);
    EXPECT_EQ(path->said<ClearToSend>().offset, 700u);
    bulk(id, 700, 1800);
    EXPECT_TRUE(over());
    EXPECT_EQ(path->of_kind(EnvelopeKind::finished).size(), 1u);
    EXPECT_EQ(room, source);
}

TEST_F(RendezvousReceiveTest, ReadsFromTheSendersMemory) {
    path->touched = true;
    source = text(2500);
    settings.copies = "once";
    EXPECT_FALSE(accept(2500, address()));
    EXPECT_TRUE(over());
    EXPECT_EQ(room, source);
    EXPECT_EQ(path->of_kind(EnvelopeKind::finished).at(0).context, sender_id);
}

TEST_F(RendezvousReceiveTest, AsksForBulkWhereTheKernelRefuses) {
    path->touched = path->refused = true;
    settings.copies = "once";
    source = text(2500);
    EXPECT_FALSE(accept(2500, address()));
    EXPECT_FALSE(over());
    bulk(asked_id(), 0, 2500);
    EXPECT_TRUE(over());
    EXPECT_EQ(room, source);
}

TEST_F(RendezvousReceiveTest, TakesUnaskedBytesOnlyIfItsOfferNamedIt) {
    use({.loses_bulk = true});
    room.assign(2500, '.');
    describe(receive, room);
    uint64_t id = receives.name(receive);
    EXPECT_EQ(receives.named(), 1u);
    source = text(2500);
    bulk(id, 0, 2500);
    EXPECT_EQ(room, std::string(2500, '.')) << "no offer has arrived";
    EXPECT_TRUE(accept(2500, id, flag_announced));
    EXPECT_EQ(receives.named(), 0u);
    EXPECT_TRUE(path->of_kind(EnvelopeKind::clear_to_send).empty());
    take_first();
    bulk(id, 0, 2500);
    EXPECT_TRUE(over());
    EXPECT_EQ(room, source);
    EXPECT_EQ(path->of_kind(EnvelopeKind::finished).size(), 1u);
}

TEST_F(RendezvousReceiveTest, GetsANewIdWhereAnotherOfferMetIt) {
    use({.loses_bulk = true});
    room.assign(2500, '.');
    describe(receive, room);
    uint64_t id = receives.name(receive);
    EXPECT_TRUE(accept(2500, id + 1, flag_announced));
    uint64_t second = asked_id();
    EXPECT_NE(second, id);
    EXPECT_EQ(endpoint.targets.find(id), nullptr);
    bulk(id, 0, 2500);
    EXPECT_FALSE(over());
    bulk(second, 0, 2500);
    EXPECT_TRUE(over());
}

TEST_F(RendezvousReceiveTest, WaitsForTheSenderOnlyForAMoment) {
    ASSERT_TRUE(asks_for_push(40'000));
    EXPECT_EQ(path->sent.back().envelope.flags, flag_if_unclaimed);
    idle.now += 1'000'000;
    step();
    EXPECT_TRUE(over()) << "the moment has passed, and the receiver has read it";
    EXPECT_EQ(room, source);
    EXPECT_EQ(endpoint.words.in_use(), 0);
    EXPECT_EQ(endpoint.targets.count(), 0u);
}

// The sender does not enter MPI again, so nothing arrives that would wake the receiver.
TEST_F(RendezvousReceiveTest, SleepsOnlyForThatMoment) {
    ASSERT_TRUE(asks_for_push(40'000));
    uint64_t begin_ns = idle.now;
    idle.sleeps = true;
    {
        EngineGuard guard(engine);
        engine.wait_owned(receive.completion);
    }
    EXPECT_LT(idle.now, begin_ns + 1'000'000);
    EXPECT_EQ(room, source);
}

TEST_F(RendezvousReceiveTest, FailsWithItsPeer) {
    EXPECT_TRUE(accept(2500));
    lose_peer();
    EXPECT_TRUE(over());
    ASSERT_TRUE(receive.error);
    receive.error.discard();
    receive.completion.reset();
    EXPECT_FALSE(accept(2500)) << "nobody is there to be asked";
    EXPECT_TRUE(over());
    ASSERT_TRUE(receive.error);
    receive.error.discard();
}

}  // namespace
}  // namespace lanyard
