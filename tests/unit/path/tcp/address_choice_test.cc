// Tests the choice among a peer's addresses, with invented measurements.
#include "path/tcp/address_choice.h"

#include <gtest/gtest.h>

namespace lanyard {
namespace {

constexpr uint64_t mb = 1'000'000, kib = 1024;

Address at(const char *text, uint16_t port = 4711) {
    Address address;
    EXPECT_TRUE(parse_address(text, address)) << text;
    return address.with_port(port);
}

const Address eth0 = at("10.1.0.2"), eth1 = at("10.2.0.2"), docker = at("172.17.0.1"),
              own0 = at("10.1.0.1", 99), own1 = at("10.2.0.1", 99);
const std::vector<Interface> own_interfaces = {
    {"eth0", own0.with_port(0)}, {"eth1", own1.with_port(0)}, {"docker0", docker.with_port(0)}};
using Addresses = std::vector<Address>;

class Choice : public ::testing::Test {
protected:
    void flow(uint64_t rate, bool held_back = false, int samples = RateSamples::enough) {
        for (int i = 0; i < samples; ++i) choice.sample({acked += 40 * kib, rate, held_back});
    }
    void connect(const Address &address, const Address &own) {
        acked = 0;
        choice.connected(address, own);
    }
    // Afterwards the rate of this address is known, and measurements of the other addresses have been
    // requested.
    void connect_and_weigh(const Address &address, const Address &own, uint64_t rate) {
        connect(address, own);
        flow(rate);
        choice.to_measure();
    }
    // Another address turns out to be clearly faster.
    void find_better(const Address &address, const Address &own, uint64_t rate) {
        choice.measured({address, own, rate, {}});
        EXPECT_EQ(choice.to_move_to(), address);
    }
    void find_dead(const Address &address) { choice.measured({address, {}, 0, "did not answer"}); }

