// Tests packets over libfabric. The tests of FabricPacketsOver run over the provider `udp` on loopback and
// over a mock provider with the requirements of InfiniBand (mock_fabric.h). The other tests use one provider
// or none.
#include "net/fabric_packets.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>

#include "net/sim/random.h"
#include "unit/net/mock_fabric.h"

namespace lanyard {
namespace {

Address loopback() {
    Address address;
    EXPECT_TRUE(parse_address("127.0.0.1", address));
    return address;
}

struct sigaction action_of(int signal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    return action;
}
const struct sigaction at_first[] = {action_of(SIGSEGV), action_of(SIGBUS), action_of(SIGABRT),
                                     action_of(SIGTERM), action_of(SIGINT)};

FabricChoice choice_of(const char *provider) {
    FabricChoice choice;
    choice.provider = provider;
    choice.addresses = {loopback()};
    return choice;
}

// Returns the installed libfabric, or nullptr if there is none, with the reason in `why`.
const FabricLibrary *installed(std::string &why) {
    static FabricLibrary library;
    static std::string trouble = [] {
        Error error = FabricLibrary::load(library);
        return error ? error.take().sentence : std::string();
    }();
    why = trouble;
    return why.empty() ? &library : nullptr;
}

struct Endpoint {
    Endpoint(const FabricLibrary &library, const char *provider) {
        Error error = FabricPackets::open(library, choice_of(provider), packets);
        if (error) ADD_FAILURE() << error.take().sentence;
    }

    std::vector<std::string> take(int at_once = 64) {
        std::vector<PacketIo::Arrived> list(static_cast<size_t>(at_once));
        int count = packets->receive(list.data(), at_once);
        EXPECT_GE(count, 0);
        std::vector<std::string> received;
        list.resize(static_cast<size_t>(std::max(count, 0)));
        for (const PacketIo::Arrived &each : list)
            received.emplace_back(reinterpret_cast<const char *>(each.data), each.size);
        return received;
    }
    bool wait(int ms) {
        pollfd wanted{packets->descriptor(), POLLIN, 0};
        return poll(&wanted, 1, ms) > 0;
    }

    std::unique_ptr<FabricPackets> packets;
};

// One packet of these bytes in three parts.
struct Packet {
    Packet(uint64_t destination, const std::string &bytes) : text(bytes) {
        size_t third = text.size() / 3;
        parts[0] = {text.data(), third};
        parts[1] = {text.data() + third, third};
        parts[2] = {text.data() + 2 * third, text.size() - 2 * third};
        outgoing = {destination, parts, 3};
    }
    std::string text;
    iovec parts[3];
    PacketIo::Outgoing outgoing;
};

int send_one(Endpoint &from, uint64_t destination, const std::string &text) {
    Packet packet(destination, text);
    int sent = from.packets->send(&packet.outgoing, 1);
    std::fill(packet.text.begin(), packet.text.end(), '?');  // the bytes are the caller's again
    return sent;
}

class OfMock : public ::testing::Test {
protected:
    void SetUp() override { mock_fabric::begin(); }
    void TearDown() override {
        EXPECT_EQ(mock_fabric::counts().open, 0);
        EXPECT_EQ(mock_fabric::faults(), std::vector<std::string>());
    }
};

// Tests that run over both providers.
class FabricPacketsOver : public ::testing::TestWithParam<const char *> {
protected:
    void SetUp() override {
        mock_fabric::begin();
        std::string why;
        library_ = mocked() ? &mock_fabric::library() : installed(why);
        if (!library_) GTEST_SKIP() << why;
        from = std::make_unique<Endpoint>(*library_, GetParam());
        to = std::make_unique<Endpoint>(*library_, GetParam());
        destination = static_cast<uint64_t>(from->packets->destination(to->packets->name()));
    }
    void TearDown() override {
        from.reset();
        to.reset();
        EXPECT_EQ(mock_fabric::counts().open, 0);
        EXPECT_EQ(mock_fabric::faults(), std::vector<std::string>());
    }
    bool mocked() const { return GetParam() == std::string("mock"); }

