// Two processes use partitioned communication, and process 1 dies at a random step of its engine. The other
// process's operations must then complete or fail. When they are started again, they must again complete or
// fail.
#include <gtest/gtest.h>

#include "base/log.h"
#include "sim/partitioned_program.h"

namespace lanyard::sim {
namespace {

struct Dying {
    explicit Dying(uint64_t seed)
        : baton(seed),
          steps(static_cast<int>(baton.random().below(uint64_t{1} << baton.random().between(3, 11)))) {}
    ~Dying() {
        for (auto &end : victims) end->abandoned = true;
    }
    bool go_on(Rank &rank, uint64_t most) {
        for (uint64_t left = baton.random().below(most + 1); left > 0; --left) {
            if (rank.own == 1 && steps-- == 0) return false;
            if (rank.engine.make_turn() == 0) baton.pass();
        }
        return true;
    }
    void live(Rank &rank, const Channels &program) {
        std::vector<std::unique_ptr<End>> own;
        auto &ends = rank.own == 1 ? victims : own;
        greet(rank);
        bool alive = begin(rank, program, ends);
        if (rank.own == 1) {
            EngineGuard guard(rank.engine);
            if (alive) go_on(rank, 2000);
            dynamic_cast<NetworkPath &>(rank.path).close();
            if (++rank.job.finished == 2) baton.notify(rank.job.threads[0]);
            return;
        }
        for (int round = 0; round < 2; ++round) {
            for (auto &end : ends) {
                EngineGuard guard(rank.engine);
                if (round) end->completion.reset(), end->send ? end->send->start() : end->receive->start();
            }
            for (auto &end : ends) finish(rank, *end, round);
        }
        rank.finish();
        EngineGuard guard(rank.engine);
        ends.clear();
    }
    // Sends a message to the other process first, because the death of a process may go unnoticed
    // if nothing was ever sent to it.
    void greet(Rank &rank) {
        EngineGuard guard(rank.engine);
        static_cast<MatchKey &>(hello[rank.own]) = {rank.world().context, rank.number(), 0};
        hello[rank.own].buffer = {nullptr, 0, predefined_datatype(abi::type_byte)};
        hello[rank.own].peer = 1 - rank.own;
        rank.messenger.send(hello[rank.own]);
    }
    bool begin(Rank &rank, const Channels &program, std::vector<std::unique_ptr<End>> &ends) {
        for (size_t i = 0; i < program.channels.size(); ++i) {
            const Channel &channel = program.channels[i];
            if (channel.from == channel.to) continue;
            {
                EngineGuard guard(rank.engine);
                ends.push_back(std::make_unique<End>(rank, channel, i, channel.from == rank.own));
                ends.back()->start(0);
                if (!go_on(rank, 10)) return false;
            }
            if (ends.back()->send) {
                EXPECT_FALSE(ends.back()->send->ready(0, channel.send.partitions / 2));
            }
        }
        return true;
    }
    void finish(Rank &rank, End &end, int round) {
        int partitions = end.side.partitions, first = round ? 0 : partitions / 2 + 1;
        if (end.send && first < partitions) {
            EXPECT_FALSE(end.send->ready(first, partitions - 1));
        }
        EngineGuard guard(rank.engine);
        rank.engine.wait_owned(end.completion);
        if (!end.error) return;
        EXPECT_EQ(end.error.code(), static_cast<int>(ErrorClass::proc_aborted)) << end.error.sentence();
        end.error.discard();
        end.error = {};
        ++failed;
    }

    Baton baton;
    int steps;
    uint64_t failed = 0;
    std::vector<std::unique_ptr<End>> victims;
    SendOperation hello[2];
};

TEST(SimulatedPartitions, EndWithTheProcessAtTheOtherEnd) {
    uint64_t failed = 0;
    detail::log_level = -1;  // warnings about unreachable peers are expected here
    for_seeds(20, 10, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Dying dying(seed);
        Random &random = dying.baton.random();
        JobShape shape{.ranks = 2, .settings = {}};
        if (random.chance(50)) shape.settings.eager_limit = random.between(0, 5'000);
        shape.over_sockets = SocketBehaviour::any(random);
        shape.over_sockets->vanish_percent = shape.over_sockets->reset_permille = 0;
        Channels program(random, 2, static_cast<int>(random.between(1, 12)));
        Job job(dying.baton, {}, shape);
        job.each([&](Rank &rank) { dying.live(rank, program); });
        dying.baton.run();
        failed += dying.failed;
        return !::testing::Test::HasFailure();
    });
    detail::log_level = 0;
    if (!::testing::Test::HasFailure()) {
        EXPECT_GT(failed, 50u);
    }
}

}  // namespace
}  // namespace lanyard::sim
