// The node area with threads as ranks and memory from malloc: consecutive exchanges of all kinds never mix, nobody is
// forgotten asleep, room is waited for. Run under tsan too.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "base/abi_constants.h"
#include "coll/algorithms.h"
#include "coll/node_area.h"
#include "datatype/predefined.h"

namespace lanyard {
namespace {

// Ranks that sleep until they are rung, as processes do: the word is set, the exchange looked at once more, then slept.
class Bells : public NodeBell {
public:
    explicit Bells(int ranks) : sleepers_(static_cast<size_t>(ranks)) {}
    void ring(uint32_t peer) override {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        Sleeper &sleeper = sleepers_[peer];
        if (!sleeper.asleep.load(std::memory_order_seq_cst)) return;
        std::lock_guard guard(sleeper.mutex);
        sleeper.asleep.store(false, std::memory_order_seq_cst);
        sleeper.changed.notify_all();
    }
    template <class Advance>
    void wait(int rank, Advance advance) {
        Sleeper &sleeper = sleepers_[static_cast<size_t>(rank)];
        for (int turn = 0; !advance(); ++turn) {
            sched_yield();
            if (turn < 3) continue;
            sleeper.asleep.store(true, std::memory_order_seq_cst);
            if (advance()) break;
            std::unique_lock lock(sleeper.mutex);
            bool rung = sleeper.changed.wait_for(lock, std::chrono::seconds(20), [&] { return !sleeper.asleep.load(); });
            if (!rung) ++forgotten;
        }
        sleeper.asleep.store(false, std::memory_order_seq_cst);
    }
    std::atomic<int> forgotten{0};

private:
    struct Sleeper {
        std::atomic<bool> asleep{false};
        std::mutex mutex;
        std::condition_variable changed;
    };
    std::deque<Sleeper> sleepers_;
};

struct Shared {
    explicit Shared(int ranks) : size(ranks), bytes(node_area_bytes(ranks)), bells(ranks) {
        area = static_cast<std::byte *>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
        std::memset(area, 0, bytes);
        for (int i = 0; i < ranks; ++i) peers.push_back(static_cast<uint32_t>(i));
    }
    ~Shared() { std::free(area); }

