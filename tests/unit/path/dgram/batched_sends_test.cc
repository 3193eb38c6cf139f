// Tests when envelopes leave the datagram path: at once, together with others while the engine batches, or
// not at all. The endpoint only records what it is given.
#include <gtest/gtest.h>

#include "few_sockets.h"
#include "path/dgram/dgram_path.h"
#include "sim/known_secret.h"

namespace lanyard {
namespace {

class RememberingPackets final : public PacketIo {
public:
    std::string name() const override { return "remembering"; }
    int64_t destination(std::string_view) override { return 0; }
    size_t largest(uint64_t) const override { return 9000; }
    int send(const Outgoing *list, int count) override {
        for (int i = 0; i < count; ++i)
            for (int part = 0; part < list[i].count; ++part) bytes += list[i].parts[part].iov_len;
        packets += count;
        ++calls;
        return count;
    }
    int receive(Arrived *, int) override { return 0; }
    int descriptor() const override { return -1; }
    uint64_t now_ns() override { return 1'000'000'000 + later_ns; }
    std::string describe() const override { return name(); }

    int packets = 0, calls = 0;
    size_t bytes = 0;
    uint64_t later_ns = 0;
};

class NobodyListens final : public Sink {
public:
    void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override {}
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override {}
    void sent(uint64_t) override {}
    void lost(uint32_t, Error reason) override { reason.discard(); }
};

class BatchedSends : public testing::Test {
protected:
    static DgramLimits limits() {
        DgramLimits made;
        made.flow.congestion.first_window = 1 << 20;  // nothing else holds packets back
        return made;
    }
    BatchedSends()
        : path(io, {}, processes, 1, Crc32c::built_in(), limits(),
               [](uint32_t, std::string &) { return Error(); }) {
        path.set_secret(sim::known_secret());
    }
    // Returns true if something left.
    bool send(uint32_t peer, size_t size = 8) {
        int before = io.packets;
        EXPECT_EQ(path.send(peer, Envelope{}, {payload, size, nullptr}), Sent::done);
        return io.packets > before;
    }
    // Sends `count` envelopes, numbered from 1. Returns the numbers of the envelopes whose call sent
    // something.
    std::vector<int> when_they_leave(int count) {
        std::vector<int> left;
        for (int i = 1; i <= count; ++i)
            if (send(1)) left.push_back(i);
        return left;
    }