    AddressChoice choice{{eth0, eth1, docker}, 32 * kib};
    uint64_t acked = 0;
};

TEST_F(Choice, StaysWhereNothingIsBetter) {
    connect(eth0, own0);
    flow(118 * mb);
    EXPECT_EQ(choice.to_measure(), (Addresses{eth1, docker}));
    EXPECT_EQ(choice.to_measure(), Addresses()) << "once";
    choice.measured({eth1, own1, 11'800'000, {}});
    EXPECT_FALSE(choice.to_report());
    find_dead(docker);
    EXPECT_FALSE(choice.to_move_to());
    ASSERT_TRUE(choice.to_report());
    EXPECT_EQ(choice.report(own_interfaces),
              "by 10.1.0.2 (eth0, 118 MB/s); 10.2.0.2 (eth1) gave 11.8 MB/s, 172.17.0.1 did not answer");
    EXPECT_FALSE(choice.to_report());
}

TEST_F(Choice, MovesToTheFasterWithoutWaitingForTheDead) {
    connect(eth1.with_port(40'000), own1);  // the other side has dialed
    flow(11 * mb);
    EXPECT_EQ(choice.to_measure(), (Addresses{eth0, docker}));
    find_better(eth0, own0, 118 * mb);
    EXPECT_FALSE(choice.to_move_to()) << "asked once";
    find_dead(docker);
    EXPECT_FALSE(choice.samples_wanted()) << "still on the old connection";
    connect(eth0, own0);
    flow(110 * mb);
    EXPECT_FALSE(choice.to_move_to());
    ASSERT_TRUE(choice.to_report());
    EXPECT_EQ(choice.report({}),
              "by 10.1.0.2 (110 MB/s); 10.2.0.2 gave 11.0 MB/s, 172.17.0.1 did not answer");
    EXPECT_FALSE(choice.samples_wanted());
}

TEST_F(Choice, MovesOnToWhatIsFasterStill) {
    connect_and_weigh(docker, docker, 5 * mb);
    find_better(eth1, own1, 11 * mb);
    connect(eth1, own1);
    find_better(eth0, own0, 118 * mb);
}

TEST_F(Choice, RemembersWhatWasMeasuredWhileItMoved) {
    connect_and_weigh(docker, docker, 5 * mb);
    find_better(eth1, own1, 11 * mb);
    choice.measured({eth0, own0, 118 * mb, {}});
    EXPECT_FALSE(choice.to_move_to());
    connect(eth1, own1);
    EXPECT_EQ(choice.to_move_to(), eth0);
    connect(eth0, own0);
    EXPECT_FALSE(choice.to_move_to());
}

TEST_F(Choice, HearsOfTheLastOneAfterAMoveHasBeenProven) {
    connect_and_weigh(docker, docker, 5 * mb);
    find_better(eth1, own1, 11 * mb);
    connect(eth1, own1);
    flow(11 * mb);
    EXPECT_FALSE(choice.to_report());
    find_better(eth0, own0, 118 * mb);
}

TEST_F(Choice, MovesBackFromWhatOnlySeemedFasterAndForGood) {
    connect_and_weigh(eth0, own0, 100 * mb);
    find_better(eth1, own1, 200 * mb);
    find_dead(docker);
    connect(eth1, own1);
    flow(30 * mb);
    EXPECT_EQ(choice.to_move_to(), eth0);
    connect(eth0, own0);
    flow(90 * mb);
    EXPECT_FALSE(choice.to_move_to());
    EXPECT_EQ(choice.to_measure(), Addresses());
}

TEST_F(Choice, DoesNotMoveForLittle) {
    connect_and_weigh(eth0, own0, 100 * mb);
    choice.measured({eth1, own1, 140 * mb, {}});
    find_dead(docker);
    EXPECT_FALSE(choice.to_move_to());
    EXPECT_TRUE(choice.to_report());
}

TEST_F(Choice, StaysWhenTheMoveFails) {
    connect_and_weigh(eth1, own1, 11 * mb);
    find_better(eth0, own0, 118 * mb);
    choice.not_moved();
    EXPECT_FALSE(choice.to_report());
    EXPECT_EQ(choice.report({}),
              "by 10.2.0.2 (11.0 MB/s); 10.1.0.2 gave 118 MB/s, 172.17.0.1 has not answered yet");
    find_dead(docker);
    connect(eth1, own1);
    flow(11 * mb);
    EXPECT_EQ(choice.to_measure(), Addresses());
    EXPECT_FALSE(choice.to_move_to());
}

TEST_F(Choice, MeasuresOnceMoreWhenItComesBackByAnotherAddress) {
    connect(eth0, own0);
    for (int round = 0; round < 2; ++round) {
        flow(118 * mb);
        EXPECT_EQ(choice.to_measure(), round == 0 ? (Addresses{eth1, docker}) : (Addresses{eth0, docker}));
        choice.measured({round == 0 ? eth1 : eth0, own1, 100 * mb, {}});
        find_dead(docker);
        EXPECT_TRUE(choice.to_report());
        choice.report({});
        connect(round == 0 ? eth1 : eth0, own1);
    }
    flow(118 * mb);
    EXPECT_EQ(choice.to_measure(), Addresses());
}

TEST_F(Choice, MeasuresNothingWhereTheProgramIsWhatLimits) {
    connect(eth0, own0);
    flow(50 * mb, true, 200);
    EXPECT_EQ(choice.to_measure(), Addresses());
    EXPECT_FALSE(choice.samples_wanted());
    EXPECT_TRUE(choice.to_report());
    EXPECT_EQ(choice.report({}), "by 10.1.0.2; 10.2.0.2 was not measured, 172.17.0.1 was not measured");
}

TEST_F(Choice, KnowsNoWayBackToAnAddressThatWasNotPublished) {
    connect(at("192.168.7.7", 40'000), own0);  // translated on its way (NAT)
    flow(10 * mb);
    EXPECT_EQ(choice.to_measure(), (Addresses{eth0, eth1, docker}));
    find_better(eth0, own0, 100 * mb);
    connect(eth0, own0);
    flow(5 * mb);
    EXPECT_FALSE(choice.to_move_to());
}

TEST(RateSamples, AreTheMedianOfTheLatest) {
    RateSamples samples(100);
    uint64_t acked = 0;
    for (uint64_t rate : {1, 1, 1, 50, 90, 52, 51, 53, 1000, 49, 54})
        samples.add({acked += 100, rate, false});
    EXPECT_TRUE(samples.complete());
    EXPECT_EQ(samples.rate(), 53u);
    samples.add({acked + 99, 7777, false});
    EXPECT_EQ(samples.rate(), 53u) << "nothing new";
    samples.clear();
    EXPECT_EQ(samples.rate(), 0u);
    samples.add({1000, 7, true});
    EXPECT_EQ(samples.rate(), 7u);
    EXPECT_FALSE(samples.complete());
}

}  // namespace
}  // namespace lanyard