    int size;
    size_t bytes;
    std::byte *area = nullptr;
    std::vector<uint32_t> peers;
    Bells bells;
    std::atomic<int> wrong{0};
};

// One rank's exchange of a schedule that has nothing else.
class Rank {
public:
    Rank(Shared &shared, int index) : shared_(shared) {
        team.index = index;
        team.size = shared.size;
        team.peers = shared.peers.data();
        team.node_area = shared.area;
        team.node_area_bytes = shared.bytes;
    }
    Members members() const { return {team.index, team.size}; }
    void begin(ExchangeRun &run) { run.begin(team); }
    bool advance(ExchangeRun &run, const Schedule &schedule, void *send, void *receive) {
        return run.advance(schedule.exchanges()[0], schedule.op, team, &shared_.bells, [&](const Block &block) {
            void *base = block.space == Space::send ? send : receive;
            return Buffer{static_cast<std::byte *>(base) + block.offset, block.count, block.type};
        });
    }
    void run(const Schedule &schedule, void *send, void *receive) {
        ExchangeRun exchange;
        begin(exchange);
        shared_.bells.wait(team.index, [&] { return advance(exchange, schedule, send, receive); });
    }
    Team team;

private:
    Shared &shared_;
};

template <class Body>
void with_ranks(Shared &shared, Body body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < shared.size; ++i)
        threads.emplace_back([&, i] {
            Rank rank(shared, i);
            body(rank);
        });
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(shared.wrong.load(), 0);
    EXPECT_EQ(shared.bells.forgotten.load(), 0);
}

ReduceShape reduce_shape(const Rank &rank, int root, int64_t count) {
    const Datatype &type = *predefined_datatype(abi::type_int64_t);
    ReduceShape shape;
    static_cast<Members &>(shape) = rank.members();
    shape.root = root;
    shape.contribution = {Space::send, 0, count, &type};
    shape.result = {Space::receive, 0, count, &type};
    shape.op = predefined_op(abi::op_sum);
    return shape;
}

// All kinds, roots and sizes mixed: the same random sequence on all ranks, each at its own speed.
TEST(NodeArea, MixedSequence) {
    for (int ranks : {2, 3, 5, 8}) {
        Shared shared(ranks);
        with_ranks(shared, [&](Rank &rank) {
            std::mt19937 common(17), own(static_cast<unsigned>(rank.team.index));
            for (int turn = 0; turn < 400; ++turn) {
                int kind = static_cast<int>(common() % 5), root = static_cast<int>(common() % static_cast<unsigned>(ranks));
                int64_t count = 1 + static_cast<int64_t>(common() % 500);
                if (own() % 8 == 0) sched_yield();
                std::vector<int64_t> send(static_cast<size_t>(count)), receive(static_cast<size_t>(count * ranks), -1);
                for (int64_t i = 0; i < count; ++i) send[static_cast<size_t>(i)] = turn * 1000 + i + rank.team.index;
                int64_t all = int64_t{ranks} * turn * 1000 + ranks * (ranks - 1) / 2;
                Schedule schedule;
                const Datatype &type = *predefined_datatype(abi::type_int64_t);
                int64_t expected = 0, factor = ranks;
                bool looks = true;
                if (kind == 0) barrier_exchange(rank.members(), schedule), looks = false;
                if (kind == 1) {
                    bcast_exchange({rank.members(), root, {rank.team.index == root ? Space::send : Space::receive, 0, count, &type}}, schedule);
                    expected = turn * 1000 + root;
                    factor = 1;
                    looks = rank.team.index != root;
                }
                if (kind == 2) reduce_exchange(reduce_shape(rank, root, count), schedule), expected = all, looks = rank.team.index == root;
                if (kind == 3) allreduce_exchange(reduce_shape(rank, root, count), schedule), expected = all;
                if (kind == 4) {
                    MoveShape shape;
                    static_cast<Members &>(shape) = rank.members();
                    shape.sent = Division::even(Space::send, count, type);
                    shape.received = Division::even(Space::receive, count, type);
                    allgather_exchange(shape, schedule);
                    expected = turn * 1000;
                    factor = 1;
                }
                rank.run(schedule, send.data(), receive.data());
                for (int64_t i = 0; looks && i < count; ++i)
                    if (receive[static_cast<size_t>(i)] != expected + factor * i) ++shared.wrong;
                if (kind == 4 && receive[static_cast<size_t>(count * ranks - 1)] != expected + ranks - 1 + count - 1) ++shared.wrong;
            }
        });
    }
}

// A root may run ahead only as far as there are slots.
TEST(NodeArea, RootWaitsForRoom) {
    Shared shared(3);
    with_ranks(shared, [&](Rank &rank) {
        const Datatype &type = *predefined_datatype(abi::type_int64_t);
        for (int64_t turn = 0; turn < 3000; ++turn) {
            int64_t value = rank.team.index == 0 ? turn : -1;
            Schedule schedule;
            bcast_exchange({rank.members(), 0, {Space::receive, 0, 1, &type}}, schedule);
            if (rank.team.index == 2 && turn % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
            rank.run(schedule, nullptr, &value);
            if (value != turn) ++shared.wrong;
        }
    });
}

// More exchanges begun than there are slots, and than are counted, looked at in random order (nonblocking operations).
TEST(NodeArea, ManyUnderWay) {
    Shared shared(3);
    with_ranks(shared, [&](Rank &rank) {
        constexpr int many = 200;
        std::vector<int64_t> send(many), receive(many);
        std::vector<Schedule> schedules(many);
        std::vector<ExchangeRun> runs(many);
        std::vector<int> open;
        for (int i = 0; i < many; ++i) {
            send[static_cast<size_t>(i)] = i * (rank.team.index + 1);
            allreduce_exchange(reduce_shape(rank, 0, 1), schedules[static_cast<size_t>(i)]);
            rank.begin(runs[static_cast<size_t>(i)]);
            open.push_back(i);
        }
        std::mt19937 random(static_cast<unsigned>(rank.team.index));
        while (!open.empty()) {
            size_t choice = random() % open.size();
            auto i = static_cast<size_t>(open[choice]);
            if (rank.advance(runs[i], schedules[i], &send[i], &receive[i])) open.erase(open.begin() + static_cast<ptrdiff_t>(choice));
            else sched_yield();
        }
        for (int i = 0; i < many; ++i)
            if (receive[static_cast<size_t>(i)] != 6 * i) ++shared.wrong;
    });
}

TEST(NodeArea, TellsThatCountsDiffer) {
    Shared shared(3);
    with_ranks(shared, [&](Rank &rank) {
        int64_t values[2] = {1, 2}, sums[2] = {0, 0};
        Schedule schedule;
        allreduce_exchange(reduce_shape(rank, 0, rank.team.index == 1 ? 2 : 1), schedule);
        ExchangeRun exchange;
        rank.begin(exchange);
        shared.bells.wait(rank.team.index, [&] { return rank.advance(exchange, schedule, values, sums); });
        Error error = exchange.error();
        if (!error) {
            ++shared.wrong;
        } else if (rank.team.index == 0) {
            EXPECT_EQ(error.take().sentence,
                      "rank 1 takes part with 16 bytes, this rank expects 8; count and datatype must agree on all ranks");
        } else {
            error.discard();
        }
    });
}

TEST(NodeArea, GenerationsWrap) {
    Shared shared(2);
    with_ranks(shared, [&](Rank &rank) {
        // As if four thousand million collectives had been done. Slots still say 0, a generation long past.
        rank.team.node_use.started = rank.team.node_use.done_through = rank.team.node_use.known_done = UINT32_MAX - 5;
        for (int64_t turn = 0; turn < 20; ++turn) {
            int64_t value = turn, sum = 0;
            Schedule schedule;
            allreduce_exchange(reduce_shape(rank, 0, 1), schedule);
            rank.run(schedule, &value, &sum);
            if (sum != 2 * turn) ++shared.wrong;
        }
    });
}

}  // namespace
}  // namespace lanyard
