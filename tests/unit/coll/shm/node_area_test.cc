// Tests the node area with threads as ranks and memory from malloc. Consecutive exchanges of all kinds must
// not mix their data, every sleeping rank must be woken, and ranks must wait for free slots. These tests also
// run under the thread sanitizer.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
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
#include "coll/shm/exchange_run.h"
#include "datatype/predefined.h"

namespace lanyard {
namespace {

// Lets ranks sleep and wake each other, as processes do. A rank marks itself as asleep, checks the
// exchange once more, and then sleeps.
class Bells : public NodeReach {
public:
    explicit Bells(int ranks) : sleepers_(static_cast<size_t>(ranks)) {}
    bool asleep(uint32_t peer) override {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return sleepers_[peer].asleep.load(std::memory_order_seq_cst);
    }
    void wake(uint32_t peer) override {
        Sleeper &sleeper = sleepers_[peer];
        std::lock_guard guard(sleeper.mutex);
        sleeper.asleep.store(false, std::memory_order_seq_cst);
        sleeper.changed.notify_all();
    }
    Error read(uint32_t, uint64_t address, std::byte *to, size_t bytes) override {
        if (reads_allowed.fetch_sub(1) <= 0) return Error(ErrorClass::other, "not allowed any more");
        std::memcpy(to, reinterpret_cast<const std::byte *>(address), bytes);
        return {};
    }
    const std::byte *mapped(uint32_t, uint64_t address, size_t bytes) override {
        bool is_mapped = maps_some && (address / 16 + bytes) % 3 != 0;
        return is_mapped ? reinterpret_cast<const std::byte *>(address) : nullptr;
    }
    std::byte *share(size_t bytes, uint64_t &offset) override {
        std::lock_guard guard(shared_mutex_);
        shared_.push_back(static_cast<std::byte *>(std::aligned_alloc(64, bytes)));
        std::memset(shared_.back(), 0, bytes);
        offset = 64 * shared_.size();
        return shared_.back();
    }
    std::byte *at(uint64_t offset, size_t) override {
        std::lock_guard guard(shared_mutex_);
        return shared_[offset / 64 - 1];
    }
    ~Bells() override {
        for (std::byte *memory : shared_) std::free(memory);
    }
    template <class Advance>
    void wait(int rank, Advance advance) {
        Sleeper &sleeper = sleepers_[static_cast<size_t>(rank)];
        for (int turn = 0; !advance(); ++turn) {
            sched_yield();
            if (turn < 3) continue;
            sleeper.asleep.store(true, std::memory_order_seq_cst);
            std::atomic_thread_fence(std::memory_order_seq_cst);
            if (advance()) break;
            std::unique_lock lock(sleeper.mutex);
            bool rung = sleeper.changed.wait_for(lock, std::chrono::seconds(20),
                                                 [&] { return !sleeper.asleep.load(); });
            if (!rung) ++forgotten;
        }
        sleeper.asleep.store(false, std::memory_order_seq_cst);
    }
    std::atomic<int> forgotten{0};
    std::atomic<int> reads_allowed{INT32_MAX};
    bool maps_some = false;  // about two of three blocks

private:
    struct Sleeper {
        std::atomic<bool> asleep{false};
        std::mutex mutex;
        std::condition_variable changed;
    };
    std::deque<Sleeper> sleepers_;
    std::mutex shared_mutex_;
    std::vector<std::byte *> shared_;
};

struct Shared {
    explicit Shared(int ranks, bool reads = false)
        : size(ranks), direct_reads(reads), bytes(node_area_bytes(ranks)), bells(ranks) {
        area = static_cast<std::byte *>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
        std::memset(area, 0, bytes);
        for (int i = 0; i < ranks; ++i) peers.push_back(static_cast<uint32_t>(i));
    }
    ~Shared() { std::free(area); }

