// Tests the sender of the eager protocol by itself: which messages wait, which payload is kept, and how much
// credit messages take.
#include "p2p/eager.h"

#include "unit/p2p/scripted.h"

namespace lanyard {
namespace {

class EagerTest : public ScriptedTest {
protected:
    Eager eager{endpoint};
};

TEST_F(EagerTest, IsOverWhenCopied) {
    std::string bytes = text(100);
    SendOperation send;
    describe(send, bytes);
    eager.send(send);
    EXPECT_TRUE(send.completion.complete());
    EXPECT_EQ(path->sent.at(0).payload, bytes);
    EXPECT_EQ(path->sent.at(0).envelope.length, 100u);
    EXPECT_EQ(peer().credit_left, credit - 128) << "in units of 64";
    EXPECT_EQ(endpoint.counts.sent, 1u);
    EXPECT_EQ(eager.unfinished(), 0u);
}

TEST_F(EagerTest, ShortOnesCostNoCreditAndGoWithoutAny) {
    peer().credit_left = 0;
    EXPECT_TRUE(Eager::fits(peer(), 24));
    EXPECT_FALSE(Eager::fits(peer(), 25));
    std::string bytes = text(24);
    SendOperation send;
    describe(send, bytes);
    eager.send(send);
    EXPECT_TRUE(send.completion.complete());
    EXPECT_EQ(peer().credit_left, 0);
}

TEST_F(EagerTest, WaitsForRoomInOrder) {
    path->room = 0;
    std::string bytes = text(50);
    SendOperation first, second;
    describe(first, bytes, 1);
    describe(second, bytes, 2);
    eager.send(first);
    path->room = 1;
    eager.send(second);  // there is room, but the first message waits
    EXPECT_TRUE(path->sent.empty());
    EXPECT_EQ(eager.unfinished(), 2u);
    step();
    EXPECT_TRUE(first.completion.complete());
    EXPECT_FALSE(second.completion.complete());
    path->room = 1;
    step();
    EXPECT_TRUE(second.completion.complete());
    EXPECT_EQ(path->sent.at(0).envelope.tag, 1);
    EXPECT_EQ(path->sent.at(1).envelope.tag, 2);
    EXPECT_EQ(eager.unfinished(), 0u);
}

TEST_F(EagerTest, ACancelledOneThatWaitsGivesItsCreditBack) {
    path->room = 0;
    std::string bytes = text(50);
    SendOperation send;
    describe(send, bytes);
    eager.send(send);
    EXPECT_EQ(peer().credit_left, credit - 64);
    send.unfinished->cancel();
    EXPECT_TRUE(send.completion.complete() && send.cancelled);
    EXPECT_EQ(peer().credit_left, credit);
    path->room = 1;
    step();
    EXPECT_TRUE(path->sent.empty());
}

TEST_F(EagerTest, KeptPayloadIsTheProgramsWhenAcknowledged) {
    use({.keep_from = 1000});
    std::string bytes = text(1000);
    SendOperation send;
    describe(send, bytes);
    eager.send(send);
    EXPECT_FALSE(send.completion.complete());
    ASSERT_EQ(path->kept.size(), 1u);
    send.unfinished->cancel();
    EXPECT_FALSE(send.completion.complete()) << "it has left";
    uint64_t token = path->kept[0];
    endpoint.targets.find(token)->sent();
    EXPECT_TRUE(send.completion.complete());
    EXPECT_FALSE(send.cancelled);
    EXPECT_EQ(endpoint.targets.find(token), nullptr);
    EXPECT_FALSE(engine.under_way());
}

TEST_F(EagerTest, FailsWithItsPeer) {
    std::string bytes = text(1000);
    SendOperation kept, waiting;
    describe(kept, bytes);
    describe(waiting, bytes);
    use({.keep_from = 1000});
    eager.send(kept);
    path->room = 0;
    eager.send(waiting);
    lose_peer();
    EXPECT_TRUE(kept.completion.complete());
    ASSERT_TRUE(kept.error);
    EXPECT_NE(kept.error.take().sentence.find("its cable is cut"), std::string::npos);
    EXPECT_FALSE(waiting.completion.complete()) << "its turn has not come";
    step();
    EXPECT_TRUE(waiting.completion.complete());
    ASSERT_TRUE(waiting.error);
    waiting.error.discard();
    EXPECT_EQ(eager.unfinished(), 0u);
}

// The completion of a send may start the next send with the same operation.
TEST_F(EagerTest, ItsOperationMayBeUsedAgainAtOnce) {
    struct Chain {
        SendOperation send;
        Eager *eager;
        int left = 3;
    } chain;
    std::string bytes = text(30);
    describe(chain.send, bytes);
    chain.eager = &eager;
    chain.send.completion.context = &chain;
    chain.send.completion.then = [](Completion &completion) {
        auto &self = *static_cast<Chain *>(completion.context);
        if (--self.left > 0) self.eager->send(self.send);
    };
    path->room = 0;
    eager.send(chain.send);
    path->room = 10;
    step(5);
    EXPECT_EQ(chain.left, 0);
    EXPECT_EQ(path->sent.size(), 3u);
    EXPECT_EQ(eager.unfinished(), 0u);
}

}  // namespace
}  // namespace lanyard
