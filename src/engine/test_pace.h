// TestPace sets the pace of a program that calls MPI_Test in a loop.
//
// - Paths are polled by system calls only once every few microseconds. The processor's tick counter measures
//   this interval, since reading the counter is faster than reading the clock.
// - Where ranks outnumber processors, many tests in a row that find nothing end in a yield. A program that
//   only tests thus yields after some microseconds. A program that tests between pieces of its own work
//   seldom does: one test is not a wait, and a yield takes as long as 20 tests, or a time slice if the other
//   rank computes.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/engine/progress_test.cc.
#pragma once

#include "base/clock.h"
#include "engine/progress.h"

namespace lanyard {

class TestPace {
public:
    // After how many tests in a row that find nothing a yield is due; at least 1.
    void set_tests_per_yield(uint32_t tests) { tests_per_yield_ = tests; }
    // A test has found nothing. Is a yield due?
    bool is_yield_due() {
        if (++fruitless_tests_ < tests_per_yield_) return false;
        fruitless_tests_ = 0;
        return true;
    }
    void found_something() { fruitless_tests_ = 0; }
    // Are the paths that are polled by system calls due now? If so, is_due() also reads the clock.
    bool is_due(Progress &progress) {
        uint64_t ticks = clock_ticks(), passed = ticks - last_ticks_;
        if (passed < ticks_between_) return false;
        progress.read_clock();
        uint64_t passed_ns = progress.now_ns() - last_ns_;
        if (passed_ns > 0 && passed_ns < measurable_ns) ticks_between_ = passed * every_ns / passed_ns;
        last_ns_ = progress.now_ns();
        last_ticks_ = ticks;
        return true;
    }

private:
    static constexpr uint64_t every_ns = 8'000;
    static constexpr uint64_t measurable_ns = 1'000'000'000;  // below this, no product overflows

    // When these paths were last polled, by the clock and by the tick counter.
    uint64_t last_ns_ = 0, last_ticks_ = 0;
    uint64_t ticks_between_ = 0;
    uint32_t tests_per_yield_ = 1, fruitless_tests_ = 0;
};

}  // namespace lanyard
