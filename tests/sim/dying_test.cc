// A process (the victim) dies while messages of every protocol are under way between three processes. The
// seed chooses the step of the victim's engine at which it dies. The other processes' operations with the
// victim must fail or complete, nothing may hang, and all messages between the other two must arrive.
#include <gtest/gtest.h>

#include <list>

#include "datatype/predefined.h"
#include "sim/job.h"
#include "sim/seeds.h"
#include "sim/transfer.h"

namespace lanyard::sim {
namespace {

struct Operation : Transfer {
    using Transfer::Transfer;
    std::vector<std::byte> memory;
};

struct Dying {
    static constexpr uint32_t ranks = 3, victim = 2;
    static constexpr int messages = 12;  // number of messages from each rank to each other rank

    explicit Dying(uint64_t seed) : baton(seed), job(baton, {}, shape(baton.random())) {
        for (auto &from : bytes)
            for (auto &to : from)
                for (size_t &each : to)
                    each = baton.random().below(baton.random().chance(30) ? 300'000 : 5'000);
        steps = static_cast<int>(baton.random().below(uint64_t{1} << baton.random().between(4, 12)));
    }
    static JobShape shape(Random &random) {
        JobShape shape{.ranks = ranks, .settings = {}};
        if (random.chance(50)) shape.settings.eager_limit = random.between(0, 5'000);
        if (random.chance(50)) shape.settings.eager_credit = random.between(0, 30'000);
        if (random.chance(50)) shape.settings.first_bytes = random.between(0, 30'000);
        shape.over_sockets = SocketBehaviour::any(random);
        shape.over_sockets->vanish_percent = shape.over_sockets->reset_permille = 0;
        if (random.chance(50)) shape.limits.keep_from = random.between(1, 5'000);
        if (random.chance(50)) shape.limits.log_limit = random.between(1, 20'000);
        return shape;
    }

    void begin(Rank &rank, uint32_t peer, int number, bool sends) {
        uint32_t from = sends ? rank.own : peer, to = sends ? peer : rank.own;
        Operation &made = operations[rank.own].emplace_back(sends);
        made.memory.resize(bytes[from][to][number], sends ? std::byte(number + 1) : std::byte(0));
        Buffer buffer{made.memory.data(), static_cast<int64_t>(made.memory.size()),
                      predefined_datatype(abi::type_byte)};
        made.describe({rank.world().context, static_cast<int32_t>(from), number}, buffer, peer);
        made.out.mode = number % 4 == 0 ? SendMode::synchronous : SendMode::standard;
        made.start(rank.messenger);
    }
    // Makes up to `most` steps of the engine. Returns false if this rank is the victim and has
    // died.
    bool go_on(Rank &rank, uint64_t most) {
        for (uint64_t left = baton.random().below(most + 1); left > 0; --left) {
            if (rank.own == victim && steps-- == 0) return false;
            if (rank.engine.make_turn() == 0) baton.pass();
        }
        return true;
    }
    bool exchange(Rank &rank) {
        struct Next {
            uint32_t peer;
            bool sends;
            int number;
        };
        std::vector<Next> all;
        for (uint32_t peer = 0; peer < ranks; ++peer)
            for (bool sends : {false, true})
                for (int number = 0; number < messages; ++number) {
                    auto place = static_cast<std::ptrdiff_t>(baton.random().below(all.size() + 1));
                    if (peer != rank.own) all.insert(all.begin() + place, {peer, sends, number});
                }
        for (const Next &next : all) {
            begin(rank, next.peer, next.number, next.sends);
            if (!go_on(rank, 10)) return false;
        }
        return rank.own != victim || go_on(rank, 4000);
    }
    void live(Rank &rank) {
        {
            EngineGuard guard(rank.engine);
            bool lives = exchange(rank);
            if (rank.own == victim) {
                died_early = !lives;
                return die(rank);
            }
            for (Operation &each : operations[rank.own]) check(rank, each);
        }
        rank.finish();
    }
    void die(Rank &rank) {
        dynamic_cast<NetworkPath &>(rank.path).close();
        if (++job.finished < ranks) return;
        for (uint32_t thread : job.threads) baton.notify(thread);
    }
    void check(Rank &rank, Operation &operation) {
        MessageOperation &transfer = operation.own();
        rank.engine.wait_owned(transfer.completion);
        if (transfer.error) {
            ErrorRecord record = transfer.error.take();
            EXPECT_EQ(record.code, static_cast<int>(ErrorClass::proc_aborted)) << record.sentence;
            EXPECT_EQ(transfer.peer, victim) << record.sentence;
            ++failed;
        } else if (!operation.sends) {
            std::vector<std::byte> expected(operation.memory.size(), std::byte(operation.in.tag + 1));
            EXPECT_EQ(operation.memory, expected) << "tag " << operation.in.tag;
            received += transfer.peer == victim;
        }
    }

    Baton baton;
    // the victim's operations must exist until the end too, because its messenger still refers to them
    std::list<Operation> operations[ranks];
    size_t bytes[ranks][ranks][messages] = {};
    int steps;
    bool died_early = false;
    uint64_t failed = 0, received = 0;
    Job job;
};

TEST(Dying, AtAnyStepOfAnyProtocolLeavesNobodyWaiting) {
    uint64_t failed = 0, received = 0, early = 0;
    for_seeds(30, 15, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Dying dying(seed);
        dying.job.each([&dying](Rank &rank) { dying.live(rank); });
        dying.baton.run();
        failed += dying.failed;
        received += dying.received;
        early += dying.died_early;
        return !::testing::Test::HasFailure();
    });
    if (::testing::Test::HasFailure()) return;
    EXPECT_GT(failed, 100u);
    EXPECT_GT(received, 100u);
    EXPECT_GT(early, 5u);
}

}  // namespace
}  // namespace lanyard::sim
