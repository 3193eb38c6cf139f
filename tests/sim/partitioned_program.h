// What the tests of partitioned communication share: random channels between ranks, and one side of such a
// channel.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "p2p/partitioned.h"
#include "sim/job.h"
#include "sim/seeds.h"
#include "sim/spread_type.h"

namespace lanyard::sim {

struct Side {
    int partitions;
    int64_t count;  // number of elements in each partition
    bool scattered;
};

struct Channel {
    uint32_t from, to;
    int32_t tag;
    Side send, receive;
    int64_t bytes;  // total length, the same on both sides
    int rounds;     // how often the channel is started, possibly never
};

inline Side random_side(Random &random, int64_t bytes) {
    Side side{1, bytes, false};
    side.scattered = bytes % 3 == 0 && random.chance(40);
    int64_t elements = side.scattered ? bytes / 3 : bytes;
    std::vector<int> fits;
    for (int parts = 1; parts <= 300; ++parts)
        if (elements % parts == 0) fits.push_back(parts);
    side.partitions = random.pick(fits);
    side.count = elements / side.partitions;
    return side;
}

struct Channels {
    Channels(Random &random, uint32_t ranks, int length) {
        constexpr int64_t units[] = {0, 1, 24, 60, 720, 5040, 30'240};
        for (int i = 0; i < length; ++i) {
            Channel channel{};
            channel.from = static_cast<uint32_t>(random.below(ranks));
            channel.to = static_cast<uint32_t>(random.below(ranks));
            channel.tag = static_cast<int32_t>(random.below(3));
            channel.bytes = units[random.below(std::size(units))] * random.between(1, 4);
            channel.send = random_side(random, channel.bytes);
            channel.receive = random_side(random, channel.bytes);
            channel.rounds = static_cast<int>(random.between(random.chance(20) ? 0 : 1, 4));
            channels.push_back(channel);
        }
    }
    std::vector<Channel> channels;
};

inline std::byte byte_of(size_t channel, int round, int64_t at) {
    return static_cast<std::byte>(static_cast<uint64_t>(at) * 7 + channel * 31 +
                                  static_cast<uint64_t>(round) * 101 + static_cast<uint64_t>(at >> 8));
}

// One side of a channel.
struct End {
    End(Rank &r, const Channel &channel, size_t n, bool sends)
        : rank(r),
          number(n),
          side(sends ? channel.send : channel.receive),
          rounds(channel.rounds),
          bytes(channel.bytes) {
        const Datatype &type = side.scattered ? spread_type() : *predefined_datatype(abi::type_byte);
        memory.resize(static_cast<size_t>(side.partitions * side.count * type.extent + 1));
        Partitions partitions{{memory.data(), side.count, &type}, side.partitions, &completion, &error};
        uint32_t other = sends ? channel.to : channel.from;
        PartitionedEnds ends{rank.world().context | partitioned_bit, other, rank.number(),
                             static_cast<int32_t>(other), channel.tag};
        if (sends) send = PartitionedSend::make(rank.messenger, ends, partitions);
        else receive =
            PartitionedReceive::make(rank.messenger, ends, partitions, rank.universe.new_context());
    }
    ~End() {
        if (abandoned) {
            delete send;
            delete receive;
        } else if (send) {
            PartitionedSend::end(send);
        } else {
            PartitionedReceive::end(receive);
        }
    }
    End(const End &) = delete;
    End &operator=(const End &) = delete;

    std::byte &at(int64_t place) {
        return memory[static_cast<size_t>(side.scattered ? place / 3 * 8 + place % 3 : place)];
    }
    void start(int round) {
        for (int64_t i = 0; send && i < bytes; ++i) at(i) = byte_of(number, round, i);
        if (receive) std::fill(memory.begin(), memory.end(), std::byte{0});
        completion.reset();
        if (send) send->start();
        else receive->start();
        left.resize(send ? static_cast<size_t>(side.partitions) : 0);
        std::iota(left.begin(), left.end(), 0);
    }
    // Marks some partitions ready, mostly a run of neighbours.
    void make_some_ready(Random &random) {
        size_t first = random.below(left.size()), some = 1;
        size_t most = random.chance(50) ? 1 : 40;
        while (some < most && first + some < left.size() && left[first + some] == left[first + some - 1] + 1)
            ++some;
        EXPECT_FALSE(send->ready(left[first], left[first] + static_cast<int>(some) - 1));
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(first),
                   left.begin() + static_cast<std::ptrdiff_t>(first + some));
    }
    // If the receive reports that the partition has arrived, checks its data.
    void look(int partition, int round) {
        if (!receive || !receive->arrived(partition)) return;
        int64_t one = side.partitions ? bytes / side.partitions : 0;
        for (int64_t i = partition * one; i < (partition + 1) * one; ++i)
            ASSERT_EQ(at(i), byte_of(number, round, i));
    }
    void finish(int round) {
        {
            EngineGuard guard(rank.engine);
            rank.engine.wait_owned(completion);
        }
        ASSERT_FALSE(error);
        if (!receive) return;
        EXPECT_EQ(receive->received(), bytes);
        for (int p = 0; p < side.partitions; ++p) {
            EXPECT_TRUE(receive->arrived(p));
            look(p, round);
        }
        int64_t touched = 0, wanted = 0;
        for (std::byte b : memory) touched += b != std::byte{0};
        for (int64_t i = 0; i < bytes; ++i) wanted += byte_of(number, round, i) != std::byte{0};
        EXPECT_EQ(touched, wanted) << "something beside the data was written";
    }

    Rank &rank;
    const size_t number;
    const Side side;
    const int rounds;
    const int64_t bytes;
    std::vector<std::byte> memory;
    Completion completion;
    Error error;
    PartitionedSend *send = nullptr;
    PartitionedReceive *receive = nullptr;
    std::vector<int> left;  // partitions that have not been marked ready yet
    bool abandoned = false;  // the messenger of this side no longer exists, so the destructor only deletes
                             // the operation
};

}  // namespace lanyard::sim
