// Tests the records of packets under way: acknowledged, lost by order or by time, arrived after all.
#include "path/dgram/sent.h"

#include <gtest/gtest.h>

namespace lanyard::dgram {
namespace {

class Sent : public testing::Test {
protected:
    void send(uint64_t number, uint64_t at_ns) {
        SentPacket packet;
        packet.number = number;
        packet.sent_ns = at_ns;
        packet.begin = {number, 0};
        packet.end = {number + 1, 0};
        packet.bytes = 100;
        sent.add(records, packet);
    }
    void send_all(uint64_t until, uint64_t at_ns = 0) {
        for (uint64_t number = 1; number <= until; ++number) send(number, at_ns);
    }
    // Returns the numbers of the packets that this acknowledgement covers.
    std::vector<uint64_t> acknowledge(uint64_t cumulative, std::vector<Range> ranges = {}) {
        Acknowledgement said;
        said.count = static_cast<uint32_t>(ranges.size());
        std::copy(ranges.begin(), ranges.end(), said.ranges);
        std::vector<uint64_t> received;
        found = sent.acknowledge(records, cumulative, said,
                                 [&](const SentPacket &packet) { received.push_back(packet.number); });
        return received;
    }
    uint32_t find_lost(uint64_t now_ns) { return sent.find_lost(records, trip, size, now_ns, by_order); }
    std::vector<uint64_t> lost() {
        std::vector<uint64_t> numbers;
        while (SentPacket *packet = sent.first_lost(records)) {
            numbers.push_back(packet->number);
            packet->begin = packet->end;
        }
        return numbers;
    }

