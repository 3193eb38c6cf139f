// Who owns the engine: one thread at a time. Taking it is one compare-and-swap, and costs nothing while the
// program has promised that only one thread at a time is in MPI. A thread that finds it taken spins, yields,
// and then sleeps until the owner wakes it.
// Thread rule: any thread; release() and step_aside() by the owner.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanyard {

class EngineLock {
public:
    // left_open: also free, but the program left with something under way, and the helper must learn when it
    // returns.
    enum State : uint32_t { free = 0, taken = 1, taken_and_wanted = 2, left_open = 3 };

    bool single_threaded() const { return single_threaded_; }
    void set_single_threaded(bool single) {
        if (single_threaded_ != single) single_threaded_ = single;
    }

    bool try_take() { return take_from(free) || take_from(left_open); }
    bool try_take_left_open() { return take_from(left_open); }
    // False: the state is taken or left_open.
    bool take_if_free() { return single_threaded_ || take_from(free); }
    void take() {
        if (!take_if_free()) take_slowly();
    }
    void take_slowly();
    // `as`: free or left_open. Only while not single-threaded.
    void release(State as) {
        if (owned_.exchange(as, std::memory_order_release) == taken_and_wanted) wake_one();
    }
    // Do other threads wait for it?
    bool is_wanted() const { return contenders_.load(std::memory_order_relaxed) > 0; }
    // After release(): gives one of the waiting threads time to take the engine.
    void step_aside() const;

private:
    static bool is_free(uint32_t state) { return state == free || state == left_open; }
    bool take_from(uint32_t state) {
        return owned_.compare_exchange_strong(state, taken, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }
    void wake_one();

    std::atomic<uint32_t> owned_{free};
    bool single_threaded_ = false;
    std::atomic<int32_t> contenders_{0};
};

}  // namespace lanyard
