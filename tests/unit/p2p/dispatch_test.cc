// Tests which part receives what arrives (dispatch.h), and what the receiver does with it (receiver.h).
#include "p2p/dispatch.h"

#include "unit/p2p/scripted.h"

namespace lanyard {
namespace {

class NotingHandler final : public Handler {
public:
    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *, size_t size) override {
        EXPECT_EQ(peer, 1u);
        kinds.push_back(static_cast<int>(envelope.kind));
        sizes.push_back(size);
    }
    void lost(uint32_t) override { ++losses; }
    std::vector<int> kinds;
    std::vector<size_t> sizes;
    int losses = 0;
};

class NotingTarget final : public Target {
public:
    void answer(uint32_t, const Envelope &envelope, const std::byte *, size_t) override {
        answers.push_back(envelope.tag);
    }
    void bulk(uint32_t, uint64_t offset, const std::byte *, size_t) override { offsets.push_back(offset); }
    void sent() override { ++tokens; }
    void renewed(uint32_t) override { ++renewals; }
    void lost(uint32_t) override { ++losses; }
    std::vector<int> answers;
    std::vector<uint64_t> offsets;
    int tokens = 0, renewals = 0, losses = 0;
};

class DispatchTest : public ScriptedTest {
protected:
    void received(const Envelope &envelope, const std::string &payload = {}) {
        dispatch.envelope(1, envelope, bytes_of(payload), payload.size());
    }
    Receiver receiver{endpoint};
    Retention retention{endpoint};
    Dispatch dispatch{endpoint, receiver, retention};
};

TEST_F(DispatchTest, GivesEachKindToItsHandler) {
    NotingHandler handler, other;
    dispatch.bind(EnvelopeKind{40}, handler);
    dispatch.bind(EnvelopeKind{41}, handler);
    dispatch.bind(EnvelopeKind{42}, other);
    for (int kind : {41, 40, 42, 43, 63, 64, 255})
        received(answer(static_cast<EnvelopeKind>(kind), 0), "abc");
    EXPECT_EQ(handler.kinds, (std::vector<int>{41, 40}));
    EXPECT_EQ(handler.sizes[0], 3u);
    EXPECT_EQ(other.kinds, std::vector<int>{42});
    dispatch.unbind(handler);
    received(answer(EnvelopeKind{40}, 0));
    EXPECT_EQ(handler.kinds.size(), 2u);
    dispatch.bind(EnvelopeKind{40}, other);
}

TEST_F(DispatchTest, GivesOtherKindsToTheTargetThatIsNamed) {
    NotingTarget target, other;
    endpoint.targets.add(target);
    endpoint.targets.add(other);
    uint64_t id = target.id();
    received(answer(EnvelopeKind::finished, id, 5));
    received(answer(EnvelopeKind{60}, id, 6));
    dispatch.bulk(1, {id, 100}, nullptr, 0);
    dispatch.sent(id);
    dispatch.renewed(1);
    endpoint.targets.remove(target);
    received(answer(EnvelopeKind::finished, id, 7));
    dispatch.bulk(1, {id, 200}, nullptr, 0);
    dispatch.sent(id);
    EXPECT_EQ(target.answers, (std::vector<int>{5, 6}));
    EXPECT_EQ(target.offsets, std::vector<uint64_t>{100});
    EXPECT_EQ(target.tokens, 1);
    EXPECT_EQ(target.renewals, 1);
    EXPECT_EQ(other.answers.size(), 0u);
    EXPECT_EQ(other.renewals, 1);
    endpoint.targets.remove(other);
}

TEST_F(DispatchTest, TakesTheCreditThatComesOnce) {
    peer().credit_left = 0;
    Envelope envelope = answer(EnvelopeKind::credit, 0);
    envelope.credit = 3;
    received(envelope);
    EXPECT_EQ(peer().credit_left, 3 * 64);
    envelope = message(EnvelopeKind::eager, 3);
    envelope.credit = 1;
    received(envelope, "abc");
    EXPECT_EQ(peer().credit_left, 4 * 64);
    EXPECT_EQ(receiver.unexpected().count(), 1u);
}

// Each byte of eager payload is owed once as credit: when its message is received or purged.
TEST_F(DispatchTest, OwesCreditOnceForWhatIsTaken) {
    std::string payload = text(1000), room(1000, '.');
    received(message(EnvelopeKind::eager, 1000), payload);
    EXPECT_EQ(peer().credit_owed, 0);
    ReceiveOperation stored, posted;
    describe(stored, room);
    receiver.receive(stored);
    EXPECT_TRUE(stored.completion.complete());
    EXPECT_EQ(room, payload);
    EXPECT_EQ(peer().credit_owed, 1024);
    describe(posted, room);
    receiver.receive(posted);
    received(message(EnvelopeKind::eager, 1000), payload);
    EXPECT_EQ(peer().credit_owed, 2048);
    received(message(EnvelopeKind::eager, 1000), payload);
    EXPECT_EQ(peer().credit_owed, 2048);
    receiver.purge(context, "the communicator is revoked");
    EXPECT_EQ(peer().credit_owed, 3072);
}

TEST_F(DispatchTest, PurgesWhatBelongsToOneContext) {
    std::string room(10, '.');
    ReceiveOperation here, elsewhere;
    describe(here, room, 1);
    describe(elsewhere, room, 1);
    elsewhere.context = context + 4;
    receiver.receive(here);
    receiver.receive(elsewhere);
    received(message(EnvelopeKind::eager, 3, 2), "abc");
    receiver.purge(context, "the communicator is revoked");
    ASSERT_TRUE(here.error);
    EXPECT_EQ(here.error.take().sentence, "the communicator is revoked");
    EXPECT_FALSE(elsewhere.completion.complete());
    EXPECT_EQ(receiver.unexpected().count(), 0u);
    receiver.cancel(elsewhere);
    EXPECT_TRUE(elsewhere.cancelled);
}

TEST_F(DispatchTest, TellsEveryPartOnceThatAPeerIsLost) {
    NotingHandler handler;
    NotingTarget target;
    dispatch.bind(EnvelopeKind{40}, handler);
    dispatch.bind(EnvelopeKind{41}, handler);
    dispatch.bind(EnvelopeKind::cancel, receiver);
    endpoint.targets.add(target);
    std::string room(10, '.');
    ReceiveOperation receive;
    describe(receive, room);
    receiver.receive(receive);
    dispatch.undelivered(1, message(EnvelopeKind::eager, 70));
    dispatch.undelivered(1, message(EnvelopeKind::rendezvous, 700));
    dispatch.lost(1, Error(ErrorClass::proc_aborted, "its cable is cut"));
    EXPECT_EQ(handler.losses, 1);
    EXPECT_EQ(target.losses, 1);
    ASSERT_TRUE(receive.error);
    EXPECT_TRUE(receive.error.take().sentence.ends_with(
        "a message of 70 bytes that was sent to it before may not have arrived"));
    endpoint.targets.remove(target);
}

TEST_F(DispatchTest, AnswersACancelledOffer) {
    dispatch.bind(EnvelopeKind::cancel, receiver);
    RendezvousOffer offer{4711, 0};
    received(message(EnvelopeKind::rendezvous, 100'000),
             {reinterpret_cast<const char *>(&offer), sizeof offer});
    EXPECT_EQ(receiver.unexpected().count(), 1u);
    received(answer(EnvelopeKind::cancel, 4712));
    EXPECT_EQ(path->sent.back().envelope.tag, 0) << "there is no such offer";
    received(answer(EnvelopeKind::cancel, 4711));
    EXPECT_EQ(path->sent.back().envelope.kind, EnvelopeKind::cancel_reply);
    EXPECT_EQ(path->sent.back().envelope.tag, 1);
    EXPECT_EQ(receiver.unexpected().count(), 0u);
}

}  // namespace
}  // namespace lanyard
