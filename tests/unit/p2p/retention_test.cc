// Tests at which moments a send can go on from a copy, and that its peer then gets the right bytes whatever
// the program does with its buffer.
#include "p2p/retention.h"

#include "p2p/push_request.h"
#include "p2p/rendezvous_send.h"
#include "unit/p2p/scripted.h"

namespace lanyard {
namespace {

using Result = Retention::Result;

class RetentionTest : public ScriptedTest {
protected:
    RetentionTest() { use({.loses_bulk = true, .keep_from = 1000}); }
    void offer(size_t size = 5000, SendMode mode = SendMode::standard) {
        bytes = given = text(size);
        send.completion.reset();
        describe(send, given);
        send.mode = mode;
        sends.send(send);
        id = path->sent.empty() ? 0 : path->said<RendezvousOffer>().sender_id;
    }
    Result keep() {
        Result result = retention.keep(send);
        EXPECT_EQ(result == Result::kept, over());
        if (result == Result::kept) std::fill(given.begin(), given.end(), '!');
        return result;
    }
    void say(EnvelopeKind kind, const void *payload = nullptr, size_t size = 0) {
        Target *target = endpoint.targets.find(id);
        ASSERT_TRUE(target);
        target->answer(1, answer(kind, id, 1), static_cast<const std::byte *>(payload), size);
    }
    void request(uint64_t from, uint64_t end) {
        ClearToSend clear{77, from, end};
        say(EnvelopeKind::clear_to_send, &clear, sizeof clear);
        step();
    }
    std::string pushed() const {
        std::string all;
        for (const ScriptedPath::Frame &frame : path->bulk) all += frame.payload;
        return all;
    }
    bool over() const { return send.completion.complete(); }

    RendezvousSends sends{endpoint};
    Retention retention{endpoint};
    std::string bytes, given;
    SendOperation send;
    uint64_t id = 0;
};

TEST_F(RetentionTest, ServesALateReceiverFromTheCopy) {
    endpoint.peers[1].first_limit = 1000;
    offer();
    EXPECT_GE(retention.patience_ns(send), 1000u);
    EXPECT_EQ(keep(), Result::kept);
    EXPECT_EQ(retention.kept_bytes(), 5000u);
    EXPECT_TRUE(engine.under_way());
    ASSERT_EQ(path->moved.size(), 1u);
    EXPECT_EQ(path->moved[0].first, id);
    EXPECT_EQ(std::memcmp(path->moved[0].second, bytes.data(), 1000), 0);
    request(1000, 5000);
    EXPECT_EQ(pushed(), bytes.substr(1000));
    say(EnvelopeKind::finished);
    EXPECT_EQ(retention.kept_bytes(), 0u);
    EXPECT_EQ(endpoint.targets.count(), 0u);
    EXPECT_FALSE(engine.under_way());
    EXPECT_EQ(endpoint.counts.retained, 1u);
}

TEST_F(RetentionTest, WaitsUntilNoFrameRefersToTheBuffer) {
    path->room = 0;
    offer();
    EXPECT_EQ(keep(), Result::later) << "the offer is queued";
    path->room = 1000;
    step();
    id = path->said<RendezvousOffer>().sender_id;
    path->bulk_room = 1;
    path->bulk_result = Sent::pending;
    request(0, 2000);
    EXPECT_EQ(keep(), Result::later) << "a frame is leaving";
    endpoint.targets.find(id)->sent();
    step();
    EXPECT_EQ(keep(), Result::later) << "the path has no room";
    path->bulk_room = 1000;
    step();
    EXPECT_EQ(keep(), Result::later);
    endpoint.targets.find(id)->sent();
    step();
    EXPECT_EQ(keep(), Result::kept);
    request(0, 5000);  // the connection was lost, and the peer requests everything again
    for (int i = 0; i < 5; ++i) {
        endpoint.targets.find(id)->sent();
        step();
    }
    EXPECT_EQ(pushed().substr(2000), bytes);
    say(EnvelopeKind::finished);
    EXPECT_EQ(retention.kept_bytes(), 0u);
}

TEST_F(RetentionTest, KeepsNoMoreThanTheSettingSays) {
    settings.retain = 9000;
    offer();
    EXPECT_EQ(keep(), Result::kept);
    SendOperation second;
    describe(second, bytes);
    sends.send(second);
    EXPECT_EQ(retention.keep(second), Result::never);
    say(EnvelopeKind::finished);
    EXPECT_EQ(retention.keep(second), Result::kept);
    id = path->said<RendezvousOffer>().sender_id;
    say(EnvelopeKind::finished);
    retention.give_back();
    settings.retain = 4999;
    offer();
    EXPECT_EQ(retention.patience_ns(send), 0u);
    say(EnvelopeKind::finished);
}

TEST_F(RetentionTest, KeepsNeitherSynchronousNorCheckedSendsNorThoseOfOtherPaths) {
    offer(5000, SendMode::synchronous);
    EXPECT_EQ(retention.patience_ns(send), 0u);
    say(EnvelopeKind::finished);
    settings.check = true;
    offer();
    EXPECT_EQ(retention.patience_ns(send), 0u);
    say(EnvelopeKind::finished);
    settings.check = false;
    use({});
    offer();
    EXPECT_EQ(retention.patience_ns(send), 0u);
    say(EnvelopeKind::finished);
}

TEST_F(RetentionTest, CountsAKeptMessageAsLostWithItsPeer) {
    offer();
    EXPECT_EQ(keep(), Result::kept);
    lose_peer();
    EXPECT_EQ(retention.kept_bytes(), 0u);
    Error error = endpoint.losses.untold();
    ASSERT_TRUE(error);
    EXPECT_NE(error.take().sentence.find("a message of 5000 bytes"), std::string::npos);
}

}  // namespace
}  // namespace lanyard
