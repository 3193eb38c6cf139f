// EngineLock lets one thread at a time own the engine. Taking the engine is one compare-and-swap. Taking it
// costs nothing while the program has promised that only one thread at a time is in MPI. A thread that finds
// the engine taken spins, yields, and then sleeps until the owner wakes it.
// Thread rule: any thread that does not own the engine; release() by the owner, step_aside() by the thread
// that has released it. set_single_threaded() by a thread that is alone in MPI.
// Tested by: tests/unit/engine/engine_test.cc.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/owner_mark.h"

namespace lanyard {

class EngineLock {
public:
    // left_open: the engine is free, but the program left with something under way, and the helper must learn
    // when the program returns.
    enum State : uint32_t { free = 0, taken = 1, taken_and_wanted = 2, left_open = 3 };

    bool single_threaded() const { return single_threaded_; }
    // The caller is alone in MPI, so it counts as the owner even if it has not taken the engine.
    void set_single_threaded(bool single) {
        if (single_threaded_ == single) return;
        mark_.set();
        single_threaded_ = single;
    }
    // Could the caller be the owner? Always true except in builds for tests (owner_mark.h).
    bool allows_caller() const { return single_threaded_ || mark_.allows_caller(); }

    // try_take() and try_take_left_open() do not wait. They must not be called while single-threaded.
    bool try_take() { return take_from(free) || take_from(left_open); }
    bool try_take_left_open() { return take_from(left_open); }
    // Returns false if the engine is taken or left open.
    bool take_if_free() { return single_threaded_ || take_from(free); }
    void take() {
        if (!take_if_free()) take_slowly();
    }
    void take_slowly();
    // `as`: free or left_open. Must not be called while single-threaded.
    void release(State as) {
        mark_.clear();
        if (owned_.exchange(as, std::memory_order_release) == taken_and_wanted) wake_one();
    }
    // Do other threads wait for the engine?
    bool is_wanted() const { return contenders_.load(std::memory_order_relaxed) > 0; }
    // After release(): gives one of the waiting threads time to take the engine.
    void step_aside() const;

private:
    static bool is_free(uint32_t state) { return state == free || state == left_open; }
    bool take_from(uint32_t state) {
        bool took = owned_.compare_exchange_strong(state, taken, std::memory_order_acquire,
                                                   std::memory_order_relaxed);
        if (took) mark_.set();
        return took;
    }
    void wake_one();

    std::atomic<uint32_t> owned_{free};
    bool single_threaded_ = false;
    [[no_unique_address]] OwnerMark mark_;
    std::atomic<int32_t> contenders_{0};
};

}  // namespace lanyard
