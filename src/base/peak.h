// The highest value that something had. Its owner tells each value, at the price of a comparison; any thread may ask, and begin anew.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanyard {

class Peak {
public:
    // By the owner. (One that begins anew in between does no harm: the value is one of the time after it.)
    void note(uint64_t value) {
        if (value > highest_.load(std::memory_order_relaxed)) highest_.store(value, std::memory_order_relaxed);
    }
    uint64_t highest() const { return highest_.load(std::memory_order_relaxed); }
    // Forgets what was, and returns it.
    uint64_t begin_anew() { return highest_.exchange(0, std::memory_order_relaxed); }
    // By others than the owner.
    void raise(uint64_t value) {
        uint64_t before = highest();
        while (value > before && !highest_.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
        }
    }

private:
    std::atomic<uint64_t> highest_{0};
};

}  // namespace lanyard
