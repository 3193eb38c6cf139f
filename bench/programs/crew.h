// Runs the threads of bench-rate, which work in rounds. They are created once and wait between rounds, so
// that no round includes the creation of a thread. The thread that creates a crew is its thread number 0 and
// calls run(), which returns when all threads have finished.
#pragma once

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace lanyard::bench {

class Crew {
public:
    explicit Crew(int size) : gate_(size) {
        for (int number = 1; number < size; ++number) others_.emplace_back([this, number] { serve(number); });
    }
    ~Crew() {
        work_ = nullptr;
        gate_.arrive_and_wait();
        for (std::thread& other : others_) other.join();
    }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    // Each thread of the crew calls work(number), all at the same time.
    void run(const std::function<void(int)>& work) {
        work_ = &work;
        gate_.arrive_and_wait();
        work(0);
        gate_.arrive_and_wait();
    }

private:
    void serve(int number) {
        for (gate_.arrive_and_wait(); work_; gate_.arrive_and_wait()) {
            (*work_)(number);
            gate_.arrive_and_wait();
        }
    }

    std::barrier<> gate_;                             // passed before a round and after it
    const std::function<void(int)>* work_ = nullptr;  // the work of this round; null: the threads end
    std::vector<std::thread> others_;
};

}  // namespace lanyard::bench
