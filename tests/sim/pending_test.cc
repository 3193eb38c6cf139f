// Runs nonblocking and persistent collectives in complete jobs on the simulated network. Many are under way
// at once, on communicators that overlap, and each rank finishes them in any order.
//
// All ranks go through one list of starts. Each rank divides the list into portions of its own. Within a
// portion, a rank mixes the communicators at random. On each communicator it keeps the order of the list,
// except for persistent operations, which may start in any order. A rank waits only between portions, and
// only for operations that it has started.
//
// The program cannot deadlock. Take the first start in the list whose operation is not complete. A rank that
// has not reached this start waits only for earlier operations, which are complete. So every rank reaches it,
// and its operation completes.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/abi_constants.h"
#include "comm/create.h"
#include "sim/collective_program.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

struct Start {
    size_t comm;
    int persistent;  // index of a persistent operation, or -1 for a new nonblocking one
    uint64_t seed;
};

struct Program {
    Program(Random &random, int length);

    size_t comms;
    std::vector<Start> persistent;  // the persistent operations: communicator, index and seed of each
    std::vector<Start> starts;
    int portion;      // maximum number of starts in a portion
    int most_pending; // if more operations than this are pending, the rank waits for some of them
    int64_t largest = 40;
};

Program::Program(Random &random, int length)
    : comms(1 + random.below(5)),
      portion(static_cast<int>(random.between(1, random.chance(30) ? 40 : 8))),
      most_pending(static_cast<int>(random.chance(30) ? random.between(0, 120) : random.between(0, 12))) {
    auto repeated = static_cast<int>(random.below(8));
    int share = repeated ? static_cast<int>(random.below(101)) : 0;
    for (int i = 0; i < repeated; ++i) persistent.push_back({random.below(comms), i, random.next()});
    for (int i = 0; i < length; ++i)
        if (random.chance(share)) starts.push_back(random.pick(persistent));
        else starts.push_back({random.below(comms), -1, random.next()});
    // Starts of the same persistent operation get different seeds, because the seed of a start
    // determines the data that it sends.
    for (Start &start : starts) start.seed ^= random.next();
}

// Plays the part of one rank.
class Player {
public:
    Player(const Program &program, Rank &rank, uint64_t seed)
        : program_(program), rank_(rank), random_(seed * 1000 + rank.own), comms_(program.comms) {}
    ~Player() {
        {
            EngineGuard guard(rank_.engine);
            pending_.clear();
            persistent_.clear();
        }
        for (Comm *comm : comms_)
            if (comm && comm != &rank_.world()) free_comm(comm).discard();
    }
    void play() {
        make_comms();
        EngineGuard guard(rank_.engine);
        for (const Start &start : program_.persistent) {
            Random shape(start.seed);
            Comm *comm = comms_[start.comm];
            persistent_.push_back(
                comm ? std::make_unique<Operation>(rank_, comm->team, shape, program_.largest, true)
                     : nullptr);
        }
        for (size_t next = 0; next < program_.starts.size() && !::testing::Test::HasFatalFailure();) {
            next = start_portion(next);
            while (pending_.size() > static_cast<size_t>(program_.most_pending))
                finish(random_.below(pending_.size()));
            while (!pending_.empty() && random_.chance(20)) finish(random_.below(pending_.size()));
        }
        while (!pending_.empty()) finish(random_.below(pending_.size()));
    }

private:
    struct Pending {
        Operation *operation;
        std::unique_ptr<Operation> own;  // owns the operation if it is nonblocking
    };

