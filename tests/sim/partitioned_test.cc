// Runs partitioned communication in complete jobs on the simulated network and over simulated sockets. The
// channels are random, of all sizes, and the two sides of a channel have different partitions. All ranks
// create the channels in the order of one list, start them in any order, and mark partitions ready a few
// at a time.
//
// Each rank goes through its rounds without regard to the others: it starts all its channels, marks all
// partitions ready and waits until the channels are complete. One rank may therefore be a round ahead of
// another. No rank waits for anything in a later round.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/partitioned_program.h"

namespace lanyard::sim {
namespace {

void play(const Channels &program, Rank &rank, uint64_t seed) {
    Random random(seed * 1000 + rank.own);
    std::vector<std::unique_ptr<End>> ends;
    auto step = [&] {
        EngineGuard guard(rank.engine);
        rank.engine.make_turn();
    };
    for (size_t i = 0; i < program.channels.size(); ++i) {
        const Channel &channel = program.channels[i];
        bool sends = channel.from == rank.own, receives = channel.to == rank.own;
        bool receive_first = random.chance(50);
        EngineGuard guard(rank.engine);
        if (receives && receive_first) ends.push_back(std::make_unique<End>(rank, channel, i, false));
        if (sends) ends.push_back(std::make_unique<End>(rank, channel, i, true));
        if (receives && !receive_first) ends.push_back(std::make_unique<End>(rank, channel, i, false));
        if (random.chance(20)) rank.engine.make_turn();
    }
    for (int round = 0; round < 4; ++round) {
        std::vector<End *> active, busy;
        for (auto &end : ends)
            if (end->rounds > round) active.push_back(end.get());
        std::vector<End *> order = active;
        for (size_t i = 1; i < order.size(); ++i) std::swap(order[i], order[random.below(i + 1)]);
        for (End *end : order) {
            {
                EngineGuard guard(rank.engine);
                end->start(round);
            }
            if (!end->left.empty()) busy.push_back(end);
            while (!busy.empty() && random.chance(40)) {
                size_t chosen = random.below(busy.size());
                busy[chosen]->make_some_ready(random);
                if (busy[chosen]->left.empty())
                    busy.erase(busy.begin() + static_cast<std::ptrdiff_t>(chosen));
            }
            if (random.chance(20)) step();
        }
        while (!busy.empty()) {
            size_t chosen = random.below(busy.size());
            busy[chosen]->make_some_ready(random);
            if (busy[chosen]->left.empty()) busy.erase(busy.begin() + static_cast<std::ptrdiff_t>(chosen));
            if (random.chance(10)) step();
            End &seen = *random.pick(active);
            if (seen.side.partitions)
                seen.look(static_cast<int>(random.below(static_cast<uint64_t>(seen.side.partitions))), round);
        }
        for (End *end : order) end->finish(round);
        if (::testing::Test::HasFatalFailure()) return;
    }
    EngineGuard guard(rank.engine);
    ends.clear();
}

void run(uint64_t seed, bool over_sockets) {
    SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
    Baton baton(seed);
    Random &random = baton.random();
    JobShape shape{.ranks = static_cast<uint32_t>(random.between(1, 5)), .settings = {}};
    if (random.chance(50)) shape.settings.eager_limit = random.between(0, 20'000);
    if (random.chance(50)) shape.settings.eager_credit = random.between(0, 30'000);
    if (over_sockets) shape.over_sockets = SocketBehaviour::any(random);
    Channels program(random, shape.ranks, static_cast<int>(random.between(1, 25)));
    Job job(baton, over_sockets ? Behaviour{} : Behaviour::any(random), shape);
    job.each([&](Rank &rank) {
        play(program, rank, seed);
        rank.finish();
    });
    baton.run();
    for (uint32_t own = 0; own < shape.ranks; ++own) {
        auto never_used = [own](const Channel &channel) {
            return channel.from == own && channel.rounds == 0;
        };
        // Messages that open channels may still be under way if the channels were never started.
        size_t on_its_way =
            static_cast<size_t>(std::count_if(program.channels.begin(), program.channels.end(), never_used));
        EXPECT_EQ(job.rank(own).messenger.unexpected().count(), 0u);
        EXPECT_LE(job.rank(own).messenger.posted().count(), on_its_way);
    }
}

TEST(SimulatedPartitions, ArriveWhateverTheOrder) {
    for_seeds(20, 25, [](uint64_t seed) {
        run(seed, false);
        return !::testing::Test::HasFailure();
    });
}

TEST(SimulatedPartitions, ArriveOverSockets) {
    for_seeds(5, 15, [](uint64_t seed) {
        run(seed, true);
        return !::testing::Test::HasFailure();
    });
}

// Runs a job of two ranks with one channel between them. Each rank calls `body` with its own end of
// the channel.
void between_two(const std::function<void(Rank &, End &)> &body, const Channel &channel,
                 const JobShape &shape = {}) {
    Baton baton(1);
    Job job(baton, {}, shape);
    job.each([&](Rank &rank) {
        std::unique_ptr<End> end;
        {
            EngineGuard guard(rank.engine);
            end = std::make_unique<End>(rank, channel, 0, rank.own == channel.from);
            end->start(0);
        }
        body(rank, *end);
        rank.finish();
        EngineGuard guard(rank.engine);
        end.reset();
    });
    baton.run();
}

// The message that opens the channel arrives byte by byte. Meanwhile the sender marks partitions ready, so
// partitions become ready at every possible moment.
TEST(SimulatedPartitions, WaitForTheLastByteOfTheOpening) {
    Channel channel{0, 1, 5, {5000, 1, false}, {1, 5000, false}, 5000, 1};
    JobShape shape;
    shape.over_sockets = SocketBehaviour{.capacity = 1};
    auto one_by_one = [](Rank &rank, End &end) {
        int made_ready = 0;
        // Ends 100 partitions after the message that opens the channel was matched.
        for (int moments = 100; end.send && moments > 0; moments -= !rank.messenger.posted().count()) {
            ASSERT_LT(made_ready, 5000);
            EXPECT_FALSE(end.send->ready(made_ready, made_ready));
            ++made_ready;
            for (uint64_t until_ns = 1000 * static_cast<uint64_t>(made_ready);
                 rank.job.baton.now_ns() < until_ns;) {
                EngineGuard guard(rank.engine);
                rank.engine.make_turn();
                rank.job.baton.pass();
            }
        }
        if (end.send) {
            EXPECT_FALSE(end.send->ready(made_ready, 4999));
        }
        end.finish(0);
    };
    between_two(one_by_one, channel, shape);
}

TEST(SimulatedPartitions, NeighboursTravelTogether) {
    Channel channel{0, 1, 5, {100, 50, false}, {10, 500, false}, 5000, 1};
    between_two(
        [](Rank &rank, End &end) {
            if (end.send) {
                while (rank.messenger.posted().count()) {  // waits until the channel is open
                    EngineGuard guard(rank.engine);
                    rank.engine.make_turn();
                }
                uint64_t before = rank.messenger.counts().sent;
                EXPECT_FALSE(end.send->ready(0, 49));
                EXPECT_EQ(rank.messenger.counts().sent, before + 1)
                    << "2500 bytes go with their announcement";
                EXPECT_FALSE(end.send->ready(50, 99));
                EXPECT_EQ(rank.messenger.counts().sent, before + 2);
            }
            end.finish(0);
        },
        channel);
}

TEST(SimulatedPartitions, RefuseToBeReadyTwice) {
    Channel channel{1, 0, 5, {4, 10, false}, {1, 40, false}, 40, 1};
    between_two(
        [](Rank &, End &end) {
            if (end.send) {
                EXPECT_FALSE(end.send->ready(1, 1));
                // marks partition 0 ready too, before the call fails at partition 1
                Error again = end.send->ready(0, 2);
                ASSERT_TRUE(again);
                EXPECT_EQ(again.code(), static_cast<int>(ErrorClass::arg));
                EXPECT_NE(again.sentence().find("partition 1 was made ready before"), std::string::npos);
                again.discard();
                EXPECT_FALSE(end.send->ready(2, 3));
            }
            end.finish(0);
        },
        channel);
}

TEST(SimulatedPartitions, ThatHaveNoRoomAreTruncated) {
    // short data, which leaves with the announcement, and long data, which leaves after it
    for (int64_t count : {10, 5000}) {
        Channel channel{0, 1, 5, {4, count, false}, {3, count, false}, 0, 1};
        between_two(
            [&](Rank &rank, End &end) {
                if (end.send) {
                    EXPECT_FALSE(end.send->ready(0, 3));
                }
                {
                    EngineGuard guard(rank.engine);
                    rank.engine.wait_owned(end.completion);
                }
                EXPECT_EQ(static_cast<bool>(end.error), end.receive != nullptr);
                if (!end.receive) return;
                EXPECT_EQ(end.receive->received(), 3 * count);
                EXPECT_EQ(end.error.code(), static_cast<int>(ErrorClass::truncate));
                end.error.discard();
            },
            channel);
    }
}

}  // namespace
}  // namespace lanyard::sim
