// Tests the sender's half of the rendezvous by itself: every answer that an offer may get, at every possible
// moment.
#include "p2p/rendezvous_send.h"

#include "p2p/push_request.h"
#include "unit/p2p/scripted.h"

namespace lanyard {
namespace {

class RendezvousSendTest : public ScriptedTest {
protected:
    // The payload of an announcement over a network (receive_advert.h).
    struct Advert {
        uint64_t receive_id, received;
    };
    void offer(size_t size = 2500) {
        bytes = text(size);
        describe(send, bytes);
        sends.send(send);
        if (!path->sent.empty()) id = path->said<RendezvousOffer>().sender_id;
    }
    void say(EnvelopeKind kind, int32_t tag = 0) { say(answer(kind, id, tag), nullptr, 0); }
    template <class T>
    void say(EnvelopeKind kind, const T &payload, int32_t tag = 0) {
        say(answer(kind, id, tag), bytes_of(payload), sizeof payload);
    }
    void say(const Envelope &envelope, const std::byte *payload, size_t size) {
        Target *target = endpoint.targets.find(envelope.context);
        ASSERT_TRUE(target);
        target->answer(1, envelope, payload, size);
    }
    void announce(uint64_t receive_id, uint64_t room, uint64_t received = 0) {
        Envelope envelope = message(EnvelopeKind::announcement, room);
        envelope.source = 0;  // this process's rank, as the receive names it
        envelope.flags = flag_in_place;
        Advert advert{receive_id, received};
        sends.envelope(1, envelope, bytes_of(advert), sizeof advert);
    }
    bool over() const { return send.completion.complete(); }
    size_t offered() {
        size_t count = 0;
        sends.each_offered([&](const SendOperation &) { ++count; });
        return count;
    }
    std::string pushed(size_t from = 0) const {
        std::string all;
        for (size_t i = from; i < path->bulk.size(); ++i) all += path->bulk[i].payload;
        return all;
    }

