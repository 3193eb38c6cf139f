// Tests how communication over datagram paths ends, also if a farewell is lost or the network is partitioned.
// Also tests that the paths accept no packets of strangers.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "sim/dgram_hosts.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

void send(DgramHosts &hosts, uint32_t from, uint32_t to) {
    Envelope envelope{};
    std::byte payload[100] = {};
    ASSERT_EQ(hosts.paths[from]->send(to, envelope, {payload, sizeof payload}), Sent::done);
}

// All messages have arrived. Then one process leaves, and its farewell is lost. The other process leaves as
// well. It must neither wait for the farewell nor report the first process as lost.
TEST(DgramEnds, FarewellThatIsLostIsNotMissed) {
    DgramHosts hosts(first_seed(), {}, 2);
    send(hosts, 0, 1);
    send(hosts, 1, 0);
    hosts.run_until(second_ns);
    EXPECT_TRUE(hosts.paths[0]->all_acknowledged() && hosts.paths[1]->all_acknowledged());
    for (auto &path : hosts.paths) path->leave(true);
    hosts.network.cut(0, 1);
    hosts.paths[0]->close();
    hosts.run_until(2 * second_ns);
    EXPECT_GT(hosts.network.counts().cut_off, 0u);
    hosts.network.heal_all();
    hosts.run_until(300 * second_ns, 50'000'000);
    EXPECT_TRUE(hosts.paths[1]->all_acknowledged());
    EXPECT_FALSE(hosts.paths[1]->activity().io_pending);
    EXPECT_TRUE(hosts.heard[1].losses.empty());
    hosts.paths[1]->close();
}

// A process that goes on must learn exactly once that its peer has ended: at once if the farewell
// arrives, otherwise by probing.
TEST(DgramEnds, WhoGoesOnIsToldOnceWhetherItComesOrNot) {
    for (bool comes : {true, false}) {
        DgramHosts hosts(first_seed(), {}, 2);
        send(hosts, 0, 1);
        hosts.run_until(second_ns);
        if (!comes) hosts.network.cut(0, 1);
        hosts.paths[0]->close();
        uint64_t limit_ns = comes ? 2 * second_ns : (60 + 15 + 15 + 2) * second_ns;
        while (hosts.network.now_ns() < limit_ns) {
            hosts.network.advance(hosts.network.now_ns() + 20'000'000);
            hosts.paths[1]->poll(hosts.heard[1], 64, hosts.network.now_ns());
        }
        ASSERT_EQ(hosts.heard[1].losses.size(), 1u);
        EXPECT_EQ(
            hosts.heard[1].losses[0],
            comes ? "process 0 has ended" : "process 0 has not answered for 60 s (LANYARD_PEER_TIMEOUT)");
    }
}

// What is sent to a peer that cannot be found must be reported as lost, or not be taken.
TEST(DgramEnds, NothingIsTakenForAPeerWithoutAnAddressBeforeItIsReported) {
    for (bool found : {false, true}) {
        DgramHosts hosts(first_seed(), {}, 2);
        auto find = [found](uint32_t, std::string &name) {
            name = "7";  // there is no such host
            return found ? Error() : Error(ErrorClass::other, "has published nothing");
        };
        DgramPath path(hosts.network.host(0), ProcessName{0, 0}, hosts.processes, 1, Crc32c::built_in(),
                       DgramLimits(), find);
        path.set_secret(known_secret());
        Heard heard;
        std::byte byte{};
        for (int turn = 0; turn < 3; ++turn) {
            EXPECT_EQ(path.send(1, Envelope{}, {}), turn == 0 ? Sent::full : Sent::done);
            EXPECT_EQ(path.send_bulk(1, {1, 0}, {&byte, 1, nullptr}, 1), turn == 0 ? Sent::full : Sent::done);
            path.poll(heard, 64, hosts.network.now_ns());
            ASSERT_EQ(heard.losses.size(), 1u);
        }
    }
}

TEST(DgramEnds, NothingIsTakenForAPeerThatHasEndedBeforeItIsReported) {
    DgramHosts hosts(first_seed(), {}, 2);
    send(hosts, 1, 0);
    hosts.run_until(second_ns);
    hosts.paths[1]->close();
    hosts.network.advance(2 * second_ns);
    hosts.paths[0]->poll(hosts.heard[0], 64, hosts.network.now_ns());
    ASSERT_TRUE(hosts.paths[0]->is_lost(1) && hosts.heard[0].losses.empty());
    EXPECT_EQ(hosts.paths[0]->send(1, Envelope{}, {}), Sent::full);
    hosts.paths[0]->poll(hosts.heard[0], 64, hosts.network.now_ns());
    EXPECT_EQ(hosts.heard[0].losses.size(), 1u);
    EXPECT_EQ(hosts.paths[0]->send(1, Envelope{}, {}), Sent::done);
}

