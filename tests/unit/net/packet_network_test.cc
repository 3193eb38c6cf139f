// The simulated network of packets must do what its behaviour states, and must do the same again for the same
// seed.
#include "net/sim/packet_network.h"

#include <gtest/gtest.h>

namespace lanyard::sim {
namespace {

int send(PacketNetwork &network, uint32_t from, uint64_t to, const std::string &text) {
    std::string first = text.substr(0, text.size() / 2), second = text.substr(text.size() / 2);
    iovec parts[2] = {{first.data(), first.size()}, {second.data(), second.size()}};
    PacketIo::Outgoing out{to, parts, 2};
    return network.host(from).send(&out, 1);
}

std::vector<std::string> receive(PacketNetwork &network, uint32_t host) {
    std::vector<std::string> texts;
    PacketIo::Arrived arrived[4];
    for (int count; (count = network.host(host).receive(arrived, 4)) > 0;)
        for (int i = 0; i < count; ++i)
            texts.emplace_back(reinterpret_cast<const char *>(arrived[i].data), arrived[i].size);
    return texts;
}

TEST(PacketNetwork, DeliversAfterTheDelayAndTheTimeOnBothLines) {
    PacketBehaviour behaviour;
    behaviour.bytes_per_s = 1'000'000'000;  // one byte per ns
    behaviour.delay_ns = 10'000;
    behaviour.overhead = 0;
    PacketNetwork network(1, behaviour, 2);
    EXPECT_EQ(network.host(0).destination("1"), 1);
    EXPECT_LT(network.host(0).destination("2"), 0);
    EXPECT_EQ(send(network, 0, 1, std::string(500, 'x')), 1);
    network.advance(10'999);
    EXPECT_FALSE(network.has_arrived(1));
    network.advance(11'000);
    EXPECT_TRUE(network.has_arrived(1));
    EXPECT_EQ(receive(network, 1), std::vector<std::string>{std::string(500, 'x')});
    EXPECT_EQ(network.next_ns(), UINT64_MAX);
}

TEST(PacketNetwork, KeepsTheOrderUnlessPacketsAreHeldUp) {
    PacketBehaviour behaviour;
    behaviour.jitter_ns = 1'000'000;
    auto order = [&] {
        PacketNetwork network(3, behaviour, 2);
        for (char c = 'a'; c <= 'z'; ++c) send(network, 0, 1, std::string(1, c));
        network.advance(1'000'000'000);
        std::string all;
        for (const std::string &text : receive(network, 1)) all += text;
        return all;
    };
    EXPECT_EQ(order(), "abcdefghijklmnopqrstuvwxyz");
    behaviour.held_up_ppm = 300'000;
    std::string mixed = order();
    EXPECT_EQ(mixed.size(), 26u);
    EXPECT_NE(mixed, "abcdefghijklmnopqrstuvwxyz");
    EXPECT_EQ(order(), mixed) << "the same seed";
}

TEST(PacketNetwork, LosesDoublesAndDamagesAsOftenAsItSays) {
    PacketBehaviour behaviour;
    behaviour.lost_ppm = 100'000;
    behaviour.doubled_ppm = 50'000;
    behaviour.damaged_ppm = 20'000;
    PacketNetwork network(1, behaviour, 2);
    int damaged = 0, received = 0;
    for (int i = 0; i < 20'000; ++i) {
        send(network, 0, 1, "some text");
        network.advance(network.now_ns() + 1'000'000);
        for (const std::string &text : receive(network, 1)) {
            ++received;
            damaged += text != "some text";
        }
    }
    const PacketNetwork::Counts &counts = network.counts();
    EXPECT_NEAR(static_cast<double>(counts.lost), 2000, 200);
    EXPECT_NEAR(static_cast<double>(counts.doubled), 900, 120);
    EXPECT_EQ(counts.damaged, static_cast<uint64_t>(damaged));
    EXPECT_NEAR(damaged, 360, 80);
    EXPECT_EQ(counts.sent - counts.lost + counts.doubled, static_cast<uint64_t>(received));
}

TEST(PacketNetwork, DropsWhatManySendToOneAtOnce) {
    PacketBehaviour behaviour;
    behaviour.port_queue = 20'000;
    PacketNetwork network(1, behaviour, 8);
    for (uint32_t from = 1; from < 8; ++from)
        for (int i = 0; i < 10; ++i) send(network, from, 0, std::string(1000, 'x'));
    network.advance(1'000'000'000);
    EXPECT_GT(network.counts().overflowed, 30u);
    EXPECT_EQ(receive(network, 0).size() + network.counts().overflowed, 70u);
}

TEST(PacketNetwork, SaysWhenTheCardIsFullAndDropsWhatIsTooLong) {
    PacketBehaviour behaviour;
    behaviour.card_queue = 5000;
    PacketNetwork network(1, behaviour, 2);
    int taken = 0;
    while (send(network, 0, 1, std::string(1000, 'x')) == 1) ++taken;
    EXPECT_NEAR(taken, 5, 1);
    network.advance(1'000'000);
    EXPECT_EQ(send(network, 0, 1, std::string(1000, 'x')), 1);
    EXPECT_EQ(send(network, 0, 1, std::string(1473, 'x')), 1);
    EXPECT_EQ(network.counts().too_long, 1u);
}

TEST(PacketNetwork, CutsAndHeals) {
    PacketNetwork network(1, {}, 3);
    network.cut(0, 1);
    send(network, 0, 1, "lost");
    send(network, 1, 0, "lost");
    send(network, 0, 2, "not lost");
    network.advance(1'000'000);
    EXPECT_EQ(receive(network, 1).size() + receive(network, 0).size(), 0u);
    EXPECT_EQ(receive(network, 2).size(), 1u);
    network.heal_all();
    send(network, 0, 1, "healed");
    network.advance(2'000'000);
    EXPECT_EQ(receive(network, 1), std::vector<std::string>{"healed"});
    EXPECT_EQ(network.counts().cut_off, 2u);
}

}  // namespace
}  // namespace lanyard::sim
