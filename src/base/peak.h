// A Peak records the highest value of a quantity. The quantity's owner notes each value, at the cost of a
// comparison. Any thread may read the peak and restart it.
// Tested by: tests/unit/tool/tool_test.cc.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanyard {

class Peak {
public:
    // Called by the owner only. If another thread calls begin_anew() meanwhile, this value may count after
    // the restart, which does no harm.
    void note(uint64_t value) {
        if (value > highest_.load(std::memory_order_relaxed))
            highest_.store(value, std::memory_order_relaxed);
    }
    uint64_t highest() const { return highest_.load(std::memory_order_relaxed); }
    // Restarts at 0. Returns the highest value so far.
    uint64_t begin_anew() { return highest_.exchange(0, std::memory_order_relaxed); }
    // Notes a value in a thread other than the owner's.
    void raise(uint64_t value) {
        uint64_t before = highest();
        while (value > before && !highest_.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
        }
    }

private:
    std::atomic<uint64_t> highest_{0};
};

}  // namespace lanyard
