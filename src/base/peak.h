// The highest value of a quantity. Its owner notes each value, at the cost of a comparison. Any thread may
// read the peak, and restart it.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanyard {

class Peak {
public:
    // By the owner. A concurrent begin_anew() does no harm: the value belongs to the time after it.
    void note(uint64_t value) {
        if (value > highest_.load(std::memory_order_relaxed))
            highest_.store(value, std::memory_order_relaxed);
    }
    uint64_t highest() const { return highest_.load(std::memory_order_relaxed); }
    // Restarts the peak, and returns the old one.
    uint64_t begin_anew() { return highest_.exchange(0, std::memory_order_relaxed); }
    // By threads other than the owner.
    void raise(uint64_t value) {
        uint64_t before = highest();
        while (value > before && !highest_.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
        }
    }

private:
    std::atomic<uint64_t> highest_{0};
};

}  // namespace lanyard
