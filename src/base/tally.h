// A Tally is a number that only one thread at a time may change (the owner of what is counted) and any thread
// may read. A reader sees a whole value, possibly out of date. For the owner, a Tally costs as much as a
// plain number: loads and stores, no locked instruction.
#pragma once

#include <atomic>

namespace lanyard {

template <class T>
class Tally {
public:
    Tally() = default;
    explicit Tally(T value) : value_(value) {}
    Tally(const Tally &other) : value_(T{other}) {}
    Tally &operator=(const Tally &other) {
        become(other);
        return *this;
    }

    operator T() const { return value_.load(std::memory_order_relaxed); }

    // For the owner only.
    T operator=(T value) { return become(value); }
    T operator+=(T more) { return become(static_cast<T>(*this + more)); }
    T operator-=(T less) { return become(static_cast<T>(*this - less)); }
    T operator++() { return *this += 1; }
    T operator--() { return *this -= 1; }
    T operator++(int) { return static_cast<T>(++*this - 1); }

private:
    T become(T value) {
        value_.store(value, std::memory_order_relaxed);
        return value;
    }

    std::atomic<T> value_{0};
};

}  // namespace lanyard
