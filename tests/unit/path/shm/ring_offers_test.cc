// Tests how members of a node obtain the rings between them, and what happens if there is no room for a ring.
#include "path/shm/ring_offers.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "net/sim/random.h"
#include "sim/seeds.h"
#include "unit/path/shm/node.h"

namespace lanyard {
namespace {

struct Members {
    explicit Members(uint32_t count) : node(count) {
        for (uint32_t own = 0; own < count; ++own) {
            all.emplace_back(node.of(own), own);
            for (uint32_t i = 0; i < count; ++i) all[own].add_member();
        }
    }
    RingOffers &operator[](uint32_t member) { return all[member]; }
    void leave_room_for(uint64_t rings) {
        node.header().limit = node.header().appended + rings * Segment::ring_room();
    }

    Node node;
    std::deque<RingOffers> all;
};

std::string refusal(Error error) { return error.take().sentence; }

TEST(RingOffers, GivesBothTheSameRing) {
    Members members(3);
    EXPECT_FALSE(members[1].has_news());
    Ring *written = members[0].open(1);
    ASSERT_NE(written, nullptr);
    EXPECT_TRUE(members[1].has_news());
    EXPECT_FALSE(members[0].has_news() || members[2].has_news());
    members[1].note_news();
    EXPECT_FALSE(members[1].has_news());
    EXPECT_FALSE(members[1].is_offered_by(2));
    ASSERT_TRUE(members[1].is_offered_by(0));
    Ring *read = members[1].accept(0);
    ASSERT_NE(read, nullptr);
    EXPECT_FALSE(members[1].is_offered_by(0)) << "once";
    EXPECT_NE(read, written) << "each has it for itself";
    written->line[5].word = 77;
    EXPECT_EQ(read->line[5].word, 77u);
    EXPECT_FALSE(members[0].becomes_lost(1) || members[1].becomes_lost(0));
}

TEST(RingOffers, PartsBothWhereThereIsNoRoom) {
    Members members(3);
    members.leave_room_for(0);
    SleepWord &sleep = members.node.of(1).member(1).sleep;
    sleep.asleep = SleepWord::on_futex;
    EXPECT_EQ(members[0].open(1), nullptr);
    EXPECT_EQ(sleep.asleep, SleepWord::awake);
    EXPECT_TRUE(members[0].has_news() && members[1].has_news());
    EXPECT_FALSE(members[2].has_news());
    members.leave_room_for(5);
    EXPECT_EQ(members[0].open(1), nullptr) << "too late";
    EXPECT_FALSE(members[0].is_lost(1)) << "not yet reported";
    EXPECT_TRUE(members[0].becomes_lost(1));
    EXPECT_FALSE(members[0].becomes_lost(1)) << "once";
    EXPECT_TRUE(members[0].is_lost(1));
    EXPECT_TRUE(members[1].becomes_lost(0));
    EXPECT_EQ(members[1].open(0), nullptr);
    EXPECT_FALSE(members[1].is_offered_by(0));
    EXPECT_TRUE(refusal(members[1].why_lost(0)).starts_with("the shared memory of this node"));
    EXPECT_NE(members[0].open(2), nullptr);
    EXPECT_FALSE(members[0].becomes_lost(2) || members[2].becomes_lost(0));
}

// A process cannot map a ring that the peer has made. The peer must find out that this ring will not be read.
// The ring in the other direction is read if the peer can map it.
TEST(RingOffers, PartsBothWhereARingCannotBeRead) {
    Members members(2);
    Ring *unread = members[0].open(1);
    ASSERT_NE(unread, nullptr);
    ASSERT_NE(members[1].open(0), nullptr);
    ASSERT_NE(members[1].accept(0), nullptr);
    EXPECT_EQ(members[0].unread(1), nullptr);
    members[1].fail_to_accept(0);
    EXPECT_EQ(members[0].unread(1), nullptr) << "not before the loss is reported";
    EXPECT_TRUE(members[1].becomes_lost(0) && members[0].becomes_lost(1));
    EXPECT_EQ(members[0].unread(1), unread);
    EXPECT_EQ(members[0].unread(1), nullptr) << "once";
    EXPECT_EQ(members[1].unread(0), nullptr);
    EXPECT_FALSE(members[1].is_offered_by(0));
    ASSERT_TRUE(members[0].is_offered_by(1));
    EXPECT_NE(members[0].accept(1), nullptr);
    EXPECT_TRUE(refusal(members[1].why_lost(0))
                    .starts_with("this process cannot map a ring of 8 KiB of shared memory"));
    EXPECT_TRUE(refusal(members[0].why_lost(1))
                    .starts_with("the other process cannot map a ring of 8 KiB of shared memory"));
}

// An offset that cannot be mapped stands for a process without addresses: no page begins there.
TEST(RingOffers, TellsBothWhereTheWriterCannotMapItsRing) {
    Members members(2);
    members.node.header().appended += 512;
    EXPECT_EQ(members[0].open(1), nullptr);
    EXPECT_TRUE(members[0].becomes_lost(1) && members[1].becomes_lost(0));
    EXPECT_TRUE(refusal(members[0].why_lost(1)).starts_with("this process cannot map a ring"));
    EXPECT_TRUE(refusal(members[1].why_lost(0)).starts_with("the other process cannot map a ring"));
}

// Members open rings to each other and look for offers at random, and there is room for only some of the
// rings. A ring that was made is read by the other member. If a ring could not be made, each of the two
// members reports the other as failed, once.
TEST(RingOffers, IsTheSameForBothSides) {
    sim::for_seeds(100, 3, [](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        sim::Random random(seed);
        constexpr uint32_t count = 6;
        using Pairs = std::set<std::pair<uint32_t, uint32_t>>;
        Members members(count);
        members.leave_room_for(random.below(count * count));
        Pairs opened, refused, accepted, lost;
        auto open = [&](uint32_t from, uint32_t to) {
            if (opened.contains({from, to})) return;
            bool parted = refused.contains({from, to}) || lost.contains({from, to});
            Ring *ring = members[from].open(to);
            EXPECT_TRUE(!ring || !parted);
            if (ring) opened.insert({from, to});
            else refused.insert({from, to});
        };
        auto look = [&](uint32_t own) {
            if (!members[own].has_news()) return;
            members[own].note_news();
            for (uint32_t from = 0; from < count; ++from) {
                if (members[own].becomes_lost(from)) {
                    EXPECT_TRUE(lost.insert({own, from}).second) << "once";
                }
                if (!members[own].is_offered_by(from)) continue;
                EXPECT_NE(members[own].accept(from), nullptr);
                EXPECT_TRUE(accepted.insert({from, own}).second);
            }
        };
        for (int step = 0; step < 200; ++step) {
            auto own = static_cast<uint32_t>(random.below(count));
            if (random.chance(60)) open(own, static_cast<uint32_t>(random.below(count)));
            else look(own);
        }
        for (uint32_t own = 0; own < count; ++own) look(own);
        EXPECT_EQ(accepted, opened);
        Pairs parted = refused;
        for (auto [from, to] : refused) parted.insert({to, from});
        EXPECT_EQ(lost, parted);
        return !::testing::Test::HasFailure();
    });
}

}  // namespace
}  // namespace lanyard