    // Sends each text as one packet, and tries again while the endpoint is full. Returns the packets that
    // arrived, at the latest after about five seconds.
    std::vector<std::string> exchange(const std::vector<std::string> &texts, int at_once) {
        std::vector<std::string> received;
        size_t sent = 0;
        for (int turn = 0; turn < 5000 && received.size() < texts.size(); ++turn) {
            if (sent < texts.size()) sent += static_cast<size_t>(send_one(*from, destination, texts[sent]));
            from->take();
            std::vector<std::string> more = to->take(at_once);
            received.insert(received.end(), more.begin(), more.end());
            if (more.empty() && sent == texts.size()) to->wait(1);
        }
        return received;
    }

    const FabricLibrary *library_ = nullptr;
    std::unique_ptr<Endpoint> from, to;
    uint64_t destination = 0;
};

TEST_P(FabricPacketsOver, ComeWholeAndAlone) {
    sim::Random random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::string> texts(1 + random.below(30));
        for (std::string &text : texts) {
            text.resize(1 + random.below(from->packets->largest(destination)));
            for (char &byte : text) byte = static_cast<char>(random.next());
        }
        ASSERT_EQ(exchange(texts, 1 + static_cast<int>(random.below(40))), texts);
    }
    EXPECT_EQ(from->packets->counts().sent, to->packets->counts().received);
}

TEST_P(FabricPacketsOver, SeveralAreSentByOneCall) {
    std::vector<std::string> texts{"one", "two", "six", "ten", "x"}, received;
    std::vector<Packet> packets;
    packets.reserve(texts.size());
    std::vector<PacketIo::Outgoing> list;
    for (const std::string &text : texts) list.push_back(packets.emplace_back(destination, text).outgoing);
    ASSERT_EQ(from->packets->send(list.data(), 5), 5);
    for (int turn = 0; turn < 1000 && received.size() < 5; ++turn) {
        std::vector<std::string> more = to->take(2);
        EXPECT_LE(more.size(), 2u);
        received.insert(received.end(), more.begin(), more.end());
        if (more.empty()) to->wait(1);
    }
    EXPECT_EQ(received, texts);
}

TEST_P(FabricPacketsOver, KnowsTheLargestAndDropsWhatIsLonger) {
    size_t largest = from->packets->largest(destination);
    EXPECT_EQ(largest, mocked() ? 2048u : 1472u);
    EXPECT_EQ(exchange({"before", std::string(largest, 'l')}, 8),
              (std::vector<std::string>{"before", std::string(largest, 'l')}));
    EXPECT_EQ(send_one(*from, destination, std::string(largest + 1, 'm')), 1);
    EXPECT_EQ(exchange({"after"}, 8), std::vector<std::string>{"after"});
    EXPECT_EQ(from->packets->counts().too_long, 1u);
}

TEST_P(FabricPacketsOver, LendsUntilTheNextCall) {
    send_one(*from, destination, std::string(1000, 'a'));
    PacketIo::Arrived lent;
    int count = 0;
    for (int turn = 0; turn < 1000 && count == 0; ++turn) {
        count = to->packets->receive(&lent, 1);
        if (count == 0) to->wait(1);
    }
    ASSERT_EQ(count, 1);
    for (int i = 0; i < 10; ++i) {
        send_one(*from, destination, std::string(1000, 'b'));
        from->take();
    }
    EXPECT_EQ(std::string(reinterpret_cast<const char *>(lent.data), lent.size), std::string(1000, 'a'));
}

TEST_P(FabricPacketsOver, GivesANameTheSameNumber) {
    int64_t first = from->packets->destination(to->packets->name()),
            own = from->packets->destination(from->packets->name());
    EXPECT_GE(first, 0);
    EXPECT_GE(own, 0);
    EXPECT_NE(first, own);
    EXPECT_EQ(from->packets->destination(to->packets->name()), first);
    std::string name = to->packets->name(), kind(fabric_kind(name));
    EXPECT_EQ(kind, std::string("libfabric:") + GetParam() + ":");
    for (const std::string &wrong :
         {std::string(), std::string("127.0.0.1:7"), kind, kind + "0", kind + "zz", name + "00",
          name.substr(2), "libfabric:other:" + name.substr(kind.size()), name.substr(0, name.size() - 2)})
        EXPECT_EQ(from->packets->destination(wrong), -EINVAL) << wrong;
}

// A packet to an endpoint that has gone is treated like a lost packet.
TEST_P(FabricPacketsOver, SendsToThoseWhoAreGone) {
    to.reset();
    for (int round = 0; round < 100; ++round) {
        EXPECT_EQ(send_one(*from, destination, "hello"), 1);
        EXPECT_EQ(from->take(), std::vector<std::string>());
    }
}

TEST_P(FabricPacketsOver, WakesAtTheDescriptor) {
    for (int round = 0; round < 50; ++round) {
        ASSERT_EQ(to->take(), std::vector<std::string>());
        ASSERT_FALSE(to->wait(0)) << "nothing has arrived";
        ASSERT_EQ(send_one(*from, destination, "awake"), 1);
        from->take();
        ASSERT_TRUE(to->wait(5000));
        ASSERT_EQ(to->take(), std::vector<std::string>{"awake"});
    }
    for (int turn = 0; turn < 10; ++turn) to->take();
    EXPECT_FALSE(to->wait(20));
}

TEST_P(FabricPacketsOver, DescribesItself) {
    std::string text = from->packets->describe();
    EXPECT_NE(text.find(std::string("provider ") + GetParam()), std::string::npos) << text;
    EXPECT_EQ(text.find("behind 40 of the provider's") != std::string::npos, mocked()) << text;
    EXPECT_EQ(text.find("KiB registered") != std::string::npos, mocked()) << text;
}

INSTANTIATE_TEST_SUITE_P(Provider, FabricPacketsOver, ::testing::Values("mock", "udp"),
                         [](const auto &about) { return std::string(about.param); });

using FabricPacketsMock = OfMock;

// Two endpoints of the mock provider.
struct Pair {
    Pair() : from(mock_fabric::library(), "mock"), to(mock_fabric::library(), "mock") {
        destination = static_cast<uint64_t>(from.packets->destination(to.packets->name()));
    }
    int send(const std::string &text) { return send_one(from, destination, text); }
    Endpoint from, to;
    uint64_t destination;
};

TEST_F(FabricPacketsMock, IsFullWhileTheTransmitContextIs) {
    Pair pair;
    mock_fabric::hold(true);
    std::vector<std::string> texts, received;
    for (int i = 0; i < 100; ++i) {
        std::string text = "number " + std::to_string(i);
        if (pair.send(text) == 1) texts.push_back(text);
    }
    EXPECT_EQ(texts.size(), mock_fabric::Behaviour().transmits);
    EXPECT_EQ(pair.send("more"), 0);
    EXPECT_TRUE(pair.from.wait(5000)) << "it is worth trying again";
    EXPECT_EQ(pair.send("more"), 0);
    mock_fabric::hold(false);
    EXPECT_EQ(pair.send("more"), 1);
    texts.push_back("more");
    while (received.size() < texts.size()) {
        std::vector<std::string> more = pair.to.take();
        ASSERT_FALSE(more.empty());
        received.insert(received.end(), more.begin(), more.end());
    }
    EXPECT_EQ(received, texts);
    pair.from.wait(100);  // until the timer expires that send() set when the endpoint was full
    pair.from.take();
    EXPECT_FALSE(pair.from.wait(20)) << "the timer is over, and nothing waits";
}

TEST_F(FabricPacketsMock, IsFullWhenTheProviderSaysSo) {
    Pair pair;
    mock_fabric::refuse_next(FI_EAGAIN);
    EXPECT_EQ(pair.send("a"), 0);
    EXPECT_EQ(pair.send("b"), 1);
    EXPECT_EQ(pair.to.take(), std::vector<std::string>{"b"});
}

TEST_F(FabricPacketsMock, LosesWhatFindsNoPostedReceive) {
    Pair pair;
    size_t posted = mock_fabric::Behaviour().receives;
    for (size_t i = 0; i < posted + 5; ++i) {
        EXPECT_EQ(pair.send("x"), 1);
        pair.from.take();
    }
    EXPECT_EQ(mock_fabric::counts().dropped, 5u);
    EXPECT_EQ(pair.to.take(1000).size(), posted);
    EXPECT_EQ(pair.send("y"), 1);
    pair.from.take();
    EXPECT_EQ(pair.to.take(), std::vector<std::string>()) << "those lent are posted again by this call only";
    EXPECT_EQ(pair.send("z"), 1);
    EXPECT_EQ(pair.to.take(), std::vector<std::string>{"z"});
}

TEST_F(FabricPacketsMock, TakesFailuresForLossAndKeepsItsSlots) {
    Pair pair;
    for (uint64_t round = 1; round <= 100; ++round) {
        mock_fabric::fail_one_sent();
        EXPECT_EQ(pair.send("lost"), 1);
        EXPECT_EQ(pair.to.take(), std::vector<std::string>());
        mock_fabric::fail_one_arrival();
        EXPECT_EQ(pair.send("cut"), 1);
        EXPECT_EQ(pair.to.take(), std::vector<std::string>());
        EXPECT_EQ(pair.send("good"), 1);
        ASSERT_EQ(pair.to.take(), std::vector<std::string>{"good"});
        EXPECT_EQ(pair.to.packets->counts().failed, round);
    }
    EXPECT_GT(pair.from.packets->counts().failed, 90u);
    EXPECT_NE(pair.from.packets->describe().find("failed there"), std::string::npos);
}

TEST_F(FabricPacketsMock, TellsItsOwnTroubleFromThatOfOneDestination) {
    Pair pair;
    mock_fabric::refuse_next(EHOSTUNREACH);
    EXPECT_EQ(pair.send("a"), 1);
    EXPECT_EQ(pair.from.packets->counts().refused, 1u);
    mock_fabric::refuse_next(EMSGSIZE);
    EXPECT_EQ(pair.send("b"), 1);
    EXPECT_EQ(pair.from.packets->counts().too_long, 1u);
    mock_fabric::refuse_next(EBADF);
    EXPECT_EQ(pair.send("c"), -EBADF);
    EXPECT_EQ(pair.send("d"), 1);
    EXPECT_EQ(pair.to.take(), std::vector<std::string>{"d"});
}

// The provider has no descriptor that wakes a sleeping process, so a timer wakes it.
TEST_F(FabricPacketsMock, WakesWhereTheProviderCannot) {
    mock_fabric::begin({.wakes = false});
    Pair pair;
    for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(pair.to.take(), std::vector<std::string>());
        EXPECT_TRUE(pair.to.wait(5000));
        EXPECT_EQ(pair.to.take(), std::vector<std::string>());
        EXPECT_EQ(pair.send("hello"), 1);
        EXPECT_TRUE(pair.to.wait(5000));
        EXPECT_EQ(pair.to.take(), std::vector<std::string>{"hello"});
    }
}

