#include "path/dgram/liveness.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "net/system_sockets.h"

namespace lanyard {
namespace {

using dgram::Life;

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

// Asks until the answer is `life`. The host's kernel needs a moment, and more time if the host is busy.
Life wait_for(Process &process, Life life, int patience_ms = 60'000) {
    Life known = process.liveness.ask(1);
    for (int i = 0; i < patience_ms && known != life; ++i, known = process.liveness.ask(1)) usleep(1000);
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
    EXPECT_EQ(wait_for(asks, Life::lives), Life::lives);
    usleep(1'500'000);  // longer than the sockets' timeouts
    EXPECT_EQ(asks.liveness.ask(1), Life::lives);
    asked.liveness.tend();
    EXPECT_EQ(asks.liveness.ask(1), Life::lives) << "nor does it matter that it looks";
    asks.liveness.heard(1);
    EXPECT_EQ(wait_for(asks, Life::lives), Life::lives) << "asked again";
}

TEST_F(LivenessTest, knowsOfOneThatHasEnded) {
    listen();
    ASSERT_EQ(wait_for(asks, Life::lives), Life::lives);
    asked.liveness.close();
    EXPECT_EQ(wait_for(asks, Life::gone), Life::gone);
}

TEST_F(LivenessTest, knowsNothingWhereItIsRefused) {
    listen();
    asked.liveness.close();
    EXPECT_EQ(wait_for(asks, Life::lives, 2000), Life::unknown);
}

TEST_F(LivenessTest, knowsNothingOfOneWithoutAddress) { EXPECT_EQ(asks.liveness.ask(1), Life::unknown); }

TEST_F(LivenessTest, takesAnotherPortWhereTheWantedOneIsUsed) {
    Process other{none};
    uint16_t port = asked.liveness.listen({loopback()}, 0, 0, 0);
    uint16_t another = other.liveness.listen({loopback()}, port, 0, 0);
    EXPECT_NE(another, 0);
    EXPECT_NE(another, port);
    EXPECT_EQ(Process(none).liveness.listen({loopback()}, port, port, port), 0) << "there is no other";
}

}  // namespace
}  // namespace lanyard
