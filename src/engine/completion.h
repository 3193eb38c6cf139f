// The one completion concept: an operation completes exactly once, by the thread that owns the engine. Three shapes of
// being told: test (complete()), wait (a Waiter counts down), or a continuation run inside the engine (`then`).
// Thread rule: complete() and done() by any thread; everything else by the engine's owner, so plain loads and stores do
// where otherwise a compare-and-swap would be needed. The completer touches the Completion last when it stores `done`, and
// the Waiter last when it decrements, so both may vanish right after.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanyard {

// Lives on the stack of a waiting thread: how many completions it still awaits. `remaining` starts at the number wanted.
struct Waiter {
    std::atomic<int32_t> remaining{0};
    bool done() const { return remaining.load(std::memory_order_acquire) <= 0; }
    void count_down() { remaining.store(remaining.load(std::memory_order_relaxed) - 1, std::memory_order_release); }
};

class Completion {
public:
    // Runs inside the engine instead of telling a Waiter. It may reuse or free the operation.
    void (*then)(Completion &) = nullptr;

    bool complete() const { return state_.load(std::memory_order_acquire) == done; }
    void reset() { state_.store(open, std::memory_order_relaxed); }
    // For what is complete from the start.
    void set_complete() { state_.store(done, std::memory_order_release); }

    void finish() {
        if (then) {
            state_.store(done, std::memory_order_release);
            return then(*this);
        }
        uintptr_t before = state_.load(std::memory_order_relaxed);
        state_.store(done, std::memory_order_release);
        if (before > done) reinterpret_cast<Waiter *>(before)->count_down();
    }
    // The waiter is told when this completes; false when it is complete already (the waiter is not touched).
    bool await(Waiter &waiter) {
        if (complete()) return false;
        state_.store(reinterpret_cast<uintptr_t>(&waiter), std::memory_order_relaxed);
        return true;
    }
    // The waiter is not told any more, unless it has been told already.
    void forget(Waiter &waiter) {
        if (state_.load(std::memory_order_relaxed) == reinterpret_cast<uintptr_t>(&waiter)) state_.store(open, std::memory_order_relaxed);
    }

private:
    static constexpr uintptr_t open = 0, done = 1;
    std::atomic<uintptr_t> state_{open};

public:
    void *context = nullptr;  // for `then`; last, as few need it
};

}  // namespace lanyard
