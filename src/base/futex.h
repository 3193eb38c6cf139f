// Lets a thread sleep on a word of memory until another thread wakes it. With `shared`, the word lies in
// shared memory, and the sleeper and the thread that wakes it may belong to different processes. Any thread.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace lanyard {

// Sleeps until woken or until limit_ns has passed (no_limit: no limit). Returns at once if the word does not
// equal `expected`. May also return without a reason.
inline void futex_wait(std::atomic<uint32_t> &word, uint32_t expected, uint64_t limit_ns, bool shared) {
    timespec limit = to_timespec(limit_ns);
    syscall(SYS_futex, &word, shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, expected,
            limit_ns == no_limit ? nullptr : &limit, nullptr, 0);
}

inline void futex_wake(std::atomic<uint32_t> &word, int threads, bool shared) {
    syscall(SYS_futex, &word, shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

}  // namespace lanyard
