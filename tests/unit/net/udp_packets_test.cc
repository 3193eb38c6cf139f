// Tests packets over the kernel's loopback. What is sent arrives whole and separate, whether the kernel joins
// packets or not. What cannot be sent is dropped and counted, or waits for room.
#include "net/udp_packets.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "net/sim/random.h"

namespace lanyard {
namespace {

Address loopback(const char *text = "127.0.0.1") {
    Address address;
    EXPECT_TRUE(parse_address(text, address));
    return address;
}

std::string text_of(const PacketIo::Arrived &packet) {
    return {reinterpret_cast<const char *>(packet.data), packet.size};
}

struct Endpoint {
    explicit Endpoint(UdpPackets::Options options = {}, const std::vector<Address> &addresses = {loopback()})
        : packets(options) {
        EXPECT_FALSE(packets.open(addresses, 0, 0));
    }

    // Takes at most about five seconds.
    std::vector<std::string> receive(size_t wanted, int at_once = 64) {
        std::vector<std::string> received;
        std::vector<PacketIo::Arrived> list(static_cast<size_t>(at_once));
        for (int turn = 0; turn < 5000 && received.size() < wanted; ++turn) {
            int count = packets.receive(list.data(), at_once);
            EXPECT_GE(count, 0);
            for (int i = 0; i < count; ++i) received.push_back(text_of(list[static_cast<size_t>(i)]));
            if (count == 0) wait(1);
        }
        return received;
    }
    bool wait(int ms) {
        pollfd wanted{packets.descriptor(), POLLIN, 0};
        return poll(&wanted, 1, ms) > 0;
    }

    UdpPackets packets;
};

// Packets with these texts, each cut into three parts, and the list to send them by.
struct Outgoing {
    Outgoing(uint64_t destination, const std::vector<std::string> &texts)
        : kept(texts), parts(texts.size() * 3) {
        for (size_t i = 0; i < kept.size(); ++i) {
            char *text = kept[i].data();
            size_t cut = kept[i].size() / 3, rest = kept[i].size() - 2 * cut;
            parts[3 * i] = {text, cut};
            parts[3 * i + 1] = {text + cut, cut};
            parts[3 * i + 2] = {text + 2 * cut, rest};
            list.push_back({destination, &parts[3 * i], 3});
        }
    }
    int count() const { return static_cast<int>(list.size()); }

