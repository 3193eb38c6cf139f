// Tests each half of the write protocol within a node by itself (shm_advert.h, shm_write.h): which side may
// claim what, and when.
#include "p2p/shm_write.h"

#include "base/valgrind.h"
#include "p2p/rendezvous_offer.h"
#include "p2p/shm_advert.h"
#include "unit/p2p/scripted.h"

namespace lanyard {
namespace {

class ShmWriteTest : public ScriptedTest, protected ShmWrite::User {
protected:
    ShmWriteTest() {
        path->touched = path->shares = true;
        settings.write_protocol = "on";
        room.assign(5000, '.');
    }
    void SetUp() override {
        if (under_valgrind()) GTEST_SKIP() << "under valgrind no receive is announced within a node";
    }
    void written() override { ++all_written; }
    void write_refused() override { ++refusals; }
    // Posts a receive and announces it if the rules allow that.
    void post(ReceiveOperation &receive, int32_t tag) {
        describe(receive, room, tag);
        posted.add(receive);
        adverts.announce(receive);
    }
    // The latest announcement, as the sender understands it.
    AnnouncedReceive heard() {
        const Envelope &envelope = path->sent.back().envelope;
        Announcements known(endpoint.peers[0]);
        EXPECT_TRUE(hear_claimable(known, *path, 0, envelope, bytes_of(path->sent.back().payload)));
        return *known.find({envelope.context, envelope.source, envelope.tag});
    }
    bool claim(const AnnouncedReceive &receive) {
        uint64_t seen = receive.open;
        return receive.word->compare_exchange_strong(seen, receive.claimed);
    }
    void end(ReceiveOperation &receive) {
        if (receive.claimable) adverts.end(receive);
        if (receive.queued()) posted.remove(receive);
    }

    MatchQueue posted;
    ShmAdverts adverts{endpoint, posted};
    std::string room;
    int all_written = 0, refusals = 0;
};

TEST_F(ShmWriteTest, ASenderClaimsAnOpenReceive) {
    ReceiveOperation receive;
    post(receive, 3);
    ASSERT_TRUE(receive.claimable);
    AnnouncedReceive known = heard();
    EXPECT_EQ(known.address, reinterpret_cast<uintptr_t>(room.data()));
    EXPECT_EQ(known.room, 5000u);
    ASSERT_TRUE(claim(known));
    EXPECT_FALSE(adverts.withdraw(receive)) << "nothing else may happen to it";
    EXPECT_EQ(adverts.claimed(1, known.receive_id), &receive);
    EXPECT_EQ(receive.claimable, nullptr);
    EXPECT_EQ(adverts.claimed(1, known.receive_id), nullptr);
    end(receive);
}

TEST_F(ShmWriteTest, AWithdrawnReceiveCannotBeClaimed) {
    ReceiveOperation receive;
    post(receive, 3);
    AnnouncedReceive known = heard();
    EXPECT_TRUE(adverts.withdraw(receive));
    EXPECT_FALSE(claim(known));
    EXPECT_EQ(endpoint.words.in_use(), 0);
    end(receive);
    ReceiveOperation next;
    post(next, 3);
    EXPECT_FALSE(claim(known)) << "the word is another's now";
    EXPECT_TRUE(claim(heard()));
    end(next);
}

TEST_F(ShmWriteTest, AHeldReceiveWaitsUntilItsProgramGoesOn) {
    ReceiveOperation receive;
    post(receive, 3);
    AnnouncedReceive known = heard();
    adverts.hold();
    EXPECT_FALSE(claim(known));
    adverts.hold();
    adverts.hold_no_more();
    EXPECT_FALSE(claim(known));
    adverts.hold_no_more();
    EXPECT_TRUE(claim(known));
    end(receive);
}

TEST_F(ShmWriteTest, AProgramThatWaitsWithdrawsAllThatIsNotClaimed) {
    ReceiveOperation claimed, open;
    post(claimed, 3);
    AnnouncedReceive known = heard();
    post(open, 4);
    ASSERT_TRUE(claim(known));
    adverts.withdraw_all();
    EXPECT_TRUE(claimed.claimable);
    EXPECT_FALSE(open.claimable);
    end(claimed);
    end(open);
}

TEST_F(ShmWriteTest, OpensOnlyTheFirstThatMayTakeAMessage) {
    ReceiveOperation any, same, other;
    describe(any, room, 3);
    any.rank = any_source;
    posted.add(any);  // a receive from any source is not announced
    post(same, 3);
    EXPECT_FALSE(same.claimable) << "the earlier one may take its message";
    post(other, 4);
    EXPECT_TRUE(other.claimable);
    EXPECT_EQ(path->sent.back().envelope.flags & flag_sole, flag_sole);
    ReceiveOperation third;
    post(third, 5);
    EXPECT_TRUE(third.claimable);
    EXPECT_EQ(path->sent.back().envelope.flags & flag_sole, 0);
    for (ReceiveOperation *each : {&any, &same, &other, &third}) end(*each);
}

TEST_F(ShmWriteTest, WritesIntoPlaceAndSaysSo) {
    std::string bytes = text(5000);
    SendOperation send;
    describe(send, bytes);
    AnnouncedReceive receive{{context, 0, 7}, 55, 5000, true};
    receive.address = reinterpret_cast<uintptr_t>(room.data());
    receive.word = &path->words[1][2];
    receive.open = 11;
    receive.claimed = 12;
    path->words[1][2] = 11;
    ASSERT_TRUE(ShmWrite::claim(endpoint, receive));
    EXPECT_EQ(path->words[1][2], 12u);
    EXPECT_FALSE(ShmWrite::claim(endpoint, receive));
    ShmWrite write(endpoint);
    write.begin(send, receive, 4711, *this);
    step();
    EXPECT_EQ(all_written, 1);
    EXPECT_EQ(room, bytes);
    EXPECT_EQ(path->sent.back().envelope.flags, flag_claimed);
    EXPECT_EQ(path->said<RendezvousOffer>().address, 55u);
    EXPECT_EQ(path->said<RendezvousOffer>().sender_id, 0u);
}

TEST_F(ShmWriteTest, OffersWhatItMayNotWrite) {
    std::string bytes = text(5000);
    SendOperation send;
    describe(send, bytes);
    AnnouncedReceive receive{{context, 0, 7}, 55, 5000, true};
    path->refused = true;
    path->room = 0;
    ShmWrite write(endpoint);
    write.begin(send, receive, 4711, *this);
    step();
    EXPECT_EQ(refusals, 0) << "there is no room to say so yet";
    path->room = 1;
    step();
    EXPECT_EQ(refusals, 1);
    EXPECT_EQ(path->said<RendezvousOffer>().sender_id, 4711u);
}

}  // namespace
}  // namespace lanyard
