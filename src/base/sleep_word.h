// The word by which a process says that it sleeps, or is about to, and how it wants to be woken. It lies in the node's segment, or in
// the process itself where there is none.
//
// Who sleeps: fall_asleep_soon(), look once more for work, sleep. Who has something for it: publish, then wake_if_asleep(). There is a full barrier
// between the two steps of either, so that one of the two always sees the other. Where all who share the word are registered for that
// (base/barriers.h) the sleeper makes both barriers: publishing costs no wait for the processor's stores then, falling asleep some us.
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
    std::atomic<uint64_t> bell;  // of a sleeper at_doorbell
    std::atomic<bool> makes_both_barriers;  // set by the owner before it sleeps for the first time

    void fall_asleep_soon(uint32_t how) {
        asleep.store(how, std::memory_order_relaxed);
        if (makes_both_barriers.load(std::memory_order_relaxed)) {
            if (barrier_everywhere()) return;
            leave_barriers_to_others();
        }
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    // From now on. Who has looked at the flag before, and published without a barrier, does not see that this one sleeps; but its stores are out
    // long before the nap is over, and are seen by the look that follows. (A processor keeps them for less than a microsecond, and while a thread
    // has none it keeps none of it.)
    void leave_barriers_to_others() {
        constexpr timespec nap{0, 1'000'000};
        makes_both_barriers.store(false, std::memory_order_seq_cst);
        nanosleep(&nap, nullptr);
    }
    void wake_up() { asleep.store(awake, std::memory_order_relaxed); }
    // On the futex; no_limit: until woken. `shared`: other processes wake it.
    void sleep(uint64_t limit_ns, bool shared) { futex_wait(asleep, on_futex, limit_ns, shared); }
};

inline void wake_sleeper(SleepWord &word, bool shared) {
    uint32_t how = word.asleep.exchange(SleepWord::awake, std::memory_order_relaxed);
    if (how == SleepWord::on_futex) futex_wake(word.asleep, 1, shared);
    else if (how == SleepWord::at_doorbell) ring_doorbell(word.bell.load(std::memory_order_relaxed));
}

// After publishing: false where the other sees what was published before it sleeps.
inline bool seems_asleep(const SleepWord &word) {
    if (word.makes_both_barriers.load(std::memory_order_relaxed)) std::atomic_signal_fence(std::memory_order_seq_cst);
    else std::atomic_thread_fence(std::memory_order_seq_cst);
    return word.asleep.load(std::memory_order_relaxed) != SleepWord::awake;
}

inline void wake_if_asleep(SleepWord &word, bool shared = true) {
    if (seems_asleep(word)) [[unlikely]] wake_sleeper(word, shared);
}

}  // namespace lanyard
