// Tests the conclusions from the acknowledgements of a host, and from their absence.
#include "path/tcp/silence_check.h"

#include <gtest/gtest.h>

namespace lanyard {
namespace {

constexpr uint64_t second = 1'000'000'000;
constexpr SilenceCheck::Limits limits{.silence_ns = 2 * second, .peer_timeout_ns = 10 * second};
using Finding = SilenceCheck::Finding;

SilenceCheck::Seen seen(uint64_t silent_for_ns) {
    return {.silent_for_ns = silent_for_ns,
            .unacknowledged = true,
            .all_written = true,
            .bulk_bytes = 0,
            .last_received_ns = 0};
}

TEST(SilenceCheck, BeginsOnceWhileSomethingIsOutstanding) {
    SilenceCheck check;
    EXPECT_FALSE(check.begin(false, 0, 5));
    EXPECT_EQ(check.due_ns(), 0u);
    EXPECT_TRUE(check.begin(true, 0, 5));
    EXPECT_EQ(check.due_ns(), 5 + SilenceCheck::every_ns);
    EXPECT_FALSE(check.begin(true, 0, 6));
    SilenceCheck bulk;
    EXPECT_TRUE(bulk.begin(false, 1, 5)) << "bulk that flows is looked after, too";
}

TEST(SilenceCheck, EndsWhenAllIsAcknowledged) {
    SilenceCheck check;
    check.begin(false, 100, 0);
    SilenceCheck::Seen all = seen(0);
    all.unacknowledged = false;
    all.bulk_bytes = 100;
    EXPECT_EQ(check.check(all, limits, second), Finding::fine);
    EXPECT_EQ(check.due_ns(), 0u);
    EXPECT_FALSE(check.begin(false, 100, 2 * second));
}

TEST(SilenceCheck, AHostThatAcknowledgesNothingIsSilentAndThenLost) {
    SilenceCheck check;
    check.begin(true, 0, 100 * second);
    uint64_t heard = 101 * second;
    EXPECT_EQ(check.check(seen(second), limits, heard), Finding::fine)
        << "a peer that was not polled has not been silent";
    std::vector<Finding> found;
    for (uint64_t now = heard + second / 2; now <= heard + 10 * second; now += second / 2)
        found.push_back(check.check(seen(now - heard), limits, now));
    for (size_t i = 0; i < found.size(); ++i) {
        uint64_t since = (i + 1) * second / 2;
        Finding right = since < limits.silence_ns        ? Finding::fine
                        : since < limits.peer_timeout_ns ? Finding::silent
                                                         : Finding::timed_out;
        EXPECT_EQ(found[i], right) << i;
    }
}

TEST(SilenceCheck, AHostThatAcknowledgesAgainIsFine) {
    SilenceCheck check;
    check.begin(true, 0, 0);
    check.check(seen(second), limits, 10 * second);
    EXPECT_EQ(check.check(seen(3 * second), limits, 13 * second), Finding::silent);
    EXPECT_EQ(check.check(seen(second / 4), limits, 14 * second), Finding::fine)
        << "less than the time since the last check";
    EXPECT_EQ(check.check(seen(second), limits, 15 * second), Finding::fine);
}

TEST(SilenceCheck, APeerThatDoesNotAnswerIsAsked) {
    SilenceCheck check;
    check.begin(true, 0, 0);
    SilenceCheck::Seen quiet = seen(0);
    quiet.last_received_ns = 10 * second;
    EXPECT_EQ(check.check(quiet, limits, 11 * second), Finding::fine);
    EXPECT_EQ(check.check(quiet, limits, 12 * second), Finding::unanswered);
    EXPECT_EQ(check.check(quiet, limits, 13 * second), Finding::fine) << "it was asked a second ago";
    EXPECT_EQ(check.check(quiet, limits, 14 * second), Finding::unanswered);
    quiet.all_written = false;
    EXPECT_EQ(check.check(quiet, limits, 17 * second), Finding::fine);
}

TEST(SilenceCheck, SaysSinceWhenNothingIsKnownOfTheHost) {
    SilenceCheck check;
    check.begin(true, 0, 0);
    EXPECT_EQ(check.ended(7), 7u) << "never looked at";
    check.check(seen(second), limits, 10 * second);
    check.check(seen(2 * second), limits, 11 * second);
    EXPECT_EQ(check.ended(12 * second), 10 * second);
    EXPECT_EQ(check.ended(13 * second), 13 * second);
}

}  // namespace
}  // namespace lanyard