    std::vector<std::string> kept;
    std::vector<iovec> parts;
    std::vector<PacketIo::Outgoing> list;
};

std::vector<std::string> random_texts(sim::Random &random, size_t count, size_t most) {
    std::vector<std::string> texts(count);
    size_t usual = 1 + random.below(most);
    for (std::string &text : texts) {
        text.resize(random.chance(70) ? usual : 1 + random.below(most));
        for (char &byte : text) byte = static_cast<char>(random.next());
    }
    return texts;
}

TEST(UdpPackets, ComeWholeAndAlone) {
    for (bool join : {true, false}) {
        Endpoint from({.join = join}), to({.join = join});
        auto destination = static_cast<uint64_t>(from.packets.destination(to.packets.name()));
        sim::Random random(7);
        for (int round = 0; round < 200; ++round) {
            std::vector<std::string> texts =
                random_texts(random, 1 + random.below(100), random.chance(20) ? 20'000 : 1'500);
            size_t bytes = 0;
            for (const std::string &text : texts) bytes += text.size();
            if (bytes > 500'000) texts.resize(10);  // the kernel would drop some
            Outgoing out(destination, texts);
            ASSERT_EQ(from.packets.send(out.list.data(), out.count()), out.count());
            ASSERT_EQ(to.receive(texts.size(), 1 + static_cast<int>(random.below(64))), texts);
        }
        EXPECT_EQ(from.packets.counts().sent, to.packets.counts().received);
        if (join) {
            EXPECT_LT(from.packets.counts().send_calls * 10, from.packets.counts().sent);
        }
    }
}

// Returns the descriptor of the socket that is bound to this address and port.
int descriptor_at(const Address &address) {
    for (int descriptor = 0; descriptor < 1024; ++descriptor) {
        sockaddr_storage name{};
        socklen_t length = sizeof name;
        if (getsockname(descriptor, reinterpret_cast<sockaddr *>(&name), &length) != 0) continue;
        Address bound = from_system(name);
        if (same_host(bound, address) && bound.port == address.port) return descriptor;
    }
    ADD_FAILURE() << "no socket at " << to_text_with_port(address);
    return -1;
}

// The kernel refuses to separate a message into packets (UDP_SEGMENT) on a socket without checksums
// (SO_NO_CHECK). The endpoint treats this error like that of a driver that refuses.
void refuse_to_cut(uint16_t port) {
    int on = 1, descriptor = descriptor_at(loopback().with_port(port));
    ASSERT_EQ(setsockopt(descriptor, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
}

TEST(UdpPackets, LeaveOneByOneWhereTheKernelRefusesToCut) {
    Endpoint from, to;
    refuse_to_cut(from.packets.port());
    auto destination = static_cast<uint64_t>(from.packets.destination(to.packets.name()));
    std::vector<std::string> texts(40, std::string(1000, 'x'));
    Outgoing out(destination, texts);
    EXPECT_NE(from.packets.describe().find("packets joined"), std::string::npos) << from.packets.describe();
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(from.packets.send(out.list.data(), out.count()), out.count());
        EXPECT_EQ(to.receive(texts.size()), texts);
        EXPECT_NE(from.packets.describe().find("packets one by one"), std::string::npos)
            << from.packets.describe();
    }
    EXPECT_EQ(from.packets.counts().sent, 80u);
    EXPECT_EQ(from.packets.counts().send_calls, 3u) << "one of them was refused";
}

// A socket that is shut down for sending fails with EPIPE, which concerns no destination and does not last.
TEST(UdpPackets, SaysHowManyItSentBeforeAnError) {
    Endpoint from({}, {loopback(), loopback("127.0.0.2")}), near, far({}, {loopback("127.0.0.2")});
    auto to_near = static_cast<uint64_t>(from.packets.destination(near.packets.name()));
    auto to_far = static_cast<uint64_t>(from.packets.destination(far.packets.name()));
    shutdown(descriptor_at(loopback("127.0.0.2").with_port(from.packets.port())), SHUT_WR);
    Outgoing out(to_near, {"one", "two", "six", "ten", "red"});
    for (size_t i = 3; i < 5; ++i) out.list[i].destination = to_far;
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(from.packets.send(out.list.data(), 5), 3) << "the endpoint counts as full";
        EXPECT_EQ(near.receive(3), (std::vector<std::string>{"one", "two", "six"}));
        EXPECT_EQ(from.packets.send(&out.list[3], 2), -EPIPE) << "none was sent";
    }
    EXPECT_EQ(from.packets.counts().sent, 6u);
}

TEST(UdpPackets, LendsWhatDidNotFitTheNextTime) {
    Endpoint from, to;
    auto destination = static_cast<uint64_t>(from.packets.destination(to.packets.name()));
    std::vector<std::string> texts{"one", "two", "six", "ten", "x"};
    Outgoing out(destination, texts);
    EXPECT_EQ(from.packets.send(out.list.data(), out.count()), 5);
    EXPECT_TRUE(to.wait(5000));
    std::vector<PacketIo::Arrived> list(2);
    std::vector<std::string> received;
    for (int turn = 0; turn < 100 && received.size() < 5; ++turn) {
        int count = to.packets.receive(list.data(), 2);
        ASSERT_LE(count, 2);
        for (int i = 0; i < count; ++i) received.push_back(text_of(list[static_cast<size_t>(i)]));
    }
    EXPECT_EQ(received, texts);
}

TEST(UdpPackets, KnowsWhenNothingIsBehindWhatItLent) {
    Endpoint from, to;
    auto destination = static_cast<uint64_t>(from.packets.destination(to.packets.name()));
    std::vector<std::string> texts{"one", "two", "six"};
    Outgoing out(destination, texts);
    EXPECT_EQ(from.packets.send(out.list.data(), out.count()), 3);
    EXPECT_TRUE(to.wait(5000));
    std::vector<PacketIo::Arrived> list(64);
    int received = 0;
    for (int turn = 0; turn < 100 && received < 2; ++turn)
        received += to.packets.receive(list.data(), 2 - received);
    ASSERT_EQ(received, 2);
    EXPECT_EQ(to.packets.behind(), PacketIo::Behind::perhaps) << "one is left";
    ASSERT_EQ(to.packets.receive(list.data(), 64), 1);
    EXPECT_EQ(to.packets.behind(), PacketIo::Behind::nothing);
    std::vector<std::string> many(1000, std::string(1, 'x'));
    for (std::string &each : many)
        each.resize(1 + (&each - many.data()) % 2);  // so that few of them are joined
    Outgoing flood(destination, many);
    EXPECT_EQ(from.packets.send(flood.list.data(), flood.count()), 1000);
    EXPECT_TRUE(to.wait(5000));
    ASSERT_GT(to.packets.receive(list.data(), 64), 0);
    EXPECT_EQ(to.packets.behind(), PacketIo::Behind::perhaps);
}

// Sends and receives packets one at a time, as in a dialogue. Returns what the receiving endpoint knows about
// further packets behind the last one.
PacketIo::Behind receive_singly(Endpoint &from, Endpoint &to, uint64_t destination, int packets) {
    PacketIo::Arrived list[64];
    for (int i = 0; i < packets; ++i) {
        std::string text = "message " + std::to_string(i);
        Outgoing out(destination, {text});  // in three parts, or in one
        iovec whole{text.data(), text.size()};
        if (i % 2) out.list[0] = {destination, &whole, 1};
        EXPECT_EQ(from.packets.send(out.list.data(), 1), 1);
        EXPECT_TRUE(to.wait(5000));
        EXPECT_EQ(to.packets.receive(list, 64), 1);
        EXPECT_EQ(text_of(list[0]), text);
        if (i + 1 == packets) break;
        EXPECT_EQ(to.packets.receive(list, 64), 0);
    }
    return to.packets.behind();
}

TEST(UdpPackets, AsksForOneWherePacketsComeOneByOneAndForSeveralWhereTheyDoNot) {
    Endpoint from, to;
    auto destination = static_cast<uint64_t>(from.packets.destination(to.packets.name()));
    EXPECT_EQ(receive_singly(from, to, destination, 3), PacketIo::Behind::nothing);
    EXPECT_EQ(receive_singly(from, to, destination, 100), PacketIo::Behind::unlikely);
    for (size_t bytes : {1, 900, 1400}) {  // nothing is lost if many arrive at once, joined or not
        std::vector<std::string> many(300, std::string(bytes, 'x'));
        for (size_t i = 0; i < many.size(); ++i) many[i][0] = static_cast<char>(i);
        Outgoing out(destination, many);
        EXPECT_EQ(from.packets.send(out.list.data(), out.count()), 300);
        EXPECT_EQ(to.receive(300), many);
        EXPECT_EQ(to.packets.behind(), PacketIo::Behind::nothing);
        EXPECT_EQ(receive_singly(from, to, destination, 20), PacketIo::Behind::unlikely) << "again";
    }
    EXPECT_EQ(to.packets.counts().cut, 0u);
}

TEST(UdpPackets, ReachesWhoeverItSendsToWhileOneIsFavoured) {
    Endpoint from, one, other;
    auto to_one = static_cast<uint64_t>(from.packets.destination(one.packets.name()));
    auto to_other = static_cast<uint64_t>(from.packets.destination(other.packets.name()));
    for (int turn = 0; turn < 3; ++turn) {
        receive_singly(from, one, to_one, 200);
        receive_singly(from, other, to_other, 10);  // the connected socket still leads to `one`
        receive_singly(from, other, to_other, 200);
        Outgoing both(to_one, {"first", "second"});
        both.list[1].destination = to_other;
        EXPECT_EQ(from.packets.send(both.list.data(), 2), 2);
        EXPECT_EQ(one.receive(1), std::vector<std::string>{"first"});
        EXPECT_EQ(other.receive(1), std::vector<std::string>{"second"});
    }
    EXPECT_EQ(from.packets.counts().refused, 0u);
}

TEST(UdpPackets, SendsToWhoHasGoneAndIsFavouredAsToAnyOther) {
    Endpoint from;
    auto gone = std::make_unique<Endpoint>();
    auto destination = static_cast<uint64_t>(from.packets.destination(gone->packets.name()));
    receive_singly(from, *gone, destination, 200);
    gone.reset();
    char byte = 'x';
    iovec whole{&byte, 1};
    PacketIo::Outgoing out{destination, &whole, 1};
    for (int i = 0; i < 10; ++i) EXPECT_EQ(from.packets.send(&out, 1), 1) << "a loss, no error";
}

TEST(UdpPackets, ItsDescriptorTellsNothingUntilItIsWatchedAgain) {
    Endpoint from, to;
    auto destination = static_cast<uint64_t>(from.packets.destination(to.packets.name()));
    to.packets.watch(false);
    Outgoing out(destination, {"unseen"});
    EXPECT_EQ(from.packets.send(out.list.data(), 1), 1);
    EXPECT_FALSE(to.wait(20));
    to.packets.watch(true);
    EXPECT_TRUE(to.wait(5000)) << "of what arrived before, too";
    EXPECT_EQ(to.receive(1), std::vector<std::string>{"unseen"});
}

TEST(UdpPackets, KnowsTheLargestAndDropsWhatIsLonger) {
    Endpoint from, to;
    auto destination = static_cast<uint64_t>(from.packets.destination(to.packets.name()));
    size_t largest = from.packets.largest(destination);
    EXPECT_GT(largest, 16'000u);  // of loopback
    Outgoing out(destination, {"before", std::string(largest, 'l'), std::string(largest + 1, 'm'), "after"});
    EXPECT_EQ(from.packets.send(out.list.data(), out.count()), 4);
    EXPECT_EQ(to.receive(3), (std::vector<std::string>{"before", std::string(largest, 'l'), "after"}));
    EXPECT_EQ(from.packets.counts().too_long, 1u);
}

TEST(UdpPackets, GivesANameTheSameNumber) {
    Endpoint from, one, other;
    int64_t first = from.packets.destination(one.packets.name()),
            second = from.packets.destination(other.packets.name());
    EXPECT_GE(first, 0);
    EXPECT_GE(second, 0);
    EXPECT_NE(first, second);
    EXPECT_EQ(from.packets.destination(one.packets.name()), first);
    for (const char *name :
         {"", "10.0.0.1", "127.0.0.1:0", "127.0.0.1:99999", "[::1]:7", "nonsense", "10.0.0.1:7"})
        EXPECT_EQ(from.packets.destination(name), -EINVAL) << name;
}

TEST(UdpPackets, ReachesThroughTheAddressThatIsClosest) {
    Endpoint from({}, {loopback(), loopback("::1")}), to({}, {loopback("::1")});
    auto destination = static_cast<uint64_t>(from.packets.destination("127.0.0.1:9," + to.packets.name()));
    Outgoing other(static_cast<uint64_t>(from.packets.destination(to.packets.name())), {"hello"});
    EXPECT_EQ(from.packets.send(other.list.data(), 1), 1);
    EXPECT_EQ(to.receive(1), std::vector<std::string>{"hello"});
    EXPECT_LT(destination, 2u);
}

TEST(UdpPackets, KnowsTheWayBackToWhoSentAPacket) {
    for (bool join : {true, false})
        for (size_t packets : {size_t{1}, size_t{5}}) {
            UdpPackets::Options options{.join = join, .routes_within_host = true};
            Endpoint a(options, {loopback(), loopback("127.0.0.2"), loopback("::1")}),
                b(options, {loopback("127.0.0.3"), loopback("::1")});
            EXPECT_TRUE(b.packets.note_origins(true));
            std::vector<uint64_t> routes = a.packets.routes(b.packets.name());
            ASSERT_EQ(routes.size(), 2u);
            // Both endpoints have the address ::1.
            EXPECT_EQ(a.packets.destination(b.packets.name()), static_cast<int64_t>(routes[1]));
            for (uint64_t route : routes) {
                Outgoing out(route, std::vector<std::string>(packets, "there"));
                EXPECT_EQ(a.packets.send(out.list.data(), out.count()), out.count());
                PacketIo::Arrived list[8];
                int received = 0;
                for (int turn = 0; turn < 5000 && received == 0; ++turn, b.wait(1))
                    received = b.packets.receive(list, 8);
                ASSERT_GT(received, 0);
                for (int i = 0; i < received; ++i) {
                    int64_t back = b.packets.origin(list[i]);
                    ASSERT_GE(back, 0);
                    EXPECT_EQ(b.packets.origin(list[i]), back);
                    Outgoing answer(static_cast<uint64_t>(back), {"back"});
                    EXPECT_EQ(b.packets.send(answer.list.data(), 1), 1);
                }
                EXPECT_EQ(a.receive(static_cast<size_t>(received)),
                          std::vector<std::string>(static_cast<size_t>(received), "back"));
                b.receive(packets - static_cast<size_t>(received));
            }
        }
}

// A favourite has a socket whose packets come from another port, where nobody receives.
TEST(UdpPackets, KnowsTheWayBackToWhoHasSentManyPacketsSingly) {
    UdpPackets::Options options{.routes_within_host = true};
    Endpoint from(options), to(options);
    auto destination = static_cast<uint64_t>(from.packets.destination(to.packets.name()));
    receive_singly(from, to, destination, 200);
    EXPECT_TRUE(to.packets.note_origins(true));
    Outgoing out(destination, {"there"});
    EXPECT_EQ(from.packets.send(out.list.data(), 1), 1);
    EXPECT_TRUE(to.wait(5000));
    PacketIo::Arrived list[1];
    ASSERT_EQ(to.packets.receive(list, 1), 1);
    int64_t back = to.packets.origin(list[0]);
    ASSERT_GE(back, 0);
    Outgoing answer(static_cast<uint64_t>(back), {"back"});
    EXPECT_EQ(to.packets.send(answer.list.data(), 1), 1);
    EXPECT_EQ(from.receive(1), std::vector<std::string>{"back"});
}

TEST(UdpPackets, NotesNoOriginsWithinAHost) {
    Endpoint from, to;
    EXPECT_FALSE(to.packets.note_origins(true));
    Outgoing out(static_cast<uint64_t>(from.packets.destination(to.packets.name())), {"there"});
    EXPECT_EQ(from.packets.send(out.list.data(), 1), 1);
    PacketIo::Arrived list[1];
    int received = 0;
    for (int turn = 0; turn < 5000 && received == 0; ++turn, to.wait(1))
        received = to.packets.receive(list, 1);
    ASSERT_EQ(received, 1);
    EXPECT_EQ(to.packets.origin(list[0]), -1);
}

// A packet to a closed port is treated like a lost packet, even if the host reports that the port is closed.
TEST(UdpPackets, TakesRefusalForLoss) {
    Endpoint from;
    std::string gone;
    {
        Endpoint to;
        gone = to.packets.name();
    }
    auto destination = static_cast<uint64_t>(from.packets.destination(gone));
    for (int round = 0; round < 10; ++round) {
        Outgoing out(destination, {"a", "b"});
        EXPECT_EQ(from.packets.send(out.list.data(), out.count()), 2);
        PacketIo::Arrived list[4];
        EXPECT_EQ(from.packets.receive(list, 4), 0);
    }
}

TEST(UdpPackets, SaysWhichPortsAreTaken) {
    UdpPackets first, second;
    Endpoint scout;
    std::string name = scout.packets.name();
    auto port = static_cast<uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
    Error error = first.open({loopback()}, port, port);
    ASSERT_TRUE(error);
    std::string sentence = error.take().sentence;
    EXPECT_NE(sentence.find("127.0.0.1 with a port of LANYARD_PORT_RANGE=" + std::to_string(port) + "-" +
                            std::to_string(port)),
              std::string::npos)
        << sentence;
    EXPECT_NE(sentence.find("name more of them"), std::string::npos) << sentence;
    Error nowhere = second.open({loopback("203.0.113.1")}, 0, 0);
    ASSERT_TRUE(nowhere);
    EXPECT_NE(nowhere.take().sentence.find("cannot receive datagrams at 203.0.113.1"), std::string::npos);
}

TEST(UdpPackets, TakesAnotherPortOfTheRange) {
    Endpoint scout;
    std::string name = scout.packets.name();
    auto port = static_cast<uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
    auto least = static_cast<uint16_t>(std::min<int>(port, UINT16_MAX - 50));
    for (int i = 0; i < 20; ++i) {
        UdpPackets packets;
        EXPECT_FALSE(packets.open({loopback()}, least, static_cast<uint16_t>(least + 50)));
        EXPECT_NE(packets.name(), name);
    }
}

TEST(UdpPackets, DescribesItself) {
    Endpoint endpoint({.buffer = 4096});
    EXPECT_NE(endpoint.packets.describe().find("UDP at 127.0.0.1:"), std::string::npos);
    EXPECT_LE(endpoint.packets.granted_buffer(), 8192);
}

}  // namespace
}  // namespace lanyard