TEST_F(FabricPacketsMock, ClosesWhatItHadWhereSomethingCannotBeMade) {
    int failed = 0;
    for (int object = 0; object < 20; ++object) {
        mock_fabric::begin({.missing_object = object});
        std::unique_ptr<FabricPackets> packets;
        Error error = FabricPackets::open(mock_fabric::library(), choice_of("mock"), packets);
        EXPECT_NE(!!error, !!packets);
        failed += !!error;
        if (error) {
            std::string sentence = error.take().sentence;
            EXPECT_NE(sentence.find("provider mock "), std::string::npos) << sentence;
            EXPECT_NE(sentence.find("Cannot allocate memory"), std::string::npos) << sentence;
        }
        packets.reset();
        EXPECT_EQ(mock_fabric::counts().open, 0);
        EXPECT_EQ(mock_fabric::faults(), std::vector<std::string>());
    }
    EXPECT_EQ(failed, 6) << "fabric, domain, memory, vector, the first queue and the endpoint; the second is "
                            "tried again without a descriptor";
}

std::string why_not(const FabricLibrary &library, const FabricChoice &choice) {
    std::unique_ptr<FabricPackets> packets;
    Error error = FabricPackets::open(library, choice, packets);
    return error ? error.take().sentence : "";
}

TEST_F(FabricPacketsMock, SaysWhatIsMissing) {
    const FabricLibrary &library = mock_fabric::library();
    EXPECT_EQ(why_not(library, choice_of("nope")),
              "libfabric 1.17 on this machine has no provider \"nope\"; it has absent, streams and mock (one "
              "without device or driver may not show)");
    EXPECT_EQ(why_not(library, choice_of("streams")),
              "libfabric 1.17 on this machine has the provider streams, but without datagram endpoints "
              "(FI_EP_DGRAM); those that have are mock");
    EXPECT_EQ(why_not(library, choice_of("absent")),
              "libfabric 1.17 on this machine has the provider absent, which finds no device here that it "
              "can use; those that have are mock");
    EXPECT_EQ(why_not(library, {}), "");
    mock_fabric::begin({.largest = 256});
    EXPECT_EQ(why_not(library, choice_of("mock")),
              "libfabric's provider mock carries packets of at most 256 bytes; datagrams need 512: name "
              "another provider");
}