    // Creates the communicators: the world itself, a duplicate of it, and splits of it that overlap
    // each other. A communicator is nullptr if this rank does not belong to it.
    void make_comms() {
        Comm &world = rank_.world();
        for (size_t i = 0; i < comms_.size(); ++i) {
            Error error;
            int parts = static_cast<int>(i);
            int color = world.rank % (parts + 1) == 3 ? abi::undefined : world.rank * parts / world.size;
            if (i == 0) comms_[i] = &world;
            else if (i == 1) error = duplicate_comm(world, nullptr, comms_[i]);
            else
                error = split_comm(world, CollectiveKind::comm_split, color, i % 2 ? world.rank : -world.rank,
                                   comms_[i]);
            ASSERT_FALSE(error) << error.take().sentence;
        }
    }
    bool under_way(const Start &start) const {
        Operation *asked =
            start.persistent < 0 ? nullptr : persistent_[static_cast<size_t>(start.persistent)].get();
        return asked && std::any_of(pending_.begin(), pending_.end(),
                                    [&](const Pending &pending) { return pending.operation == asked; });
    }
    // Starts the next portion of the list, which begins at `next`. Returns the index behind the portion.
    // A persistent operation is completed before it starts again.
    size_t start_portion(size_t next) {
        for (size_t place = 0; place < pending_.size() && under_way(program_.starts[next]);) finish(place);
        std::vector<std::vector<const Start *>> waiting(comms_.size());
        std::vector<bool> used(persistent_.size());
        size_t left = 0;
        for (int64_t most = random_.between(1, program_.portion); most > 0 && next < program_.starts.size();
             --most, ++next) {
            const Start &start = program_.starts[next];
            if (start.persistent >= 0) {
                if (under_way(start) || used[static_cast<size_t>(start.persistent)]) break;
                used[static_cast<size_t>(start.persistent)] = true;
            }
            waiting[start.comm].push_back(&start);
            ++left;
        }
        while (left > 0) {
            auto &queue = random_.pick(waiting);
            if (queue.empty()) continue;
            auto chosen = queue.begin();
            if (auto any = queue.begin() + static_cast<std::ptrdiff_t>(random_.below(queue.size()));
                (*any)->persistent >= 0)
                chosen = any;
            start_one(**chosen);
            queue.erase(chosen);
            --left;
            if (random_.chance(20)) rank_.engine.make_turn();
        }
        return next;
    }
    void start_one(const Start &start) {
        Comm *comm = comms_[start.comm];
        if (!comm) return;
        Pending pending{};
        if (start.persistent >= 0) {
            pending.operation = persistent_[static_cast<size_t>(start.persistent)].get();
        } else {
            Random shape(start.seed);
            pending.own = std::make_unique<Operation>(rank_, comm->team, shape, program_.largest);
            pending.operation = pending.own.get();
        }
        pending.operation->start(start.seed % 100'000);
        pending_.push_back(std::move(pending));
    }
    // Waits for the pending operation with this index, or makes one step of the engine and then
    // finishes any operation that is complete.
    void finish(size_t place) {
        if (random_.chance(30)) {
            rank_.engine.make_turn();
            for (size_t i = 0; i < pending_.size(); ++i)
                if (pending_[i].operation->complete()) place = i;
        }
        pending_[place].operation->finish();
        pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(place));
    }

    const Program &program_;
    Rank &rank_;
    Random random_;
    std::vector<Comm *> comms_;
    std::vector<std::unique_ptr<Operation>> persistent_;
    std::vector<Pending> pending_;
};

void play(uint64_t seed, uint32_t ranks, int length) {
    SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
    Baton baton(seed);
    Random &random = baton.random();
    Program program(random, length);
    Job job(baton, Behaviour::any(random),
            {.ranks = ranks, .ranks_per_node = random_ranks_per_node(random, ranks)});
    job.each([&](Rank &rank) {
        Player(program, rank, seed).play();
        rank.finish();
    });
    baton.run();
    expect_nothing_left(job);
}

TEST(SimulatedPending, CollectivesFinishInAnyOrder) {
    for_seeds(5, 25, [](uint64_t seed) {
        Random random(seed);
        play(seed, static_cast<uint32_t>(random.between(1, random.chance(10) ? 20 : 7)),
             static_cast<int>(random.between(1, 150)));
        return !::testing::Test::HasFailure();
    });
}

TEST(SimulatedPending, CollectivesFinishOnSixtyFourRanks) {
    for (uint64_t seed : seeds(1)) play(seed, 64, 20);
}

}  // namespace
}  // namespace lanyard::sim
