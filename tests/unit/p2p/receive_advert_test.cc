// Tests the receiver's half of the write protocol over networks by itself: which receives are announced, and
// what becomes of an announced receive (receive_advert.h).
#include "p2p/receive_advert.h"

#include <list>

#include "p2p/receiver.h"
#include "unit/p2p/scripted.h"

namespace lanyard {
namespace {

class ReceiveAdvertTest : public ScriptedTest {
protected:
    static constexpr uint64_t sender_id = 4711;
    static constexpr size_t length = 5000;  // above the eager limit of these tests
    struct Advert {
        uint64_t receive_id, received;
    };

    ReceiveAdvertTest() {
        use({.loses_bulk = true});
        set_announcing(endpoint, peer());
    }
    ~ReceiveAdvertTest() override {
        for (ReceiveOperation &receive : receives) receiver.cancel(receive);
    }
    // The size from which on receives are announced, with this setting.
    uint64_t announced_from(const char *write_protocol) {
        settings.write_protocol = write_protocol;
        set_announcing(endpoint, peer());
        return peer().announced_from;
    }
    ReceiveOperation &post(int32_t tag = 7) { return post(room, tag); }
    ReceiveOperation &post(std::string &into, int32_t tag = 7) {
        ReceiveOperation &receive = receives.emplace_back();
        describe(receive, into, tag);
        receiver.receive(receive);
        return receive;
    }
    size_t announced() const { return path->of_kind(EnvelopeKind::announcement).size(); }
    uint64_t announced_id() {
        EXPECT_EQ(path->sent.back().envelope.kind, EnvelopeKind::announcement);
        return path->said<Advert>().receive_id;
    }
    // The peer offers a message and names a receive.
    void offer(uint64_t receive_id, int32_t tag = 7) {
        Envelope envelope = message(EnvelopeKind::rendezvous, length, tag);
        envelope.flags = flag_announced;
        RendezvousOffer offered{sender_id, receive_id};
        receiver.message(peer(), envelope, bytes_of(offered), sizeof offered);
    }
    void bulk(uint64_t receive_id) {
        if (Target *target = endpoint.targets.find(receive_id)) target->bulk(1, 0, bytes_of(source), length);
    }

    Receiver receiver{endpoint};
    std::string source = text(length), room = std::string(length, '.');
    std::list<ReceiveOperation> receives;
};

TEST_F(ReceiveAdvertTest, TheSettingAndThePathDecideWhatIsAnnounced) {
    peer().first_limit = 9000;
    EXPECT_EQ(announced_from("auto"), 9001u) << "what travels with an offer needs no announcement";
    EXPECT_EQ(announced_from("on"), 4097u);
    EXPECT_EQ(announced_from("off"), UINT64_MAX);
    use({.loses_bulk = false});
    EXPECT_EQ(announced_from("on"), UINT64_MAX) << "bulk may overtake the offer on this path";
    path->shares = true;
    EXPECT_EQ(announced_from("auto"), 4097u);
    EXPECT_TRUE(peer().claims);
}

TEST_F(ReceiveAdvertTest, AnAnnouncementDescribesTheReceive) {
    peer().messages_received = 3;
    post(9);
    ASSERT_EQ(announced(), 1u);
    const Envelope &sent = path->sent.back().envelope;
    EXPECT_EQ(sent.context, context);
    EXPECT_EQ(sent.tag, 9);
    EXPECT_EQ(sent.length, length);
    EXPECT_EQ(sent.flags, flag_in_place);
    EXPECT_EQ(path->said<Advert>().received, 3u);
    EXPECT_TRUE(endpoint.targets.find(announced_id()));
    EXPECT_EQ(endpoint.counts.announced, 1u);
}

TEST_F(ReceiveAdvertTest, ShortStoredAndUnnamedOnesAreNotAnnounced) {
    std::string shorter(4096, '.');
    post(shorter);
    ReceiveOperation &any = receives.emplace_back();
    describe(any, room);
    any.rank = abi::any_source;
    any.peer = no_peer;
    receiver.receive(any);
    offer(0, 8);
    post(8);
    EXPECT_EQ(announced(), 0u);
}

TEST_F(ReceiveAdvertTest, BytesForTheNamedReceiveArriveWithoutARequest) {
    ReceiveOperation &receive = post();
    uint64_t id = announced_id();
    bulk(id);
    EXPECT_EQ(room, std::string(length, '.')) << "no offer has named the receive yet";
    offer(id);
    EXPECT_TRUE(path->of_kind(EnvelopeKind::clear_to_send).empty());
    bulk(id);
    EXPECT_TRUE(receive.completion.complete());
    EXPECT_EQ(room, source);
    EXPECT_EQ(path->of_kind(EnvelopeKind::finished).size(), 1u);
    EXPECT_EQ(endpoint.targets.count(), 0u);
}

TEST_F(ReceiveAdvertTest, AnOfferThatMeetsAnotherReceiveIsRequested) {
    std::string other_room(length, '.');
    ReceiveOperation &first = post();
    uint64_t first_id = announced_id();
    ReceiveOperation &second = post(other_room);
    uint64_t second_id = announced_id();
    offer(second_id);
    ASSERT_EQ(path->sent.back().envelope.kind, EnvelopeKind::clear_to_send);
    uint64_t asked_id = path->said<ClearToSend>().receiver_id;
    EXPECT_NE(asked_id, first_id) << "bytes for the announced id may be on their way";
    EXPECT_NE(asked_id, second_id);
    bulk(first_id);
    bulk(second_id);
    EXPECT_EQ(room + other_room, std::string(2 * length, '.'));
    bulk(asked_id);
    EXPECT_TRUE(first.completion.complete());
    EXPECT_EQ(room, source);
    EXPECT_FALSE(second.completion.complete());
}

TEST_F(ReceiveAdvertTest, BytesForACancelledReceiveAreDropped) {
    ReceiveOperation &receive = post();
    uint64_t id = announced_id();
    receiver.cancel(receive);
    EXPECT_TRUE(receive.cancelled);
    bulk(id);
    EXPECT_EQ(room, std::string(length, '.'));
    EXPECT_EQ(endpoint.targets.count(), 0u);
}

TEST_F(ReceiveAdvertTest, AnnouncementsThatNobodyUsesBecomeRare) {
    for (int i = 0; i < 72; ++i) receiver.cancel(post());
    EXPECT_EQ(announced(), 8u + 1u);
    settings.write_protocol = "on";
    receiver.cancel(post());
    EXPECT_EQ(announced(), 10u) << "the user wants them";
    settings.write_protocol = "auto";
    for (int i = 0; i < 63; ++i) receiver.cancel(post());
    EXPECT_EQ(announced(), 10u);
    post();
    ASSERT_EQ(announced(), 11u);
    uint64_t id = announced_id();
    offer(id);
    bulk(id);
    post();
    EXPECT_EQ(announced(), 12u) << "one was used, so they are frequent again";
}

}  // namespace
}  // namespace lanyard
