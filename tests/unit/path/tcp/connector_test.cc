// Tests single decisions of a Connector on sockets that the test moves by hand. The other side is the test.
// tests/sim/links_test.cc connects whole processes.
#include "path/tcp/connector.h"

#include <gtest/gtest.h>

#include <cstring>

#include "unit/path/tcp/scripted_sockets.h"

namespace lanyard {
namespace {

struct SomeUser final : Connector::User {
    LetGo let_go(uint32_t) override {
        ++gone;
        return {0, needs_another};
    }
    void connected(uint32_t, int, uint64_t) override { ++connections; }
    Error addresses(uint32_t, std::vector<Address> &list, size_t &first) override {
        list = {Address()};
        first = 0;
        return {};
    }
    void alive(uint32_t) override {}
    void unfit(uint32_t, const char *) override {}
    void measured(uint32_t, const AddressChoice::Found &) override {}
    void not_moved(uint32_t) override {}

    bool needs_another = false;
    int gone = 0, connections = 0;
};

class ConnectorTest : public ::testing::Test {
protected:
    static constexpr uint32_t peer = 1;
    static constexpr int listener = 3, accepted = 7;

    ConnectorTest() {
        identity.own = processes.name(0);
        uint16_t port;
        sockets.listens = listener;
        connector.listen({Address()}, 0, 0, port).discard();
    }
    // The peer dials, and sends this greeting on the new socket.
    void dialed_by_peer(GreetingKind kind, uint32_t epoch) {
        Greeting greeting{};
        greeting.kind = kind;
        greeting.epoch = epoch;
        address(greeting, identity.own);
        WireIdentity of_peer;
        of_peer.own = processes.name(peer);
        seal(greeting, of_peer, nullptr);
        Bytes bytes(sizeof greeting);
        std::memcpy(bytes.data(), &greeting, sizeof greeting);
        sockets.sockets[accepted].to_read.push_back(bytes);
        sockets.accepts = accepted;
        connector.poll();
    }
    // Polls at each time at which the connector has something to do, for this long.
    void poll_for(uint64_t ns) {
        for (uint64_t end = sockets.time_ns + ns; connector.deadline_ns() <= end;) {
            sockets.time_ns = std::max(sockets.time_ns, connector.deadline_ns());
            connector.poll();
        }
    }

    ScriptedSockets sockets;
    Processes processes{4};
    WireIdentity identity;
    SomeUser user;
    Connector connector{sockets, identity, processes, user};
};

TEST_F(ConnectorTest, AfterAnAttemptOfThePeerDialsOnlyIfItHasLetAConnectionGo) {
    for (bool needs : {false, true}) {
        SCOPED_TRACE(needs);
        user.needs_another = needs;
        sockets.sockets[accepted] = {};
        dialed_by_peer(GreetingKind::hello, needs ? 2 : 1);
        EXPECT_EQ(sockets.sockets[accepted].written.size(), sizeof(Greeting)) << "a welcome";
        sockets.sockets[accepted].ended = true;  // the peer was connected for a moment, and had no use for it
        connector.poll();
        EXPECT_TRUE(sockets.sockets[accepted].closed);
        EXPECT_EQ(sockets.dialed, 0);
        sockets.connects = 20;
        poll_for(100'000'000);
        EXPECT_EQ(sockets.dialed, needs ? 1 : 0);
    }
    EXPECT_EQ(user.gone, 2);
    EXPECT_EQ(user.connections, 0);
}

}  // namespace
}  // namespace lanyard
