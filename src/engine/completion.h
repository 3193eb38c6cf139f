// How operations complete. An operation completes exactly once, by the thread that owns the engine. The
// completion is noticed in one of three ways: it is tested (complete()), a Waiter counts it, or a
// continuation runs inside the engine (`then`).
// Thread rule: complete() and Waiter::done() by any thread, everything else by the engine's owner. Plain
// loads and stores are therefore sufficient where a compare-and-swap would be needed otherwise. Storing
// `done` is the completer's last access to the Completion, and the decrement is its last access to the
// Waiter. Both may therefore be destroyed right afterwards.
#pragma once

#include <atomic>
#include <cstdint>

namespace lanyard {

// On the stack of a waiting thread: the number of completions that it still awaits. `remaining` starts at the
// number wanted.
struct Waiter {
    std::atomic<int32_t> remaining{0};
    bool done() const { return remaining.load(std::memory_order_acquire) <= 0; }
    void count_down() {
        remaining.store(remaining.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    }
};

class Completion {
public:
    // If set, runs inside the engine; no Waiter is informed then. It may reuse or free the operation.
    void (*then)(Completion &) = nullptr;

    bool complete() const { return state_.load(std::memory_order_acquire) == done; }
    void reset() { state_.store(open, std::memory_order_relaxed); }
    // For an operation that is complete from the start.
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
    // The waiter is counted down when this completes. Returns false if it is complete already (the waiter is
    // not touched).
    bool await(Waiter &waiter) {
        if (complete()) return false;
        state_.store(reinterpret_cast<uintptr_t>(&waiter), std::memory_order_relaxed);
        return true;
    }
    // The waiter is no longer counted down, unless that has already happened.
    void forget(Waiter &waiter) {
        if (state_.load(std::memory_order_relaxed) == reinterpret_cast<uintptr_t>(&waiter))
            state_.store(open, std::memory_order_relaxed);
    }

private:
    static constexpr uintptr_t open = 0, done = 1;
    std::atomic<uintptr_t> state_{open};

public:
    void *context = nullptr;  // for `then`; last, since few operations need it
};

}  // namespace lanyard
