// A Baton lets the threads of a simulation take turns. At any moment exactly one thread runs: the thread that
// holds the baton. A seed decides which thread runs next. Time is virtual: a turn takes a little time, and
// when all threads sleep, time jumps to the next event. A whole job in one process therefore runs the same
// way each time, also under sanitizers. If all threads sleep and no event is pending, there is a deadlock.
// The Baton then prints the seed and what each thread waits for, and ends the process. It does the same after
// most_fruitless_turns turns without progress().
//
// Used by the simulated network (sim_network.h) and by tests that run ranks as threads. In a test without
// threads, which drives paths by itself, time advances with every tick.
// Thread rule: add() and run() by the test's thread; everything else by the thread that runs. All memory that
// the threads share is handed over with the baton, so nothing else needs a lock.
// Tested by: tests/sim/p2p_test.cc.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <vector>

#include "net/sim/random.h"

namespace lanyard::sim {

class Baton {
public:
    explicit Baton(uint64_t seed) : seed_(seed), random_(seed) {}
    Baton(const Baton &) = delete;
    Baton &operator=(const Baton &) = delete;

    // Adds a thread to the simulation, before run(). Returns its number, starting at 0. `waits_for`
    // describes, for the report of a deadlock, what the thread waits for; it may be empty.
    uint32_t add(std::string name, std::function<void()> body, std::function<std::string()> waits_for);
    // Runs all threads to their end, and then removes them.
    void run();

    uint64_t seed() const { return seed_; }
    uint64_t now_ns() const { return now_ns_; }
    Random &random() { return random_; }
    uint64_t turns() const { return turns_; }

    // Lets a little time pass.
    void tick();
    // Lets other threads run.
    void pass();
    // Sleeping as in idle.h: sleep() returns at once if this thread was notified since arm(), otherwise when
    // it is notified. sleep_until() also returns at this time.
    void arm();
    void sleep();
    void sleep_until(uint64_t time_ns);
    void notify(uint32_t thread);
    // Notifies the thread at that time. Several notifications for the same thread may be pending.
    void notify_at(uint64_t time_ns, uint32_t thread);
    // Called when something has moved, which shows that the turns so far were no endless loop.
    void progress() { fruitless_turns_ = 0; }

private:
    struct Member {
        std::string name;
        std::function<void()> body;
        std::function<std::string()> waits_for;
        std::condition_variable turn;
        size_t place = absent;  // index in runnable_
        bool notified = false;
        bool finished = false;
    };
    struct Event {
        uint64_t time_ns, order;
        uint32_t thread;
        bool operator>(const Event &other) const {
            return time_ns != other.time_ns ? time_ns > other.time_ns : order > other.order;
        }
    };
    static constexpr size_t absent = SIZE_MAX;
    static constexpr uint32_t nobody = UINT32_MAX;
    static constexpr uint64_t most_fruitless_turns = 3'000'000;

    void live(uint32_t number);
    void hand_over();
    uint32_t choose();
    void fire_events();
    void set_runnable(uint32_t number);
    void set_blocked(uint32_t number);
    [[noreturn]] void give_up(const char *what);

    uint64_t seed_;
    Random random_;
    uint64_t now_ns_ = 1;
    uint64_t turns_ = 0;
    uint64_t fruitless_turns_ = 0;
    uint64_t next_order_ = 0;
    std::vector<std::unique_ptr<Member>> members_;
    std::vector<uint32_t> runnable_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    size_t unfinished_ = 0;

    std::mutex mutex_;
    std::condition_variable all_done_;
    uint32_t running_ = nobody;
};

}  // namespace lanyard::sim