    int size;
    bool direct_reads;  // ranks read each other's memory
    size_t bytes;
    std::byte *area = nullptr;
    std::vector<uint32_t> peers;
    Bells bells;
    std::atomic<int> wrong{0};
    std::string copies = "once";
    std::atomic<int> passed{0};  // exchanges that ExchangeRun::pass() completed (short_use.h)
};

// One rank. It can run schedules that consist of exchanges only.
class Rank {
public:
    Rank(Shared &shared, int index) : shared_(shared), pieces_(exchange_pieces_bytes) {
        team.index = index;
        team.size = shared.size;
        team.peers = shared.peers.data();
        team.node_area = shared.area;
        team.node_area_bytes = shared.bytes;
        team.direct_reads = shared.direct_reads;
        random_.seed(static_cast<unsigned>(index));
    }
    Members members() const { return {team.index, team.size}; }
    void begin(ExchangeRun &run) { run.begin(team, 0, 0); }
    bool advance(ExchangeRun &run, const Schedule &schedule, void *send, void *receive) {
        return advance(run, schedule, schedule.exchanges()[0], send, receive);
    }
    bool advance(ExchangeRun &run, const Schedule &schedule, const Exchange &exchange, void *send,
                 void *receive) {
        struct Spaces {
            void *of[3];
        } spaces{{send, receive, scratch_.data()}};
        auto buffer_of = [](const void *owner, const Block &block) {
            void *base = static_cast<const Spaces *>(owner)->of[static_cast<size_t>(block.space)];
            return Buffer{static_cast<std::byte *>(base) + block.offset, block.count, block.type};
        };
        Error failure;
        ExchangeTask task{{{team, NodeArea(team), &shared_.bells}, exchange}, schedule, pieces_.data(),
                          &spaces, buffer_of, &failure, &stage, &shared_.copies};
        do {
            if (run.advance(task)) return true;
        } while (run.got_on());
        return false;
    }
    // Tries to run the exchange as a short use, in three of four cases. Returns true if the exchange is then
    // complete.
    bool passes(ExchangeRun &run, const Schedule &schedule, void *send, void *receive) {
        ShortUse use;
        if (random_() % 4 == 0 || !use.prepare(schedule, team)) return false;
        ExchangePlace place{{team, NodeArea(team), &shared_.bells}, schedule.exchanges()[0]};
        ShortUse::Buffers buffers{static_cast<std::byte *>(send), static_cast<std::byte *>(receive)};
        bool passed = run.pass(place, use, buffers);
        if (!passed && run.waits_for_posts())
            for (auto looks = random_() % 100; !passed && looks > 0; --looks)
                passed = run.pass_on(place, use, buffers);
        shared_.passed += passed;
        return passed;
    }
    // Runs the exchanges of a schedule, one after the other.
    void run(const Schedule &schedule, void *send, void *receive) {
        scratch_.resize(static_cast<size_t>(schedule.scratch_size()));
        std::vector<ExchangeRun> runs(schedule.exchanges().size());
        for (ExchangeRun &each : runs) begin(each);
        if (passes(runs.front(), schedule, send, receive)) return;
        for (size_t i = 0; i < runs.size(); ++i) {
            shared_.bells.wait(team.index, [&] {
                return advance(runs[i], schedule, schedule.exchanges()[i], send, receive);
            });
            Error error = runs[i].check().error();
            if (!error) continue;
            error.discard();
            ++shared_.wrong;
        }
    }
    Team team;
    Stage stage;

private:
    Shared &shared_;
    std::vector<std::byte> pieces_, scratch_;
    std::mt19937 random_;
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

enum class Kind {
    barrier, bcast, reduce, allreduce, parts, scan, allgather, alltoall, scatter, gather, count_of_them
};

// What the first block of a rank's receive buffer must contain afterwards: element i must be first +
// factor * i. Checked only if `looked_at`.
struct Outcome {
    bool looked_at = true;
    int64_t first = 0, factor = 1;
};

// Writes the schedule of an exchange that moves data, and returns the expected outcome. Element i of each
// rank's data is base + i + the rank's index. The block that a rank keeps for itself is checked only for
// allgather.
Outcome make_move(Kind kind, const Rank &rank, int root, int64_t count, int64_t base, Schedule &schedule) {
    const Datatype &type = *predefined_datatype(abi::type_int64_t);
    MoveShape shape;
    static_cast<Members &>(shape) = rank.members();
    shape.root = root;
    bool at_root = rank.team.index == root;
    shape.sent = Division::even(Space::send, count, type);
    if (kind != Kind::gather || at_root) shape.received = Division::even(Space::receive, count, type);
    if (kind == Kind::allgather) allgather_exchange(shape, schedule);
    if (kind == Kind::alltoall) alltoall_exchange(shape, schedule);
    if (kind == Kind::scatter) scatter_exchange(shape, schedule);
    if (kind == Kind::gather) gather_exchange(shape, schedule);
    bool own_first = rank.team.index == 0 && kind != Kind::allgather;
    if (kind == Kind::scatter) return {!at_root, base + root};
    return {!own_first && (kind != Kind::gather || at_root), base};
}

Outcome make_one(Kind kind, const Rank &rank, int root, int64_t count, int64_t base, Schedule &schedule) {
    const Datatype &type = *predefined_datatype(abi::type_int64_t);
    int64_t ranks = rank.team.size, through = rank.team.index + 1;
    bool at_root = rank.team.index == root;
    Outcome all{true, ranks * base + ranks * (ranks - 1) / 2, ranks};
    switch (kind) {
        case Kind::barrier: barrier_exchange(rank.members(), schedule); return {false};
        case Kind::bcast:
            bcast_exchange({rank.members(), root, {at_root ? Space::send : Space::receive, 0, count, &type}},
                           schedule);
            return {!at_root, base + root};
        case Kind::reduce:
            reduce_exchange(reduce_shape(rank, root, count), schedule);
            all.looked_at = at_root;
            return all;
        case Kind::allreduce: allreduce_exchange(reduce_shape(rank, root, count), schedule); return all;
        case Kind::parts: allreduce_exchange_parts(reduce_shape(rank, root, count), schedule); return all;
        case Kind::scan:
            scan_exchange(reduce_shape(rank, root, count), schedule);
            return {true, through * base + through * (through - 1) / 2, through};
        default: return make_move(kind, rank, root, count, base, schedule);
    }
}

// Runs a random sequence of exchanges of all kinds, roots and sizes. The sequence is the same on all
// ranks, but each rank has its own speed. With direct reads, some blocks are larger than a slot.
void run_mixed_sequence(bool direct_reads, int reads_allowed = INT32_MAX, const char *copies = "once",
                        unsigned most = 5000, bool maps_some = false) {
    for (int ranks : {2, 3, 5, 8}) {
        Shared shared(ranks, direct_reads);
        shared.bells.reads_allowed = reads_allowed;
        shared.copies = copies;
        shared.bells.maps_some = maps_some;
        with_ranks(shared, [&](Rank &rank) {
            std::mt19937 common(17), own(static_cast<unsigned>(rank.team.index));
            for (int64_t turn = 0; turn < 400; ++turn) {
                auto kind = static_cast<Kind>(common() % static_cast<unsigned>(Kind::count_of_them));
                int root = static_cast<int>(common() % static_cast<unsigned>(ranks));
                bool for_each = kind == Kind::alltoall || kind == Kind::scatter;
                int64_t count =
                    1 + static_cast<int64_t>(
                            common() % (direct_reads && common() % 4 == 0 ? most : for_each ? 50 : 500));
                if (common() % 2 == 0) count = 1 + count % 4;
                if (own() % 8 == 0) sched_yield();
                std::vector<int64_t> send(static_cast<size_t>(count * ranks)), receive(send.size(), -1);
                for (size_t i = 0; i < send.size(); ++i)
                    send[i] = turn * 1000 + static_cast<int64_t>(i) % count + rank.team.index;
                Schedule schedule;
                Outcome outcome = make_one(kind, rank, root, count, turn * 1000, schedule);
                rank.run(schedule, send.data(), receive.data());
                for (int64_t i = 0; outcome.looked_at && i < count; ++i)
                    if (receive[static_cast<size_t>(i)] != outcome.first + outcome.factor * i) ++shared.wrong;
                if (kind == Kind::allgather && receive.back() != turn * 1000 + ranks - 1 + count - 1)
                    ++shared.wrong;
            }
        });
        EXPECT_GT(shared.passed, 20);
    }
}

TEST(NodeArea, MixedSequence) { run_mixed_sequence(false); }
TEST(NodeArea, MixedSequenceWithDirectReads) { run_mixed_sequence(true); }
TEST(NodeArea, MixedSequenceWithReadsUntilTheyAreRefused) { run_mixed_sequence(true, 100); }
TEST(NodeArea, MixedSequenceWithMappedMemory) { run_mixed_sequence(true, INT32_MAX, "auto", 5000, true); }
TEST(NodeArea, MixedSequenceWithMappedMemoryUntilReadsAreRefused) {
    run_mixed_sequence(true, 100, "once", 5000, true);
}

// Some contributions are longer than all the entries of the stage that one exchange may use.
TEST(NodeArea, MixedSequenceByTheStage) { run_mixed_sequence(true, INT32_MAX, "twice", 60'000); }
TEST(NodeArea, MixedSequenceByWhatIsFaster) { run_mixed_sequence(true, INT32_MAX, "auto", 20'000); }

// A rank that posts the address of its memory must complete only when all other ranks have read the
// memory.
TEST(NodeArea, MemoryIsNotReadAfterTheEnd) {
    Shared shared(4, true);
    with_ranks(shared, [&](Rank &rank) {
        const Datatype &type = *predefined_datatype(abi::type_int64_t);
        constexpr int64_t count = 3000;
        std::vector<int64_t> data(count);
        for (int64_t turn = 0; turn < 300; ++turn) {
            int root = static_cast<int>(turn % 4);
            if (rank.team.index == root) data.assign(count, turn);
            Schedule schedule;
            bcast_exchange({rank.members(), root, {Space::receive, 0, count, &type}}, schedule);
            if ((turn + rank.team.index) % 64 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            rank.run(schedule, nullptr, data.data());
            if (std::count(data.begin(), data.end(), turn) != count) ++shared.wrong;
            // overwrites the data at once, although the other ranks may not have completed
            if (rank.team.index == root) data.assign(count, -1);
        }
    });
}

// Ranks 0 and 1 each have one operation on each of two teams, and both operations wait for rank 2. When rank
// 2 arrives, rank 0 requests data from rank 1 on one team, and rank 1 requests data from rank 0 on the other.
// So a rank that waits for an answer on one team must answer on the other team.
void ask_each_other_on_two_teams() {
    constexpr int64_t count = 5000;
    Shared first(3, true), second(3, true);
    first.bells.reads_allowed = second.bells.reads_allowed = 0;
    std::atomic<int> posted{0}, done{0};
    with_ranks(first, [&](Rank &on_first) {
        Rank on_second(second, on_first.team.index);
        Rank *ranks[2] = {&on_first, &on_second};
        std::vector<int64_t> send(count, on_first.team.index + 1), sums[2];
        Schedule schedules[2];
        ExchangeRun runs[2];
        for (int i = 0; i < 2; ++i) {
            sums[i].assign(count, 0);
            allreduce_exchange(reduce_shape(*ranks[i], 0, count), schedules[i]);
            ranks[i]->begin(runs[i]);
        }
        bool over[2] = {false, false};
        auto look = [&](int i) {
            over[i] = over[i] || ranks[i]->advance(runs[i], schedules[i], send.data(), sums[i].data());
        };
        auto look_at_both = [&] {
            look(on_first.team.index == 1);
            look(on_first.team.index != 1);
        };
        if (on_first.team.index == 2)
            while (posted < 2) sched_yield();
        look_at_both();
        ++posted;
        while (!over[0] || !over[1]) sched_yield(), look_at_both();
        ++done;
        while (done < 3) sched_yield(), look_at_both();  // other ranks may still request data
        for (const std::vector<int64_t> &sum : sums)
            if (std::count(sum.begin(), sum.end(), 6) != count) ++first.wrong;
    });
}

TEST(NodeArea, RanksThatAskEachOtherOnTwoTeamsAnswer) {
    for (int turn = 0; turn < 50; ++turn) ask_each_other_on_two_teams();
}

// A root may run ahead of the other ranks only as far as slots are free.
TEST(NodeArea, RootWaitsForRoom) {
    Shared shared(3);
    with_ranks(shared, [&](Rank &rank) {
        const Datatype &type = *predefined_datatype(abi::type_int64_t);
        for (int64_t turn = 0; turn < 3000; ++turn) {
            int64_t value = rank.team.index == 0 ? turn : -1;
            Schedule schedule;
            bcast_exchange({rank.members(), 0, {Space::receive, 0, 1, &type}}, schedule);
            if (rank.team.index == 2 && turn % 500 == 0)
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
            rank.run(schedule, nullptr, &value);
            if (value != turn) ++shared.wrong;
        }
    });
}

// More exchanges are under way than there are slots, and more than the bit mask NodeUse::done_beyond has
// bits. They are advanced in random order, as nonblocking operations are.
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
            if (rank.advance(runs[i], schedules[i], &send[i], &receive[i]))
                open.erase(open.begin() + static_cast<ptrdiff_t>(choice));
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
        Error error = exchange.check().error();
        if (!error) {
            ++shared.wrong;
        } else if (rank.team.index == 0) {
            EXPECT_EQ(error.take().sentence,
                      "rank 1 takes part with 16 bytes, this rank expects 8; count and datatype must agree "
                      "on all ranks");
        } else {
            error.discard();
        }
    });
}

TEST(NodeArea, GenerationsWrap) {
    Shared shared(2);
    with_ranks(shared, [&](Rank &rank) {
        // Simulates a team that has performed 4 billion collectives. The slots still contain
        // generation 0, which is long past.
        rank.team.node_use.started = rank.team.node_use.done_through = rank.team.node_use.known_done =
            UINT32_MAX - 50;
        for (int64_t turn = 0; turn < 100; ++turn) {
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