// The poll that delivers a message sends no acknowledgement. The acknowledgement leaves with the program's
// next message, or in a packet of its own when it is due, even if the process has not polled in between.
TEST(DgramEnds, AnswerGoesWithTheReplyOrInTime) {
    for (bool replies : {true, false}) {
        DgramHosts hosts(first_seed(), {}, 2);
        send(hosts, 0, 1);
        hosts.run_until(second_ns);
        send(hosts, 0, 1);
        hosts.network.advance(hosts.network.now_ns() + 100'000);
        const dgram::FlowCounts &counts = hosts.paths[1]->counts();
        uint64_t packets = counts.packets_out, alone = counts.acknowledgements_out;
        hosts.paths[1]->poll(hosts.heard[1], 64, hosts.network.now_ns());
        ASSERT_EQ(hosts.heard[1].envelopes, 2);
        EXPECT_EQ(counts.packets_out, packets);
        EXPECT_FALSE(hosts.paths[1]->activity().io_pending);
        EXPECT_LE(hosts.paths[1]->deadline_ns(), hosts.network.now_ns() + 200'000);
        if (replies) send(hosts, 1, 0);
        hosts.network.advance(hosts.network.now_ns() + 200'000);
        hosts.paths[1]->poll(hosts.heard[1], 64, hosts.network.now_ns());
        EXPECT_EQ(counts.packets_out, packets + 1);
        EXPECT_EQ(counts.acknowledgements_out, alone + !replies);
        hosts.run_until(2 * second_ns);
        EXPECT_TRUE(hosts.paths[0]->all_acknowledged());
    }
}

// When nothing has arrived for 50 ms, memory is trimmed once. A sleeping process wakes at that time. Until
// then, the path reports that a peer may still wait for an acknowledgement (`unacknowledged`).
TEST(DgramEnds, WhoHearsNothingForLongTrimsOnce) {
    DgramHosts hosts(first_seed(), {}, 2);
    EXPECT_FALSE(hosts.paths[1]->activity().unacknowledged);
    for (int times = 1; times <= 2; ++times) {
        send(hosts, 0, 1);
        uint64_t quiet_ns = hosts.network.now_ns() + 48'000'000;
        hosts.run_until(quiet_ns);
        for (int own : {0, 1}) {
            EXPECT_EQ(hosts.heard[own].trims, times - 1);
            EXPECT_TRUE(hosts.paths[own]->activity().unacknowledged);
            EXPECT_LE(hosts.paths[own]->deadline_ns(), quiet_ns + 3'000'000);
        }
        hosts.run_until(quiet_ns + 10'000'000);
        for (int own : {0, 1}) {
            EXPECT_EQ(hosts.heard[own].trims, times);
            EXPECT_FALSE(hosts.paths[own]->activity().unacknowledged);
            EXPECT_GT(hosts.paths[own]->deadline_ns(), quiet_ns + second_ns);
        }
    }
}

TEST(DgramEnds, PartitionOfThirtySecondsIsAPause) {
    DgramHosts hosts(first_seed(), {}, 2);
    send(hosts, 0, 1);
    hosts.run_until(second_ns);
    hosts.network.cut(0, 1);
    for (int i = 0; i < 10; ++i) send(hosts, 0, 1);
    hosts.run_until(31 * second_ns, 10'000'000);
    EXPECT_EQ(hosts.heard[1].envelopes, 1);
    hosts.network.heal_all();
    hosts.run_until(32 * second_ns);
    EXPECT_EQ(hosts.heard[1].envelopes, 11);
    EXPECT_TRUE(hosts.heard[0].losses.empty() && hosts.heard[1].losses.empty());
}

// A receiver that only waits has nothing to send. It must notice nevertheless that its peer is unreachable.
TEST(DgramEnds, PeerThatIsOnlyWaitedForIsMissed) {
    DgramHosts hosts(first_seed(), {}, 2);
    send(hosts, 0, 1);
    hosts.run_until(second_ns);
    hosts.network.cut(0, 1);
    hosts.run_until(200 * second_ns, 20'000'000);
    EXPECT_EQ(hosts.heard[1].losses.size(), 1u);
}

// Packets of another job and random bytes are counted, and no peer is created for their senders.
TEST(DgramEnds, StrangersAreNobody) {
    Secret other;
    ASSERT_TRUE(Secret::parse(std::string(64, 'e'), other));
    DgramHosts hosts(first_seed(), {}, 3);
    hosts.paths[0]->set_secret(other);
    send(hosts, 0, 1);
    Random random(first_seed());
    for (int i = 0; i < 1000; ++i) {
        std::vector<std::byte> bytes(random.below(1400));
        for (std::byte &each : bytes) each = static_cast<std::byte>(random.next());
        if (uint32_t from = static_cast<uint32_t>(random.below(4)); bytes.size() >= 8)
            std::memcpy(bytes.data() + 4, &from, sizeof from);
        iovec part{bytes.data(), bytes.size()};
        PacketIo::Outgoing packet{1, &part, 1};
        hosts.network.host(2).send(&packet, 1);
        hosts.run_until(hosts.network.now_ns() + 100'000, 50'000);
    }
    EXPECT_EQ(hosts.paths[1]->known(), 0u);
    const dgram::FlowCounts &counts = hosts.paths[1]->counts();
    EXPECT_GE(counts.garbage + counts.damaged, 1000u);  // shorter than a header, or with a wrong check
    EXPECT_GE(counts.strangers, 1u);
    EXPECT_EQ(counts.packets_in, 0u);
    EXPECT_EQ(hosts.heard[1].envelopes, 0);
    EXPECT_TRUE(hosts.heard[1].losses.empty());
}

}  // namespace
}  // namespace lanyard::sim
