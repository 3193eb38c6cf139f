// Tests what a receiver grants when several processes send to it.
#include "path/dgram/grants.h"

#include <gtest/gtest.h>

#include <vector>

#include "path/dgram/packet.h"

namespace lanyard::dgram {
namespace {

constexpr uint32_t packet_bytes = 1472;
constexpr uint64_t delay_ns = 100'000;

// A line of a given rate, on which senders take turns.
class Line {
public:
    Line(size_t senders, uint64_t bytes_per_s)
        : senders_(senders), packet_ns_(packet_bytes * uint64_t{1'000'000'000} / bytes_per_s) {}

    // The first `senders` senders use the line for `ns` nanoseconds.
    void busy(uint64_t ns, size_t senders) {
        for (uint64_t until_ns = now_ns + ns; now_ns < until_ns; now_ns += packet_ns_)
            grants.received(senders_[next_++ % senders], packet_bytes, now_ns);
    }
    uint32_t window() { return grants.window(packet_bytes, delay_ns, now_ns); }

    GrantLimits limits;
    Grants grants{limits};
    uint64_t now_ns = 1'000'000;

private:
    std::vector<Grants::Sender> senders_;
    const uint64_t packet_ns_;
    size_t next_ = 0;
};

TEST(Grants, LimitNobodyWhoIsAlone) {
    Line line(1, 125'000'000);
    EXPECT_EQ(line.window(), no_limit);
    for (int i = 0; i < 50; ++i) {
        line.busy(100'000, 1);
        ASSERT_EQ(line.window(), no_limit);
    }
}

TEST(Grants, CountWhosePacketsGrowOnce) {
    GrantLimits limits;
    Grants grants(limits);
    Grants::Sender sender;
    for (uint32_t bytes : {1100u, 1200u, 1300u, 9000u, 100u}) grants.received(sender, bytes, 1'000'000);
    EXPECT_EQ(grants.window(packet_bytes, delay_ns, 1'000'000), no_limit);
}

TEST(Grants, ShareWhatTheLineHolds) {
    Line gigabit(7, 125'000'000);
    gigabit.busy(10'000'000, 7);
    EXPECT_NEAR(static_cast<double>(gigabit.grants.bytes_per_s()), 125e6, 125e4);
    EXPECT_NEAR(gigabit.window(), (12'500 + 64 * 1024) / 7.0, 100);

    Line faster(7, 1'250'000'000);
    faster.busy(10'000'000, 7);
    EXPECT_NEAR(faster.window(), (125'000 + 64 * 1024) / 7.0, 200);

    Line slow(7, 12'500'000);
    slow.busy(100'000'000, 7);
    EXPECT_NEAR(slow.window(), (1'250 + 64 * 1024) / 7.0, 100)
        << "so little arrives perhaps because no more is sent";

    Line many(60, 12'500'000);
    many.busy(100'000'000, 60);
    EXPECT_EQ(many.window(), packet_bytes) << "one packet at least";
}

TEST(Grants, GrowAgainWhenOthersHaveEnded) {
    Line line(7, 125'000'000);
    line.busy(10'000'000, 7);
    EXPECT_LT(line.window(), 15'000u);
    line.busy(3'000'000, 2);
    EXPECT_NEAR(line.window(), (12'500 + 64 * 1024) / 2.0, 500);
    line.busy(3'000'000, 1);
    EXPECT_EQ(line.window(), no_limit);
}

TEST(Grants, DoNotCountWhoSendsLittle) {
    Line line(1, 125'000'000);
    std::vector<Grants::Sender> others(6);
    for (int i = 0; i < 50; ++i) {
        for (Grants::Sender &other : others) line.grants.received(other, 100, line.now_ns);
        line.busy(200'000, 1);
        ASSERT_EQ(line.window(), no_limit);
    }
}

TEST(Grants, LookFurtherBackWhereALineIsSlow) {
    Line line(30, 1'250'000);  // each sender has a turn every 35 ms
    line.busy(300'000'000, 30);
    EXPECT_NEAR(line.window(), (125 + 64 * 1024) / 30.0, 50);
    line.busy(30'000'000, 3);
    EXPECT_NEAR(line.window(), (125 + 64 * 1024) / 30.0, 50) << "the others are not forgotten yet";
}

// Two processes that send little, and less and less, show nothing of the line's rate. A round (grants.h)
// lasts until the line can have carried everything that is granted. At the rate of these two processes, this
// would take about a second. But a round ends early when twice the bytes that it should carry have arrived.
TEST(Grants, ForgetSoonHowLittleWasSent) {
    Line line(2, 125'000'000);
    line.busy(2'000'000, 2);
    for (uint64_t pause_ns = 2'000'000; pause_ns < 200'000'000; pause_ns += pause_ns / 2)
        for (int i = 0; i < 100; ++i) {
            line.busy(50'000, 2);
            line.now_ns += pause_ns;
        }
    EXPECT_LT(line.grants.bytes_per_s(), 200'000u);
    EXPECT_NE(line.window(), no_limit);
    line.busy(5'000'000, 1);
    EXPECT_EQ(line.window(), no_limit) << "the present sender is alone";
    EXPECT_NEAR(static_cast<double>(line.grants.bytes_per_s()), 125e6, 125e5);
}

TEST(Grants, SurviveAHostThatIsLateToLook) {
    Line line(7, 125'000'000);
    line.busy(10'000'000, 7);
    uint32_t window = line.window();
    line.now_ns += 3'000'000;
    EXPECT_NEAR(line.window(), window, window / 16.0);
    line.now_ns += 1'000'000'000;
    EXPECT_EQ(line.window(), no_limit);
}

TEST(Grants, TakeNotForARateWhatWaitedInTheHost) {
    Line line(7, 125'000'000);
    line.busy(10'000'000, 7);
    uint64_t before = line.grants.bytes_per_s();
    for (int i = 0; i < 20; ++i) {  // nothing for 1 ms, then all that arrived in that time
        line.now_ns += 1'000'000;
        uint64_t until_ns = line.now_ns + 1'000'000;
        std::vector<Grants::Sender> senders(7);
        for (int j = 0; j < 85; ++j)
            line.grants.received(senders[static_cast<size_t>(j) % 7], packet_bytes, line.now_ns);
        line.busy(until_ns - line.now_ns, 7);
    }
    EXPECT_LT(line.grants.bytes_per_s(), 2 * before);
}

}  // namespace
}  // namespace lanyard::dgram
