#include "p2p/mapped_offers.h"

#include <gtest/gtest.h>

namespace lanyard {
namespace {

TEST(MappedOffers, SuitNothingUntilTheyAreAllowed) {
    MappedOffers offers;
    EXPECT_FALSE(offers.may_suit(MappedOffers::least_bytes));
    offers.allow(true, false);
    EXPECT_FALSE(offers.may_suit(MappedOffers::least_bytes - 1));
    EXPECT_TRUE(offers.may_suit(MappedOffers::least_bytes));
    offers.allow(true, true);
    EXPECT_FALSE(offers.may_suit(MappedOffers::least_oversubscribed - 1));
    EXPECT_TRUE(offers.may_suit(MappedOffers::least_oversubscribed));
    offers.allow(false, true);
    EXPECT_FALSE(offers.may_suit(INT64_MAX - 1));
}

TEST(MappedOffers, PauseAfterALongWait) {
    MappedOffers offers;
    offers.allow(true, false);
    for (int round = 0; round < 3; ++round) {
        constexpr int64_t bytes = 64 << 10;
        EXPECT_TRUE(offers.next_is_offered());
        offers.ended(bytes, MappedOffers::patience_ns(bytes));
        EXPECT_TRUE(offers.next_is_offered());
        offers.ended(bytes / 2, MappedOffers::patience_ns(bytes));
        for (uint32_t message = 0; message < MappedOffers::paused_for; ++message)
            EXPECT_FALSE(offers.next_is_offered()) << message;
    }
    EXPECT_TRUE(offers.next_is_offered());
}

}  // namespace
}  // namespace lanyard
