// By its SleepWord a process states that it sleeps or is about to sleep, and how it is to be woken. The word
// lies in the node's segment, or in memory of the process itself if there is no segment.
//
// The sleeper calls fall_asleep_soon(), looks for work once more, and sleeps. A process with work for the
// sleeper publishes the work and then calls wake_if_asleep(). Each of the two processes has a full memory
// barrier between its steps. So the sleeper sees the work, or the other process sees that the sleeper sleeps.
// If all processes that share the word are registered (base/barriers.h), the sleeper makes the barriers for
// both. Publishing then does not wait until the processor's stores are visible, but falling asleep takes some
// microseconds.
// Tested by: tests/unit/base/doorbell_test.cc.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "base/barriers.h"
#include "base/doorbell.h"
#include "base/futex.h"

namespace lanyard {

struct alignas(64) SleepWord {
    static constexpr uint32_t awake = 0, on_futex = 1, at_doorbell = 2;

    std::atomic<uint32_t> asleep;
    std::atomic<uint64_t> bell;  // the name of the doorbell that wakes a sleeper at_doorbell
    // Set by the owner before it sleeps for the first time; cleared when a barrier is refused later.
    std::atomic<bool> makes_both_barriers;

    // Called by the owner. `how` is on_futex or at_doorbell.
    void fall_asleep_soon(uint32_t how) {
        asleep.store(how, std::memory_order_relaxed);
        if (makes_both_barriers.load(std::memory_order_relaxed)) {
            if (barrier_everywhere()) return;
            leave_barriers_to_others();
        }
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    // Lets publishers make their own barriers from now on. A publisher that read the flag earlier published
    // without a barrier, so perhaps it does not see that this process sleeps. But the publisher's stores
    // become visible long before this process's nap ends, so this process sees the work when it looks for
    // work afterwards. (A processor delays stores for less than a microsecond, and delays no stores of a
    // thread that it has stopped running.)
    void leave_barriers_to_others() {
        constexpr timespec nap{0, 1'000'000};
        makes_both_barriers.store(false, std::memory_order_seq_cst);
        nanosleep(&nap, nullptr);
    }
    void wake_up() { asleep.store(awake, std::memory_order_relaxed); }
    // Sleeps on the futex until woken or until `limit_ns` has passed. `shared` is true if other processes may
    // wake the sleeper.
    void sleep(uint64_t limit_ns, bool shared) { futex_wait(asleep, on_futex, limit_ns, shared); }
};

inline void wake_sleeper(SleepWord &word, bool shared) {
    uint32_t how = word.asleep.exchange(SleepWord::awake, std::memory_order_relaxed);
    if (how == SleepWord::on_futex) futex_wake(word.asleep, 1, shared);
    else if (how == SleepWord::at_doorbell) ring_doorbell(word.bell.load(std::memory_order_relaxed));
}

// True if the word's owner may be asleep. Called after work was published. If false, the owner will see the
// published work before it sleeps.
inline bool seems_asleep(const SleepWord &word) {
    if (word.makes_both_barriers.load(std::memory_order_relaxed))
        std::atomic_signal_fence(std::memory_order_seq_cst);
    else std::atomic_thread_fence(std::memory_order_seq_cst);
    return word.asleep.load(std::memory_order_relaxed) != SleepWord::awake;
}

inline void wake_if_asleep(SleepWord &word, bool shared = true) {
    if (seems_asleep(word)) [[unlikely]] wake_sleeper(word, shared);
}

}  // namespace lanyard
