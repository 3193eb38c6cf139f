#include "path/dgram/lifelines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "net/system_sockets.h"

namespace lanyard {
namespace {

using dgram::Life;

struct Process {
    explicit Process(std::vector<Address> &others) : lifelines(sockets, [&others](uint32_t, std::vector<Address> &list) {
        list = others;
        return Error();
    }) {}
    SystemSockets sockets{0, 1};
    Lifelines lifelines;
};

Address loopback() {
    Address address;
    parse_address("127.0.0.1", address);
    return address;
}

// Kernels on one host take a moment, or a longer one where there is other work.
Life wait_for(Process &process, Life life, int patience_ms = 60'000) {
    Life known = process.lifelines.ask(1);
    for (int i = 0; i < patience_ms && known != life; ++i, known = process.lifelines.ask(1)) usleep(1000);
    return known;
}

struct LifelinesTest : testing::Test {
    std::vector<Address> none, place;
    Process asked{none};
    Process asks{place};

    void listen() { place = {loopback().with_port(asked.lifelines.listen({loopback()}, 0, 0, 0))}; }
};

TEST_F(LifelinesTest, knowsOfAProcessThatComputes) {
    listen();
    EXPECT_EQ(wait_for(asks, Life::lives), Life::lives);
    usleep(1'500'000);  // longer than the patience of the sockets
    EXPECT_EQ(asks.lifelines.ask(1), Life::lives);
    asked.lifelines.tend();
    EXPECT_EQ(asks.lifelines.ask(1), Life::lives) << "nor does it matter that it looks";
    asks.lifelines.heard(1);
    EXPECT_EQ(wait_for(asks, Life::lives), Life::lives) << "asked again";
}

TEST_F(LifelinesTest, knowsOfOneThatHasEnded) {
    listen();
    ASSERT_EQ(wait_for(asks, Life::lives), Life::lives);
    asked.lifelines.close();
    EXPECT_EQ(wait_for(asks, Life::gone), Life::gone);
}

TEST_F(LifelinesTest, knowsNothingWhereItIsRefused) {
    listen();
    asked.lifelines.close();
    EXPECT_EQ(wait_for(asks, Life::lives, 2000), Life::unknown);
}

TEST_F(LifelinesTest, knowsNothingOfOneWithoutAddress) { EXPECT_EQ(asks.lifelines.ask(1), Life::unknown); }

TEST_F(LifelinesTest, takesAnotherPortWhereTheWantedOneIsUsed) {
    Process other{none};
    uint16_t port = asked.lifelines.listen({loopback()}, 0, 0, 0);
    uint16_t another = other.lifelines.listen({loopback()}, port, 0, 0);
    EXPECT_NE(another, 0);
    EXPECT_NE(another, port);
    EXPECT_EQ(Process(none).lifelines.listen({loopback()}, port, port, port), 0) << "there is no other";
}

}  // namespace
}  // namespace lanyard
