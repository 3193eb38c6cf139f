// A Completion shows whether an operation is complete. An operation completes exactly once, in the thread
// that owns the engine. The completion is noticed in one of three ways: it is tested (complete()), a Waiter
// counts it, or a continuation runs inside the engine (`then`).
// Thread rule: complete() and Waiter::done() by any thread, everything else by the engine's owner. Plain
// loads and stores are therefore sufficient where a compare-and-swap would be needed otherwise. If `then` is
// not set, storing `done` is the completer's last access to the Completion. The decrement of `remaining` is
// the completer's last access to the Waiter. The Completion and the Waiter may therefore be destroyed right
// afterwards.
// Tested by: tests/unit/engine/engine_test.cc.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanyard {

// Lives on the stack of a waiting thread. `remaining` is the number of completions that the thread still
// awaits. The thread sets it to the number of completions for which it waits.
struct Waiter {
    std::atomic<int32_t> remaining{0};
    bool done() const { return remaining.load(std::memory_order_acquire) <= 0; }
    void count_down() {
        remaining.store(remaining.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    }
};

class Completion {
public:
    // The continuation. If it is set, finish() calls it inside the engine and counts down no Waiter. The
    // continuation may reuse or free the operation.
    void (*then)(Completion &) = nullptr;

    bool complete() const { return state_.load(std::memory_order_acquire) == done; }
    // Prepares another use of an operation that is complete or was never started.
    void reset() { state_.store(open, std::memory_order_relaxed); }
    // Marks an operation that is complete from the start.
    void set_complete() { state_.store(done, std::memory_order_release); }

    // Completes the operation; called exactly once for each. The operation may no longer exist when finish()
    // returns.
    void finish() {
        if (then) {
            state_.store(done, std::memory_order_release);
            return then(*this);
        }
        uintptr_t before = state_.load(std::memory_order_relaxed);
        state_.store(done, std::memory_order_release);
        if (before > done) reinterpret_cast<Waiter *>(before)->count_down();
    }
    // Registers the waiter, which is counted down when the operation completes. If the operation is complete
    // already, leaves the waiter untouched and returns false. Requires that neither another waiter nor `then`
    // is set. The waiter must live until it is counted down or forgotten.
    bool await(Waiter &waiter) {
        if (complete()) return false;
        state_.store(reinterpret_cast<uintptr_t>(&waiter), std::memory_order_relaxed);
        return true;
    }
    // Removes the waiter, so that it is not counted down later. No effect if it has been counted down
    // already.
    void forget(Waiter &waiter) {
        if (state_.load(std::memory_order_relaxed) == reinterpret_cast<uintptr_t>(&waiter))
            state_.store(open, std::memory_order_relaxed);
    }

private:
    static constexpr uintptr_t open = 0, done = 1;
    std::atomic<uintptr_t> state_{open};

public:
    void *context = nullptr;  // for use by `then`; the last member, since few operations need it
};

}  // namespace lanyard
