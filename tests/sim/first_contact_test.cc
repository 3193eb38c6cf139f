// Up to eight hosts on simulated networks make first contact (path/dgram/first_contact.h). A seed chooses the
// scenario. Packets are lost, and some routes are closed in one or both directions. If all routes are open,
// every host must get all answers. If a route is closed, the hosts at its two ends must each report that the
// other host does not answer.
#include <gtest/gtest.h>

#include "path/dgram/first_contact.h"
#include "sim/dgram_hosts.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

constexpr uint64_t patience_ns = 3'000'000'000, step_ns = 250'000;

struct Hosts : DgramHosts {
    using DgramHosts::DgramHosts;
    // All hosts begin at random times within a tenth of a second, and each waits for answers for
    // `patience_ns`. Every host answers until the last host has stopped waiting.
    void meet(Random &random) {
        std::vector<uint64_t> begins(paths.size());
        for (uint64_t &each : begins) each = random.below(100'000'000);
        contacts.resize(paths.size());
        uint64_t end_ns = 100'000'000 + patience_ns + step_ns;
        for (uint64_t now = 0; now <= end_ns; now += step_ns) {
            network.advance(now);
            for (uint32_t own = 0; own < paths.size(); ++own) {
                if (!contacts[own] && begins[own] <= now) {
                    std::vector<uint32_t> others;
                    for (uint32_t peer = 0; peer < paths.size(); ++peer)
                        if (peer != own) others.push_back(peer);
                    contacts[own] = std::make_unique<FirstContact>(*paths[own], others, now + patience_ns);
                }
            }
            poll_all();
        }
        for (auto &contact : contacts) EXPECT_TRUE(contact->over(end_ns));
        for (const Heard &each : heard)
            EXPECT_TRUE(each.envelopes == 0 && each.losses.empty()) << "something was sent";
    }

    std::vector<std::unique_ptr<FirstContact>> contacts;
};

PacketBehaviour some_network(Random &random) {
    PacketBehaviour behaviour;
    behaviour.delay_ns = random.below(2'000'000);
    behaviour.lost_ppm = static_cast<uint32_t>(random.below(200'000));
    behaviour.doubled_ppm = behaviour.damaged_ppm = behaviour.held_up_ppm =
        static_cast<uint32_t>(random.below(50'000));
    return behaviour;
}

TEST(FirstContact, isMadeWithAllWhereAllWaysAreOpen) {
    for_seeds(10, 15, [&](uint64_t seed) {
        Random random(seed);
        Hosts hosts(random.next(), some_network(random), static_cast<uint32_t>(random.between(2, 8)));
        hosts.meet(random);
        for (auto &contact : hosts.contacts)
            EXPECT_FALSE(contact->silent()) << "Repeat with LANYARD_TEST_SEED=" << seed;
        return !testing::Test::HasFailure();
    });
}

TEST(FirstContact, isMadeThoughHalfOfThePacketsAreLost) {
    PacketBehaviour behaviour;
    behaviour.lost_ppm = 500'000;
    for_seeds(100, 5, [&](uint64_t seed) {
        Random random(seed);
        Hosts hosts(random.next(), behaviour, 2);
        hosts.meet(random);
        for (auto &contact : hosts.contacts)
            EXPECT_FALSE(contact->silent()) << "Repeat with LANYARD_TEST_SEED=" << seed;
        return !testing::Test::HasFailure();
    });
}

TEST(FirstContact, lacksAnAnswerAtBothEndsOfAWayThatIsClosed) {
    for_seeds(10, 15, [&](uint64_t seed) {
        Random random(seed);
        auto count = static_cast<uint32_t>(random.between(2, 8));
        Hosts hosts(random.next(), some_network(random), count);
        auto a = static_cast<uint32_t>(random.below(count)),
             b = (a + 1 + static_cast<uint32_t>(random.below(count - 1))) % count;
        hosts.network.cut_direction(a, b);
        if (random.chance(50)) hosts.network.cut_direction(b, a);
        hosts.meet(random);
        for (uint32_t own = 0; own < count; ++own) {
            std::optional<uint32_t> silent = hosts.contacts[own]->silent(), expected;
            if (own == a) expected = b;
            if (own == b) expected = a;
            EXPECT_EQ(silent, expected) << "at " << own << "; repeat with LANYARD_TEST_SEED=" << seed;
        }
        return !testing::Test::HasFailure();
    });
}

}  // namespace
}  // namespace lanyard::sim
