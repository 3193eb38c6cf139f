// Measures the performance of flows in virtual time: bandwidth if packets are lost, many senders to one
// receiver, latency of single messages. The figures are the same on every machine.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "sim/flow_world.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

constexpr size_t mib = 1024 * 1024;

double line_share(size_t bytes, uint64_t ns, const PacketBehaviour &behaviour) {
    return static_cast<double>(bytes) * 1e9 / static_cast<double>(ns) /
           static_cast<double>(behaviour.bytes_per_s);
}

// The share of the line's rate that `count` messages of 1 MiB of bulk achieve. Two messages are under way
// at a time: the next one is sent as soon as the older of the two has been delivered.
double bandwidth(PacketBehaviour behaviour, uint32_t lost_ppm, int count) {
    behaviour.lost_ppm = lost_ppm;
    FlowWorld world(first_seed(), behaviour, 2, {});
    world.send_bulk(0, 1, mib);
    for (int i = 1; i < count; ++i) {
        world.send_bulk(0, 1, mib);
        Conversation &conversation = world.conversation(0, 1);
        while (!conversation.bulk[static_cast<size_t>(i - 1)].delivered)
            if (!world.run_until(world.now_ns() + 100'000)) return 0;
    }
    EXPECT_TRUE(world.run_until_bulk_arrived(1, world.now_ns() + 100 * second_ns)) << world.describe();
    uint64_t took_ns = world.now_ns();
    double share = line_share(mib * static_cast<size_t>(count), took_ns, behaviour);
    std::printf("lost %.1f %%: %.3f of the line\n%s", lost_ppm / 1e4, share, world.describe().c_str());
    return share;
}

void check_losses(const PacketBehaviour &behaviour) {
    double whole = bandwidth(behaviour, 0, 40);
    EXPECT_GT(whole, 0.93);
    EXPECT_GT(bandwidth(behaviour, 1'000, 40), 0.95 * whole);
    EXPECT_GT(bandwidth(behaviour, 10'000, 40), 0.9 * whole);
    EXPECT_GT(bandwidth(behaviour, 50'000, 40), 0.8 * whole);
}

TEST(FlowFigures, lossesHardlySlowGigabit) { check_losses({}); }

TEST(FlowFigures, lossesHardlySlowTenGigabit) {
    PacketBehaviour behaviour;
    behaviour.bytes_per_s = 1'250'000'000;
    behaviour.delay_ns = 20'000;
    behaviour.port_queue = 512 * 1024;
    behaviour.card_queue = 512 * 1024;
    check_losses(behaviour);
}

// Seven senders repeatedly send `size` bytes each to the same receiver. The queue of the receiver's port
// holds 128 KiB.
TEST(FlowFigures, incastOfSevenFillsTheLine) {
    for (size_t size : {64 * 1024, 1024 * 1024}) {
        PacketBehaviour behaviour;
        FlowWorld world(first_seed(), behaviour, 8, {});
        uint64_t rounds = 16 * mib / size / 7 + 1;
        for (uint64_t round = 0; round < rounds; ++round) {
            for (uint32_t from = 1; from < 8; ++from) world.send_bulk(from, 0, size);
            ASSERT_TRUE(world.run_until_bulk_arrived(0, world.now_ns() + 10 * second_ns)) << world.describe();
        }
        double share = line_share(rounds * 7 * size, world.now_ns(), behaviour);
        std::printf("incast of %zu bytes: %.3f of the line\n%s", size, share, world.describe().c_str());
        EXPECT_GT(share, 0.9);
        EXPECT_EQ(world.counts().probes, 0u);
    }
}

// The same test with envelopes only. Envelopes are sent without waiting for a request of the receiver.
TEST(FlowFigures, incastOfEnvelopesHasNoTimeouts) {
    PacketBehaviour behaviour;
    FlowWorld world(first_seed(), behaviour, 8, {});
    constexpr size_t size = 16 * 1024, each = 64;
    for (size_t i = 0; i < each; ++i)
        for (uint32_t from = 1; from < 8; ++from) world.send(from, 0, size);
    auto received = [&] {
        for (uint32_t from = 1; from < 8; ++from)
            if (world.conversation(from, 0).arrived < each) return false;
        return true;
    };
    while (!received()) ASSERT_TRUE(world.run_until(world.now_ns() + 100'000)) << world.describe();
    double share = line_share(7 * each * size, world.now_ns(), behaviour);
    std::printf("incast of envelopes: %.3f of the line\n%s", share, world.describe().c_str());
    EXPECT_GT(share, 0.92);
    EXPECT_EQ(world.counts().probes, 0u);
}

// Sends a message of 1 MiB to a host that polls every 10 ms (LANYARD_DGRAM_PROGRESS=thread). Each poll can
// receive everything that was sent since the previous poll.
void check_late_looks(uint32_t lost_ppm, uint64_t most_ns) {
    uint64_t longest_ns = 0, sum_ns = 0, seed = first_seed();
    constexpr uint64_t runs = 100;
    for (uint64_t run = 0; run < runs; ++run) {
        PacketBehaviour behaviour;
        behaviour.lost_ppm = lost_ppm;
        FlowWorld world(seed + run, behaviour, 2, {});
        world.look_every(1, 10'000'000);
        world.send_bulk(0, 1, mib);
        ASSERT_TRUE(world.run_until_bulk_arrived(1, 10 * second_ns)) << "seed " << seed + run << '\n'
                                                                     << world.describe();
        longest_ns = std::max(longest_ns, world.now_ns());
        sum_ns += world.now_ns();
        EXPECT_LT(world.now_ns(), most_ns) << "seed " << seed + run << '\n' << world.describe();
    }
    std::printf("lost %.1f %%: %.0f ms on average, %.0f at most\n", lost_ppm / 1e4,
                static_cast<double>(sum_ns) / static_cast<double>(runs) / 1e6,
                static_cast<double>(longest_ns) / 1e6);
}

TEST(FlowFigures, lateLooksAreNoQueue) { check_late_looks(0, 200'000'000); }

TEST(FlowFigures, lateLooksAreNoQueueThoughPacketsAreLost) { check_late_looks(10'000, 400'000'000); }

// Every host sends to every other host.
TEST(FlowFigures, alltoallOfEightFillsTheLine) {
    PacketBehaviour behaviour;
    FlowWorld world(first_seed(), behaviour, 8, {});
    for (uint32_t from = 0; from < 8; ++from)
        for (uint32_t step = 1; step < 8; ++step) world.send_bulk(from, (from + step) % 8, mib / 2);
    for (uint32_t to = 0; to < 8; ++to)
        ASSERT_TRUE(world.run_until_bulk_arrived(to, 10 * second_ns)) << world.describe();
    double share = line_share(7 * mib / 2, world.now_ns(), behaviour);
    std::printf("alltoall: %.3f of the line\n%s", share, world.network().describe().c_str());
    EXPECT_GT(share, 0.85);
    EXPECT_EQ(world.counts().probes, 0u);
}

// Eight hosts at 1 Gbit/s whose ports have queues of 128 KiB, as in the lab. Messages of 64 KiB are sent as
// envelopes, without waiting for a request of the receiver.
class EightHosts : public ::testing::Test {
protected:
    static constexpr uint32_t hosts = 8;
    static constexpr size_t block = 64 * 1024;

    bool is_acknowledged(uint32_t to, uint64_t each) {
        for (uint32_t from = 0; from < hosts; ++from)
            if (from != to && world_.conversation(from, to).arrived < each) return false;
        return true;
    }
    bool all_have(uint64_t each) {
        for (uint32_t to = 0; to < hosts; ++to)
            if (!is_acknowledged(to, each)) return false;
        return true;
    }
    template <class Done>
    void run_until(Done done) {
        while (!done()) ASSERT_TRUE(world_.run_until(world_.now_ns() + 1'000)) << world_.describe();
    }
    // Checks a port that has received `blocks` blocks since `since_ns`: its rate must be at least the
    // share `least` of the line's rate.
    void judge(const char *what, uint64_t blocks, uint64_t since_ns, double least) {
        double share = line_share(blocks * block, world_.now_ns() - since_ns, behaviour_);
        std::printf("%s: %.3f of the line\n%s", what, share, world_.describe().c_str());
        EXPECT_GT(share, least);
        dgram::FlowCounts counts = world_.counts();
        EXPECT_EQ(counts.lost_by_time, 0u);
        EXPECT_EQ(counts.lost_by_probe, 0u);
        EXPECT_EQ(counts.probes, 0u);
    }
    // Runs `rounds` gathers one after the other. Each gather begins when all blocks of the previous gather
    // have arrived.
    void gather(uint64_t rounds, uint64_t had = 0) {
        uint64_t since_ns = world_.now_ns();
        for (uint64_t round = 1; round <= rounds; ++round) {
            for (uint32_t from = 1; from < hosts; ++from) world_.send(from, 0, block);
            run_until([&] { return is_acknowledged(0, had + round); });
        }
        judge("gather", rounds * (hosts - 1), since_ns, 0.9);
    }

    PacketBehaviour behaviour_;
    FlowWorld world_{first_seed(), behaviour_, hosts, {}};
};

TEST_F(EightHosts, GatherAtOnce) { gather(30); }

TEST_F(EightHosts, GatherAfterEachSentAlone) {
    constexpr uint64_t each = 48;
    for (uint32_t from = 1; from < hosts; ++from) {
        for (uint64_t i = 0; i < each; ++i) world_.send(from, 0, block);
        run_until([&] { return world_.conversation(from, 0).arrived == each; });
    }
    gather(30, each);
}

TEST_F(EightHosts, Alltoall) {
    for (uint64_t round = 1; round <= 20; ++round) {
        for (uint32_t from = 0; from < hosts; ++from)
            for (uint32_t step = 1; step < hosts; ++step) world_.send(from, (from + step) % hosts, block);
        run_until([&] { return all_have(round); });
    }
    judge("alltoall", 20 * (hosts - 1), 0, 0.85);
}

// Sends messages of 1 KiB there and back while 1 % of the packets are lost. Checks the 99th percentile of
// half the round trip.
TEST(FlowFigures, latencyWithLosses) {
    PacketBehaviour behaviour;
    behaviour.lost_ppm = 10'000;
    FlowWorld world(first_seed(), behaviour, 2, {});
    std::vector<uint64_t> took;
    for (uint64_t i = 0; i < 2000; ++i) {
        uint64_t begin = world.now_ns();
        for (auto [from, to] : {std::pair{0u, 1u}, std::pair{1u, 0u}}) {
            world.send(from, to, 1024);
            Conversation &conversation = world.conversation(from, to);
            while (conversation.arrived < conversation.log.size())
                ASSERT_TRUE(world.run_until(world.now_ns() + 1'000)) << world.describe();
        }
        took.push_back((world.now_ns() - begin) / 2);
    }
    std::sort(took.begin(), took.end());
    std::printf("median %.1f us, 99 %%: %.1f us\n", static_cast<double>(took[1000]) / 1e3,
                static_cast<double>(took[1980]) / 1e3);
    EXPECT_LT(took[1980], 5'000'000u);
}

// Small messages in one direction must share packets, and no packet may be lost.
TEST(FlowFigures, shortMessagesSharePackets) {
    FlowWorld world(first_seed(), {}, 2, {});
    for (int i = 0; i < 20'000; ++i) world.send(0, 1, 8);
    ASSERT_TRUE(world.run_until_idle(second_ns)) << world.describe();
    EXPECT_LT(world.network().counts().sent, 1'000u) << world.describe();
}

}  // namespace
}  // namespace lanyard::sim