    std::byte payload[1024] = {};
    RememberingPackets io;
    NobodyListens sink;
    Processes processes{3};
    DgramPath path;
};

TEST_F(BatchedSends, AllLeaveAtOnceWithoutIt) {
    EXPECT_EQ(when_they_leave(5), (std::vector<int>{1, 2, 3, 4, 5}));
    EXPECT_FALSE(path.activity().io_pending);
}

TEST_F(BatchedSends, OfASeriesTheFirstLeavesAtOnceAndThreeTimesAsManyWithTheNext) {
    path.more_follows();
    EXPECT_EQ(when_they_leave(64), (std::vector<int>{1, 4, 16, 64}));
    EXPECT_EQ(io.packets, 4);
    EXPECT_FALSE(path.activity().io_pending);
}

TEST_F(BatchedSends, WhatIsKeptLeavesWhenItIsOver) {
    path.more_follows();
    EXPECT_EQ(when_they_leave(3), (std::vector<int>{1}));
    EXPECT_TRUE(path.activity().io_pending);
    path.flush();
    EXPECT_EQ(io.packets, 2);
    EXPECT_FALSE(path.activity().io_pending);
}

TEST_F(BatchedSends, WhatIsKeptLeavesWithAPollAndAnotherSeriesBegins) {
    path.more_follows();
    when_they_leave(3);
    path.poll(sink, 64, io.now_ns());
    EXPECT_EQ(io.packets, 2);
    EXPECT_FALSE(path.activity().io_pending);
    EXPECT_EQ(when_they_leave(4), (std::vector<int>{1, 4}));
}

TEST_F(BatchedSends, EachPeerHasItsFirstAtOnce) {
    path.more_follows();
    EXPECT_TRUE(send(1));
    EXPECT_FALSE(send(1));
    EXPECT_TRUE(send(2));  // and takes the kept envelopes along
    EXPECT_EQ(io.packets, 3);
    EXPECT_FALSE(path.activity().io_pending);
}

TEST_F(BatchedSends, LongOnesDoNotWaitAndTakeAlongWhatDoes) {
    path.more_follows();
    send(1);
    EXPECT_FALSE(send(1));
    EXPECT_TRUE(send(1, sizeof payload));
    EXPECT_EQ(io.packets, 2);
    EXPECT_FALSE(path.activity().io_pending);
}

TEST_F(BatchedSends, WhereProcessorsAreSharedTheFirstWaitsTooAndOneCallSendsToAll) {
    path.share_processors();
    path.more_follows();
    for (int i = 0; i < 5; ++i)
        for (uint32_t peer : {1u, 2u}) EXPECT_FALSE(send(peer));
    EXPECT_TRUE(path.activity().io_pending);
    path.flush();
    EXPECT_EQ(io.packets, 2);
    EXPECT_EQ(io.calls, 1);
    EXPECT_FALSE(path.activity().io_pending);
    EXPECT_TRUE(send(1)) << "what is not gathered leaves at once";
}

TEST_F(BatchedSends, WhereProcessorsAreSharedNoMoreWaitThanTheLimitSays) {
    path.share_processors();
    path.more_follows();
    int kept = 0;
    while (!send(1, 256)) ++kept;
    EXPECT_EQ(static_cast<size_t>(kept), (limits().most_kept_oversubscribed - 1) / (256 + 35));
}

TEST_F(BatchedSends, WhatTimeAsksForWaitsForAPoll) {
    send(1);
    io.later_ns = 10'000'000'000;
    EXPECT_TRUE(send(2));
    EXPECT_EQ(io.packets, 2) << "an answer of the first may lie in the socket";
    path.poll(sink, 64, io.now_ns());
    EXPECT_GT(io.packets, 2);
}

TEST_F(BatchedSends, EmptyOnesFillTheLogToo) {
    size_t taken = 0, most = limits().log_limit / sizeof(Envelope);
    while (taken <= most && path.send(1, Envelope{}, {}) == Sent::done) ++taken;
    EXPECT_LE(taken, most);
    EXPECT_EQ(path.send(1, Envelope{}, {}), Sent::full);
    EXPECT_EQ(path.send(2, Envelope{}, {}), Sent::done);
}

// The peer does not answer. The second packet of a series cannot be composed any more, since the connection
// to the peer's process ends at this moment. The envelopes, to which the first packet points, exist no more.
TEST_F(BatchedSends, NothingLeavesToAPeerThatIsFoundGoneMeanwhile) {
    FewSockets sockets;
    int questions = 0;
    uint64_t asked_ns = 0;
    Liveness liveness(sockets, [&](uint32_t, std::vector<Address> &list) {
        questions = 0;
        list.assign(1, Address());
        return Error();
    });
    sockets.connects = 1;
    sockets.connected = [&] {
        if (std::exchange(asked_ns, io.now_ns()) != io.now_ns()) questions = 0;
        return ++questions == 1 ? -EINPROGRESS : 0;
    };
    sockets.reads = 0;  // the end of the stream
    path.use(liveness);
    for (int i = 0; i < 20; ++i) send(1, sizeof payload);
    int before = 0;
    for (int polls = 0; polls < 100 && !path.is_lost(1); ++polls) {
        io.later_ns += 500'000'000;
        sockets.time_ns = io.now_ns();
        before = io.packets;
        path.poll(sink, 64, io.now_ns());
    }
    ASSERT_TRUE(path.is_lost(1));
    EXPECT_EQ(io.packets, before);
}

TEST_F(BatchedSends, NoMoreWaitThanOneBurstHolds) {
    path.more_follows();
    size_t most = 0, before = 0;
    for (int i = 0; i < 2000; ++i) {
        if (!send(1, 256)) continue;
        if (i > 0) most = std::max(most, io.bytes - before);
        before = io.bytes;
    }
    // The limit does not count the envelope that exceeds it, nor the heads of two packets.
    EXPECT_LE(most, limits().most_kept + (256 + 35) + 2 * 36);
    EXPECT_GT(most, limits().most_kept / 2);
}

}  // namespace
}  // namespace lanyard
