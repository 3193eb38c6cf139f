// Sleeping on a word of memory, also across processes (the word then lies in shared memory).
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace lanyard {

// Sleeps while *word == expected, until woken or timeout_ns is over (0: no limit). Wakes may be spurious.
inline void futex_wait(std::atomic<uint32_t> &word, uint32_t expected, uint64_t timeout_ns, bool shared) {
    timespec limit{static_cast<time_t>(timeout_ns / 1'000'000'000u), static_cast<long>(timeout_ns % 1'000'000'000u)};
    syscall(SYS_futex, &word, shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, expected, timeout_ns ? &limit : nullptr, nullptr, 0);
}

inline void futex_wake(std::atomic<uint32_t> &word, int threads, bool shared) {
    syscall(SYS_futex, &word, shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

}  // namespace lanyard
