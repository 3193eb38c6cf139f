// Reads the monotonic clock in nanoseconds. The engine reads the clock every few turns, and passes the time
// down as `now_ns`. Any thread.
#pragma once

#include <time.h>

#include <cstdint>

namespace lanyard {

constexpr uint64_t second_ns = 1'000'000'000;
// As the limit of a sleep: sleep until woken, however long that takes.
constexpr uint64_t no_limit = UINT64_MAX;

inline timespec to_timespec(uint64_t ns) {
    return {static_cast<time_t>(ns / second_ns), static_cast<long>(ns % second_ns)};
}

inline uint64_t clock_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * second_ns + static_cast<uint64_t>(t.tv_nsec);
}

// A clock that can be read within a few nanoseconds. Its unit is constant, but depends on the machine. For
// code that reads the time much more often than it needs the time in nanoseconds.
inline uint64_t clock_ticks() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return clock_ns();
#endif
}

}  // namespace lanyard
