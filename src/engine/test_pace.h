// If a program calls MPI_Test in a loop, TestPace limits how often paths are polled by system calls: once
// every few microseconds. The processor's tick counter measures this interval, since reading the counter is
// faster than reading the clock.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/engine/progress_test.cc.
#pragma once

#include "base/clock.h"
#include "engine/progress.h"

namespace lanyard {

class TestPace {
public:
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
};

}  // namespace lanyard