TEST(FabricLibrary, SaysWhatToInstall) {
    FabricLibrary library;
    Error error = FabricLibrary::load(library, "libfabric-that-is-not-there.so.1");
    ASSERT_TRUE(error);
    std::string sentence = error.take().sentence;
    EXPECT_NE(sentence.find("apt-get install libfabric1"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("libfabric-that-is-not-there.so.1: cannot open"), std::string::npos) << sentence;
    Error other = FabricLibrary::load(library, "libc.so.6");
    ASSERT_TRUE(other);
    sentence = other.take().sentence;
    EXPECT_NE(sentence.find("fi_version"), std::string::npos) << sentence;
}

// The package of libfabric may bring libraries that take over signals.
TEST(FabricLibrary, LeavesSignalsToTheProgram) {
    std::string why;
    if (!installed(why)) GTEST_SKIP() << why;
    int place = 0;
    for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGTERM, SIGINT})
        EXPECT_EQ(action_of(signal).sa_sigaction, at_first[place++].sa_sigaction) << strsignal(signal);
}

TEST(FabricPacketsUdp, KeepsToPortsAndAddresses) {
    std::string why;
    const FabricLibrary *library = installed(why);
    if (!library) GTEST_SKIP() << why;
    FabricChoice choice = choice_of("udp");
    std::unique_ptr<FabricPackets> first, second;
    int port = 0;
    for (int tried = 21'000; tried < 21'100 && !first; ++tried) {
        choice.least_port = choice.most_port = static_cast<uint16_t>(tried);
        if (Error error = FabricPackets::open(*library, choice, first)) error.discard();
        port = tried;
    }
    ASSERT_TRUE(first);
    std::string sentence = why_not(*library, choice),
                range = std::to_string(port) + "-" + std::to_string(port);
    EXPECT_EQ(sentence, "libfabric's provider udp finds no free port in LANYARD_PORT_RANGE=" + range +
                            "; each process of a host needs a port of its own: name more of them");
    choice.most_port = static_cast<uint16_t>(port + 50);
    EXPECT_FALSE(FabricPackets::open(*library, choice, second));
    ASSERT_TRUE(parse_address("203.0.113.1", choice.addresses[0]));
    sentence = why_not(*library, choice);
    EXPECT_NE(sentence.find("provider udp has no endpoint at 203.0.113.1; name an interface"),
              std::string::npos)
        << sentence;
}

}  // namespace
}  // namespace lanyard
