// Tests with real threads how threads own the engine and sleep: no thread may be left asleep. A test that
// would hang is ended by a deadline, with a message.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/process_idle.h"
#include "unit/engine/stubs.h"

namespace lanyard {
namespace {

// Ends the process if it lives for too long.
class Deadline {
public:
    explicit Deadline(const char *what) : thread_([this, what] { watch(what); }) {}
    ~Deadline() {
        over_ = true;
        thread_.join();
    }

private:
    void watch(const char *what) {
        for (int turn = 0; turn < 6000 && !over_; ++turn)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        if (over_) return;
        std::fprintf(stderr, "after a minute: %s\n", what);
        std::_Exit(1);
    }
    std::atomic<bool> over_{false};
    std::thread thread_;
};

// Finishes completions from outside the engine, like frames that a peer has sent.
class OutsidePath final : public StubPath {
public:
    int poll(Sink &, int, uint64_t) override {
        std::lock_guard guard(lock_);
        int work = 0;
        for (; !arrived_.empty(); arrived_.pop_front(), ++work) arrived_.front()->finish();
        return work;
    }
    void arrive(std::vector<Completion *> completions, Idle &idle) {
        {
            std::lock_guard guard(lock_);
            arrived_.insert(arrived_.end(), completions.begin(), completions.end());
        }
        std::atomic_thread_fence(std::memory_order_seq_cst);
        idle.wake();
    }

private:
    std::mutex lock_;
    std::deque<Completion *> arrived_;
};

constexpr IdlePolicy sleep_at_once{0, 0, false};

TEST(Engine, ForgetsNobodyWhoSleptForIt) {
    Deadline deadline("a thread sleeps though the engine is free");
    ProcessIdle idle(sleep_at_once);
    Engine engine(idle);
    int total = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 5; ++i)
        threads.emplace_back([&] {
            for (int round = 0; round < 20; ++round) {
                EngineGuard guard(engine);
                ++total;
                rest_ms(1);  // longer than the others spin and yield
            }
        });
    for (auto &thread : threads) thread.join();
    EXPECT_EQ(total, 100);
}

TEST(Engine, PassesTheWatchOn) {
    Deadline deadline("a thread sleeps though its completion has come, since nobody watches");
    for (int round = 0; round < 30; ++round) {
        ProcessIdle idle(sleep_at_once);
        Engine engine(idle);
        OutsidePath path;
        engine.set_sink(no_sink);
        engine.add_path(path);
        constexpr int waiting = 4;
        Completion completions[waiting];
        std::vector<std::thread> threads;
        for (Completion &completion : completions) {
            threads.emplace_back([&] {
                EngineGuard guard(engine);
                engine.wait_owned(completion);
            });
            rest_ms(round % 3);  // the first thread becomes the watcher
        }
        rest_ms(1);
        // The watcher and the thread that would succeed it leave together. The other threads must still be
        // woken.
        path.arrive({&completions[0], &completions[1]}, idle);
        rest_ms(2);
        path.arrive({&completions[2 + round % 2]}, idle);
        rest_ms(round % 2);
        path.arrive({&completions[3 - round % 2]}, idle);
        for (auto &thread : threads) thread.join();
    }
}

// A wait with a limit ends at the limit, whether the thread sleeps or not. It reports whether its condition
// is met.
TEST(Engine, WaitsUntilALimit) {
    Deadline deadline("a wait goes on beyond its limit");
    for (IdlePolicy policy : {sleep_at_once, IdlePolicy{1'000'000'000, 0, false}}) {
        ProcessIdle idle(policy);
        Engine engine(idle);
        OutsidePath path;
        engine.set_sink(no_sink);
        engine.add_path(path);
        Completion never, soon;
        auto done = [](const void *subject) { return static_cast<const Completion *>(subject)->complete(); };
        {
            EngineGuard guard(engine);
            uint64_t before_ns = engine.read_now_ns(), limit_ns = before_ns + 5'000'000;
            EXPECT_FALSE(engine.wait_owned(Condition{done, &never}, limit_ns));
            EXPECT_GE(engine.read_now_ns(), limit_ns);
        }
        std::thread other([&] {
            rest_ms(5);
            path.arrive({&soon}, idle);
        });
        {
            EngineGuard guard(engine);
            EXPECT_TRUE(engine.wait_owned(Condition{done, &soon}, engine.read_now_ns() + 50'000'000'000));
        }
        other.join();
    }
}

// A thread sleeps until something arrives. Another thread falls asleep later, until its limit.
TEST(Engine, WakesItsWatcherForAnEarlierDeadline) {
    Deadline deadline("the thread that fell asleep first does not know the limit of the other");
    ProcessIdle idle(sleep_at_once);
    Engine engine(idle);
    OutsidePath path;
    engine.set_sink(no_sink);
    engine.add_path(path);
    Completion arrives, never;
    std::thread watcher([&] {
        EngineGuard guard(engine);
        engine.wait_owned(arrives);
    });
    while (!engine.someone_sleeps()) rest_ms(1);
    {
        EngineGuard guard(engine);
        EXPECT_FALSE(engine.wait_owned(Condition(never), engine.read_now_ns() + 5'000'000));
    }
    path.arrive({&arrives}, idle);
    watcher.join();
}

// A thread sleeps until something arrives. Another thread sets an alarm, leaves MPI and never returns.
TEST(Engine, WakesItsWatcherForTheAlarmOfAThreadThatLeaves) {
    Deadline deadline("the thread that sleeps does not know the alarm of the one that has left");
    ProcessIdle idle(sleep_at_once);
    Engine engine(idle);
    OutsidePath path;
    engine.set_sink(no_sink);
    engine.add_path(path);
    struct Finishing : Task {
        Completion done;
    } alarm;
    alarm.run = [](Task &task) {
        static_cast<Finishing &>(task).done.finish();
        return 1;
    };
    std::thread watcher([&] {
        EngineGuard guard(engine);
        engine.wait_owned(alarm.done);
    });
    while (!engine.someone_sleeps()) rest_ms(1);
    {
        EngineGuard guard(engine);
        engine.set_alarm(engine.read_now_ns() + 5'000'000, alarm);
    }
    watcher.join();
}

// Memory is trimmed only now and then, so a process that falls asleep again and again keeps the memory that
// it needs each time.
TEST(Engine, TrimsNowAndThen) {
    struct Trimming final : NoSink {
        void trim_memory() override { ++times; }
        int times = 0;
    } sink;
    Deadline deadline("a completion has been lost");
    ProcessIdle idle(sleep_at_once);
    Engine engine(idle);
    OutsidePath path;
    engine.set_sink(sink);
    engine.add_path(path);
    auto begin = std::chrono::steady_clock::now();
    constexpr int rounds = 40;
    Completion completions[rounds];
    for (Completion &completion : completions) {
        std::thread outside([&] {
            rest_ms(2);
            path.arrive({&completion}, idle);
        });
        {
            EngineGuard guard(engine);
            engine.wait_owned(completion);
        }
        outside.join();
    }
    auto passed_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin)
            .count();
    EXPECT_GE(sink.times, 1);
    EXPECT_LE(sink.times, 1 + passed_ms / 50);
}

TEST(Engine, CompletesUnderManyWaitersAndTests) {
    Deadline deadline("a completion has been lost");
    ProcessIdle idle(sleep_at_once);
    Engine engine(idle);
    OutsidePath path;
    engine.set_sink(no_sink);
    engine.add_path(path);
    constexpr int rounds = 300, waiting = 4;
    static Completion completions[waiting][rounds];
    std::vector<std::thread> threads;
    for (int i = 0; i < waiting; ++i)
        threads.emplace_back([&, i] {
            for (int round = 0; round < rounds; ++round) {
                EngineGuard guard(engine);
                if (i == 0 && round % 7 == 0) {
                    while (!completions[i][round].complete()) engine.turn_for_test();
                } else {
                    engine.wait_owned(completions[i][round]);
                }
            }
        });
    std::thread outside([&] {
        for (int round = 0; round < rounds; ++round)
            for (int i = 0; i < waiting; ++i) path.arrive({&completions[(i + round) % waiting][round]}, idle);
    });
    outside.join();
    for (auto &thread : threads) thread.join();
}

// Spins or not, as the test has set, and counts the yields.
class CountingIdle final : public Idle {
public:
    Action next(uint32_t, uint64_t, uint64_t) override { return spins ? Action::spin : Action::yield; }
    void yield() override { ++yields; }
    void arm() override {}
    void sleep(uint64_t) override {}
    void disarm() override {}
    void wake() override {}

    bool spins = false;
    int yields = 0;
};

TEST(Engine, YieldsAfterTestsInARowThatFindNothing) {
    CountingIdle idle;
    Engine engine(idle);
    OutsidePath path;
    engine.set_sink(no_sink);
    engine.add_path(path);
    EngineGuard guard(engine);
    auto yields_of = [&](int tests) {
        int before = idle.yields;
        for (int i = 0; i < tests; ++i) engine.turn_for_test();
        return idle.yields - before;
    };
    EXPECT_EQ(yields_of(3), 3);
    engine.test_pace().set_tests_per_yield(5);
    EXPECT_EQ(yields_of(4), 0);
    EXPECT_EQ(yields_of(1), 1);
    EXPECT_EQ(yields_of(4), 0);
    engine.test_pace().found_something();
    EXPECT_EQ(yields_of(4), 0);
    Completion arrived;
    path.arrive({&arrived}, idle);
    EXPECT_EQ(yields_of(5), 0);  // the first of these finds what has arrived
    EXPECT_EQ(yields_of(1), 1);
    idle.spins = true;
    EXPECT_EQ(yields_of(20), 0);
}

// Finishes an operation for which a thread in MPI waits, like the task of an I/O thread that has read a file.
// Only the owner of the engine may do this.
struct FinishingTask : Task {
    FinishingTask() { run = finish; }
    static int finish(Task &task) {
        auto &self = static_cast<FinishingTask &>(task);
        self.by = std::this_thread::get_id();
        self.completion->finish();
        return 1;
    }
    Completion *completion = nullptr;
    std::thread::id by;
};

// Several threads post, and several wait and sleep. No thread is left asleep, and no task runs on a thread
// that only posts.
TEST(Engine, RunsWhatOtherThreadsPost) {
    Deadline deadline("a posted task has not run");
    for (IdlePolicy policy : {sleep_at_once, IdlePolicy{20'000, 0, false}}) {
        ProcessIdle idle(policy);
        Engine engine(idle);
        OutsidePath path;
        engine.set_sink(no_sink);
        engine.add_path(path);
        constexpr int pairs = 3, rounds = 400;
        std::vector<Completion> completions(pairs * rounds);
        std::vector<FinishingTask> tasks(pairs * rounds);
        std::vector<std::thread> threads;
        std::thread::id waiting[pairs];
        for (int pair = 0; pair < pairs; ++pair) {
            threads.emplace_back([&, pair] {
                waiting[pair] = std::this_thread::get_id();
                for (int round = 0; round < rounds; ++round) {
                    EngineGuard guard(engine);
                    engine.wait_owned(completions[pair * rounds + round]);
                }
            });
            threads.emplace_back([&, pair] {
                for (int round = 0; round < rounds; ++round) {
                    FinishingTask &task = tasks[pair * rounds + round];
                    task.completion = &completions[pair * rounds + round];
                    if (round % 16 == 0) rest_ms(1);  // all sleep by then
                    engine.post(task);
                }
            });
        }
        for (std::thread &thread : threads) thread.join();
        for (const FinishingTask &task : tasks)
            EXPECT_NE(std::find(waiting, waiting + pairs, task.by), waiting + pairs);
        EXPECT_FALSE(engine.has_posted());
    }
}

// Posted tasks run in the order of posting, in the next step, after the tasks that were ready before. A task
// that has run may be posted again, also by itself.
TEST(Engine, RunsPostedTasksInOrderAndAgain) {
    ProcessIdle idle(sleep_at_once);
    Engine engine(idle);
    struct Recording : Task {
        std::vector<int> *order = nullptr;
        Engine *engine = nullptr;
        int number = 0, again = 0;
    } tasks[3];
    std::vector<int> order;
    for (int i = 0; i < 3; ++i) {
        tasks[i].order = &order;
        tasks[i].engine = &engine;
        tasks[i].number = i;
        tasks[i].run = [](Task &task) {
            auto &self = static_cast<Recording &>(task);
            self.order->push_back(self.number);
            if (self.again-- > 0) self.engine->post(self);
            return 1;
        };
    }
    tasks[1].again = 1;
    EngineGuard guard(engine);
    EXPECT_FALSE(engine.under_way());
    std::thread([&] { engine.post(tasks[2]); }).join();
    engine.post(tasks[1]);
    EXPECT_TRUE(engine.under_way());
    engine.ready(tasks[0]);
    EXPECT_EQ(engine.make_turn(), 3);
    EXPECT_EQ(engine.make_turn(), 1);
    EXPECT_EQ(engine.make_turn(), 0);
    EXPECT_EQ(order, (std::vector<int>{0, 2, 1, 1}));
    EXPECT_FALSE(engine.under_way());
}

TEST(Completion, TellsItsWaiterOnce) {
    Completion completion;
    Waiter waiter;
    waiter.remaining = 1;
    EXPECT_TRUE(completion.await(waiter));
    EXPECT_FALSE(waiter.done());
    completion.finish();
    EXPECT_TRUE(waiter.done() && completion.complete());
    EXPECT_FALSE(completion.await(waiter)) << "complete already";
    completion.forget(waiter);  // counted already, so nothing happens
    completion.reset();
    waiter.remaining = 1;
    EXPECT_TRUE(completion.await(waiter));
    completion.forget(waiter);
    completion.finish();
    EXPECT_FALSE(waiter.done());
}

}  // namespace
}  // namespace lanyard
