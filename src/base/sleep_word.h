// The word by which a process states that it sleeps, or is about to, and how it is to be woken. It lies in
// the node's segment, or in the process itself if there is none.
//
// The sleeper calls fall_asleep_soon(), looks for work once more, and sleeps. A process with work for it
// publishes the work, then calls wake_if_asleep(). Each has a full barrier between its two steps, so at least
// one of them sees the other. If all processes that share the word are registered (base/barriers.h), the
// sleeper makes both barriers. Publishing then does not wait for the processor's stores, and falling asleep
// takes some microseconds.
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
    std::atomic<uint64_t> bell;  // for a sleeper at_doorbell
    std::atomic<bool> makes_both_barriers;  // set by the owner before it sleeps for the first time

    void fall_asleep_soon(uint32_t how) {
        asleep.store(how, std::memory_order_relaxed);
        if (makes_both_barriers.load(std::memory_order_relaxed)) {
            if (barrier_everywhere()) return;
            leave_barriers_to_others();
        }
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    // Applies from now on. A publisher that read the flag before, and published without a barrier, may miss
    // that this process sleeps. But its stores are visible long before the nap ends, so the look for work
    // that follows sees them. (A processor delays stores for less than a microsecond, and delays none for a
    // thread that it does not run.)
    void leave_barriers_to_others() {
        constexpr timespec nap{0, 1'000'000};
        makes_both_barriers.store(false, std::memory_order_seq_cst);
        nanosleep(&nap, nullptr);
    }
    void wake_up() { asleep.store(awake, std::memory_order_relaxed); }
    // Sleeps on the futex (no_limit: until woken). `shared`: other processes wake it.
    void sleep(uint64_t limit_ns, bool shared) { futex_wait(asleep, on_futex, limit_ns, shared); }
};

inline void wake_sleeper(SleepWord &word, bool shared) {
    uint32_t how = word.asleep.exchange(SleepWord::awake, std::memory_order_relaxed);
    if (how == SleepWord::on_futex) futex_wake(word.asleep, 1, shared);
    else if (how == SleepWord::at_doorbell) ring_doorbell(word.bell.load(std::memory_order_relaxed));
}

// Called after publishing. False: the other sees what was published before it sleeps.
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
