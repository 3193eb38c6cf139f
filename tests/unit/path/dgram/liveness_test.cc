// Tests what a process learns about a peer that does not answer, with the kernel's sockets and with sockets
// that follow a script.
#include "path/dgram/liveness.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/system_sockets.h"
#include "few_sockets.h"

namespace lanyard {
namespace {

using dgram::PeerState;

struct Process {
    explicit Process(std::vector<Address> &others)
        : liveness(sockets, [&others](uint32_t, std::vector<Address> &list) {
              list = others;
              return Error();
          }) {}
    SystemSockets sockets{0, 1};
    Liveness liveness;
};

Address loopback() {
    Address address;
    parse_address("127.0.0.1", address);
    return address;
}

// Asks until the answer is `state`. The host's kernel needs a moment, and more time if the host is busy.
PeerState wait_for(Process &process, PeerState state, int patience_ms = 60'000) {
    PeerState known = process.liveness.ask(1);
    for (int i = 0; i < patience_ms && known != state; ++i, known = process.liveness.ask(1)) usleep(1000);
    return known;
}

struct LivenessTest : testing::Test {
    std::vector<Address> none, place;
    Process asked{none};
    Process asks{place};

    void listen() { place = {loopback().with_port(asked.liveness.listen({loopback()}, 0, 0, 0))}; }
};

TEST_F(LivenessTest, knowsOfAProcessThatComputes) {
    listen();
    EXPECT_EQ(wait_for(asks, PeerState::alive), PeerState::alive);
    usleep(1'500'000);  // longer than the sockets' timeouts
    EXPECT_EQ(asks.liveness.ask(1), PeerState::alive);
    asked.liveness.tend();
    EXPECT_EQ(asks.liveness.ask(1), PeerState::alive) << "nor does it matter that it looks";
    asks.liveness.heard(1);
    EXPECT_EQ(wait_for(asks, PeerState::alive), PeerState::alive) << "asked again";
}

TEST_F(LivenessTest, knowsOfOneThatHasEnded) {
    listen();
    ASSERT_EQ(wait_for(asks, PeerState::alive), PeerState::alive);
    asked.liveness.close();
    EXPECT_EQ(wait_for(asks, PeerState::gone), PeerState::gone);
}

TEST_F(LivenessTest, knowsNothingWhereItIsRefused) {
    listen();
    asked.liveness.close();
    EXPECT_EQ(wait_for(asks, PeerState::alive, 2000), PeerState::unknown);
}

TEST_F(LivenessTest, knowsNothingOfOneWithoutAddress) { EXPECT_EQ(asks.liveness.ask(1), PeerState::unknown); }

TEST_F(LivenessTest, takesAnotherPortWhereTheWantedOneIsUsed) {
    Process other{none};
    uint16_t port = asked.liveness.listen({loopback()}, 0, 0, 0);
    uint16_t another = other.liveness.listen({loopback()}, port, 0, 0);
    EXPECT_NE(another, 0);
    EXPECT_NE(another, port);
    EXPECT_EQ(Process(none).liveness.listen({loopback()}, port, port, port), 0) << "there is no other";
}

// The same without a kernel, so that routes fail and ports are taken when the test says so.
struct ScriptedLiveness : testing::Test {
    FewSockets sockets;
    Liveness liveness{sockets, [](uint32_t, std::vector<Address> &list) {
                          list = {loopback().with_port(7)};
                          return Error();
                      }};
};

TEST_F(ScriptedLiveness, dialsAgainUntilAConnectionIsMade) {
    EXPECT_EQ(liveness.ask(1), PeerState::unknown);
    EXPECT_EQ(liveness.ask(1), PeerState::unknown);
    EXPECT_EQ(sockets.dialed, 1);
    sockets.time_ns += second_ns;
    sockets.connects = 3;  // there is a route again, but no answer yet
    EXPECT_EQ(liveness.ask(1), PeerState::unknown);
    EXPECT_EQ(sockets.dialed, 2);
    sockets.time_ns += second_ns;
    EXPECT_EQ(liveness.ask(1), PeerState::unknown);
    EXPECT_EQ(sockets.dialed, 3);
    EXPECT_EQ(sockets.closed, 1) << "the attempt that took too long";
    sockets.connected = [] { return 0; };
    for (int i = 0; i < 10; ++i, sockets.time_ns += second_ns) EXPECT_EQ(liveness.ask(1), PeerState::alive);
    EXPECT_EQ(sockets.dialed, 3);
}

TEST_F(ScriptedLiveness, takesAnotherPortWhereTheKernelsChoiceIsTakenAtAnotherAddress) {
    Address other;
    ASSERT_TRUE(parse_address("10.0.1.2", other));
    sockets.is_taken = [&](const Address &at) { return same_host(at, other) && at.port < 1010; };
    EXPECT_EQ(liveness.listen({loopback(), other}, 0, 0, 0), 1010);
    sockets.is_taken = [&](const Address &at) { return same_host(at, other); };
    EXPECT_EQ(liveness.listen({loopback(), other}, 0, 0, 0), 0) << "in the end it gives up";
}

}  // namespace
}  // namespace lanyard