    SentPackets::Records records;
    SentPackets sent;
    RoundTrip trip;
    PacketSize size{1472};
    SentPackets::Found found;
    uint32_t by_order = 0;
};

using Numbers = std::vector<uint64_t>;

TEST_F(Sent, AreAcknowledgedInAnyOrder) {
    send_all(10);
    EXPECT_EQ(sent.in_flight(), 1000u);
    EXPECT_EQ(acknowledge(3), (Numbers{1, 2}));
    EXPECT_EQ(acknowledge(3, {{1, 2}, {6, 1}}), (Numbers{4, 5, 9}));
    EXPECT_EQ(found.highest, 9u);
    EXPECT_EQ(found.bytes, 300u);
    EXPECT_EQ(acknowledge(3, {{1, 2}, {6, 1}}), Numbers{}) << "the same again";
    EXPECT_EQ(sent.oldest(records), 3u);
    EXPECT_EQ(acknowledge(11), (Numbers{3, 6, 7, 8, 10}));
    EXPECT_FALSE(sent.outstanding());
    EXPECT_EQ(sent.in_flight(), 0u);
}

TEST_F(Sent, AreLostByOrder) {
    trip.add(1'000'000, 0, 0);
    send_all(6);
    acknowledge(1, {{1, 2}});  // 2 and 3
    EXPECT_EQ(find_lost(10), 0u) << "two later ones prove nothing";
    acknowledge(1, {{1, 3}});
    EXPECT_EQ(find_lost(10), 1u);
    EXPECT_EQ(by_order, 1u);
    EXPECT_EQ(sent.highest_lost(), 1u);
    EXPECT_EQ(lost(), Numbers{1});
    EXPECT_EQ(sent.in_flight(), 200u);
}

TEST_F(Sent, AreLostByTime) {
    trip.add(1'000'000, 0, 0);
    send_all(2, 500);
    acknowledge(1, {{1, 1}});
    EXPECT_EQ(find_lost(1'000'500), 0u);
    EXPECT_EQ(sent.loss_due_ns(), 500 + trip.loss_age_ns());
    EXPECT_EQ(find_lost(500 + trip.loss_age_ns()), 1u);
    EXPECT_EQ(by_order, 0u);
    EXPECT_EQ(sent.loss_due_ns(), UINT64_MAX);
}

TEST_F(Sent, AreNotLostBehindTheLastThatCame) {
    trip.add(1000, 0, 0);
    send_all(5);
    acknowledge(2);
    EXPECT_EQ(find_lost(1'000'000'000), 0u) << "nothing later was acknowledged";
}

TEST_F(Sent, MayComeThoughGivenUp) {
    trip.add(1'000'000, 0, 0);
    send_all(5);
    acknowledge(1, {{1, 3}});
    EXPECT_EQ(find_lost(10), 1u);
    EXPECT_EQ(acknowledge(5), (Numbers{1}));
    EXPECT_EQ(found.too_early, 1u);
    EXPECT_EQ(found.packets, 0u);
    EXPECT_EQ(lost(), Numbers{});
    // From now on, one more later packet is needed to prove a loss by order.
    for (uint64_t number = 6; number <= 10; ++number) send(number, 0);
    acknowledge(5, {{1, 3}});
    EXPECT_EQ(find_lost(10), 0u);
    acknowledge(5, {{1, 4}});
    EXPECT_EQ(find_lost(10), 1u);
}

TEST_F(Sent, AreNotBelievedToHaveComeWhenThePeerWasToldNotToWait) {
    trip.add(1'000'000, 0, 0);
    send_all(5);
    acknowledge(1, {{1, 3}});
    find_lost(10);
    sent.tell_move_on(5);
    EXPECT_EQ(acknowledge(6), (Numbers{5})) << "but not 1, which was only passed over";
    EXPECT_EQ(lost(), Numbers{1});
}

TEST_F(Sent, WaitInTheOrderOfTheirEnvelopes) {
    send_all(3);
    for (int i = 0; i < 3; ++i) sent.give_up_oldest(records, size, 0);
    sent.first_lost(records)->begin = {1, 50};  // partly sent again
    SentPacket again;
    again.number = 4;
    again.begin = {1, 0};
    again.end = {1, 50};
    sent.add(records, again);
    sent.give_up_oldest(records, size, 0);
    EXPECT_EQ(lost(), (Numbers{4, 1, 2, 3}));
}

// If a packet with envelopes and bulk is lost, the two parts wait separately for another packet. Otherwise
// the envelopes would wait for the window of the bulk, or the bulk for that of the envelopes.
TEST_F(Sent, WaitForAnotherPacketBulkApartFromEnvelopes) {
    SentPacket packet;
    for (packet.number = 1; packet.number <= 3; ++packet.number) {
        packet.begin = {packet.number, 0};
        packet.end = {packet.number + (packet.number > 1), 0};  // the first packet has only bulk
        packet.bulk_size = packet.number < 3 ? 70 : 0;
        packet.bytes = 100;
        sent.add(records, packet);
    }
    for (int i = 0; i < 3; ++i) sent.give_up_oldest(records, size, 0);
    EXPECT_EQ(sent.in_flight(), 0u);
    ASSERT_TRUE(sent.first_lost(records));
    EXPECT_EQ(sent.first_lost(records)->begin, (Position{2, 0}));
    EXPECT_EQ(sent.first_lost(records)->bulk_size, 0u);
    EXPECT_EQ(sent.first_lost_bulk(records)->number, 1u);
    sent.first_lost_bulk(records)->bulk_size = 0;
    EXPECT_EQ(sent.first_lost_bulk(records)->number, 2u);
    EXPECT_EQ(acknowledge(1, {{1, 2}}), (Numbers{2, 3, 2})) << "both parts of the second, and the third";
    EXPECT_FALSE(sent.first_lost(records));
    EXPECT_FALSE(sent.first_lost_bulk(records));
}

TEST_F(Sent, CanBeTakenBack) {
    send_all(3);
    EXPECT_FALSE(sent.take_back(records, 2));
    EXPECT_TRUE(sent.take_back(records, 3));
    EXPECT_EQ(sent.in_flight(), 200u);
    EXPECT_EQ(sent.highest_lost(), 0u);
    send(3, 0);
    EXPECT_EQ(acknowledge(4), (Numbers{1, 2, 3})) << "its number is another's now";
    ASSERT_TRUE(sent.first_lost(records));
    EXPECT_EQ(sent.first_lost(records)->begin, (Position{3, 0}));
}

TEST_F(Sent, CanBeTakenBackWithTheirBulk) {
    SentPacket both;
    both.number = 1;
    both.begin = {1, 0};
    both.end = {2, 0};
    both.bulk_size = 70;
    sent.add(records, both);
    EXPECT_TRUE(sent.take_back(records, 1));
    send(1, 0);
    EXPECT_EQ(acknowledge(2), Numbers{1}) << "its number is another's now";
    EXPECT_TRUE(sent.first_lost(records));
    EXPECT_TRUE(sent.first_lost_bulk(records));
}

}  // namespace
}  // namespace lanyard::dgram