    RendezvousSends sends{endpoint};
    std::string bytes;
    SendOperation send;
    uint64_t id = 0;
};

TEST_F(RendezvousSendTest, PushesWhatTheReceiverAsksFor) {
    offer();
    EXPECT_EQ(offered(), 1u);
    say(EnvelopeKind::clear_to_send, ClearToSend{77, 0, 2500}, 1);
    EXPECT_EQ(offered(), 0u);
    step();
    ASSERT_EQ(path->bulk.size(), 3u);
    EXPECT_EQ(path->bulk[1].header.receive_id, 77u);
    EXPECT_EQ(path->bulk[1].header.offset, 1000u);
    EXPECT_EQ(pushed(), bytes);
    EXPECT_TRUE(over());
    EXPECT_EQ(endpoint.targets.count(), 0u);
    EXPECT_FALSE(engine.under_way());
}

TEST_F(RendezvousSendTest, IsOverWhenTheReceiverHasReadIt) {
    path->touched = true;
    offer();
    EXPECT_EQ(path->said<RendezvousOffer>().address, reinterpret_cast<uintptr_t>(bytes.data()));
    EXPECT_FALSE(over());
    say(EnvelopeKind::finished);
    EXPECT_TRUE(over());
    EXPECT_TRUE(path->bulk.empty());
}

TEST_F(RendezvousSendTest, AnAnswerFromAnotherPeerIsNone) {
    offer();
    endpoint.targets.find(id)->answer(0, answer(EnvelopeKind::finished, id), nullptr, 0);
    EXPECT_FALSE(over());
    say(EnvelopeKind::finished);
    EXPECT_TRUE(over());
}

TEST_F(RendezvousSendTest, AnImpossibleWishIsNone) {
    offer();
    say(EnvelopeKind::clear_to_send, ClearToSend{77, 0, 2501}, 1);
    say(EnvelopeKind::clear_to_send, ClearToSend{77, 9, 8}, 1);
    say(EnvelopeKind::clear_to_send, uint64_t{77}, 1);
    step();
    EXPECT_TRUE(path->bulk.empty());
    EXPECT_EQ(offered(), 1u);
    say(EnvelopeKind::finished);
}

TEST_F(RendezvousSendTest, WaitsForFramesThatAreLeavingItsBuffer) {
    use({.loses_bulk = true});
    path->bulk_result = Sent::pending;
    endpoint.peers[1].first_limit = 0;
    offer();
    say(EnvelopeKind::clear_to_send, ClearToSend{77, 0, 2500}, 1);
    step();
    ASSERT_EQ(path->bulk.size(), 1u) << "one frame at a time";
    say(EnvelopeKind::finished);  // the receiver already had all bytes through another connection
    EXPECT_FALSE(over());
    endpoint.targets.find(path->bulk[0].token)->sent();
    EXPECT_TRUE(over());
    step();
    EXPECT_EQ(path->bulk.size(), 1u);
}

TEST_F(RendezvousSendTest, OnAPathThatLosesBulkOnlyTheReceiverEndsIt) {
    use({.loses_bulk = true});
    offer();
    say(EnvelopeKind::clear_to_send, ClearToSend{77, 0, 2500}, 1);
    step();
    EXPECT_EQ(pushed(), bytes);
    EXPECT_FALSE(over());
    endpoint.targets.find(id)->renewed(1);
    say(EnvelopeKind::clear_to_send, ClearToSend{77, 1700, 2500}, 1);
    step();
    EXPECT_EQ(pushed(3), bytes.substr(1700));
    say(EnvelopeKind::finished);
    EXPECT_TRUE(over());
}

TEST_F(RendezvousSendTest, SendsTheFirstBytesAsFarAsTheCreditGoes) {
    peer().first_limit = 700;
    peer().credit_left = 200;
    offer();
    EXPECT_EQ(path->sent.at(0).payload.size(), sizeof(RendezvousOffer) + 192) << "whole units";
    EXPECT_EQ(path->sent.at(0).payload.substr(sizeof(RendezvousOffer)), bytes.substr(0, 192));
    EXPECT_EQ(peer().credit_left, 8);
    say(EnvelopeKind::finished);
}

TEST_F(RendezvousSendTest, NamesTheReceiveThatWasAnnounced) {
    use({.loses_bulk = true});
    announce(55, 3000);
    offer();
    EXPECT_EQ(path->sent.at(0).envelope.flags, flag_announced);
    EXPECT_EQ(path->said<RendezvousOffer>().address, 55u);
    step();
    EXPECT_EQ(pushed(), bytes) << "nobody asked";
    EXPECT_EQ(path->bulk.at(0).header.receive_id, 55u);
    EXPECT_FALSE(over());
    say(EnvelopeKind::finished);
    EXPECT_TRUE(over());
    SendOperation second;
    describe(second, bytes);
    sends.send(second);
    EXPECT_EQ(path->sent.back().envelope.flags, 0) << "an announcement is for one message";
    second.unfinished->cancel();
    id = path->sent.back().envelope.context;
    say(EnvelopeKind::cancel_reply, 1);
    EXPECT_TRUE(second.cancelled);
}

TEST_F(RendezvousSendTest, ATooLongMessageIsOfferedAsEver) {
    use({.loses_bulk = true});
    announce(55, 2499);
    offer();
    EXPECT_EQ(path->sent.at(0).envelope.flags, 0);
    say(EnvelopeKind::finished);
}

TEST_F(RendezvousSendTest, AnAnnouncementThatCrossedAMessageIsDropped) {
    use({.loses_bulk = true});
    announce(55, 3000, 1);  // the receiver has counted one more message than was ever sent
    EXPECT_EQ(endpoint.counts.crossed, 1u);
    offer();
    EXPECT_EQ(path->sent.at(0).envelope.flags, 0);
    say(EnvelopeKind::finished);
}

TEST_F(RendezvousSendTest, BeginsAnewForAnotherReceiveThanTheAnnouncedOne) {
    use({.loses_bulk = true});
    path->bulk_room = 1;
    announce(55, 3000);
    offer();
    step();
    EXPECT_EQ(path->bulk.size(), 1u);
    say(EnvelopeKind::clear_to_send, ClearToSend{88, 0, 2500}, 1);
    path->bulk_room = 1000;
    step(3);
    EXPECT_EQ(pushed(1), bytes);
    EXPECT_EQ(path->bulk.back().header.receive_id, 88u);
    say(EnvelopeKind::finished);
    EXPECT_TRUE(over());
}

TEST_F(RendezvousSendTest, GoesBehindItsOfferAgainAfterANewConnection) {
    use({.loses_bulk = true});
    announce(55, 3000);
    offer();
    step();
    endpoint.targets.find(id)->renewed(1);
    step();
    EXPECT_EQ(pushed(3), bytes);
    say(EnvelopeKind::finished);
}

TEST_F(RendezvousSendTest, CancelsOnlyWhatNoReceiveHasMatched) {
    offer();
    send.unfinished->cancel();
    send.unfinished->cancel();
    ASSERT_EQ(path->of_kind(EnvelopeKind::cancel).size(), 1u);
    say(EnvelopeKind::cancel_reply, 0);
    EXPECT_FALSE(over());
    say(EnvelopeKind::finished);
    EXPECT_TRUE(over());
    EXPECT_FALSE(send.cancelled);
}

TEST_F(RendezvousSendTest, TakesBackWhatWaitsForRoom) {
    path->room = 0;
    offer();
    send.unfinished->cancel();
    EXPECT_TRUE(over() && send.cancelled);
    path->room = 10;
    step();
    EXPECT_TRUE(path->sent.empty());
    EXPECT_EQ(endpoint.targets.count(), 0u);
}

TEST_F(RendezvousSendTest, FailsWithItsPeer) {
    offer();
    lose_peer();
    EXPECT_TRUE(over());
    ASSERT_TRUE(send.error);
    send.error.discard();
    EXPECT_EQ(offered(), 0u);
    EXPECT_FALSE(engine.under_way());
}

// The receiver's request names a shared word that either side may claim (push_request.h).
TEST_F(RendezvousSendTest, PushesOnlyIfItGetsTheWord) {
    path->shares = true;
    settings.write_protocol = "off";
    offer();
    path->words[1][3] = Claims{9, 0, 0}.word();
    Envelope asked = answer(EnvelopeKind::clear_to_send, id, 1);
    asked.flags = flag_if_unclaimed;
    asked.check = 3 | 8 << 8;  // of a generation that has ended
    ClearToSend clear{77, 0, 2500};
    say(asked, bytes_of(clear), sizeof clear);
    step();
    EXPECT_TRUE(path->bulk.empty());
    asked.check = 3 | 9 << 8;
    say(asked, bytes_of(clear), sizeof clear);
    step();
    EXPECT_EQ(pushed(), bytes);
    EXPECT_TRUE(over());
    EXPECT_EQ(Claims::read(path->words[1][3]).back, 1u);
}

}  // namespace
}  // namespace lanyard
