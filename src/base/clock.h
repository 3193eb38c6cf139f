// The monotonic clock in nanoseconds. Read once per engine step and passed down as `now_ns`.
#pragma once

#include <time.h>

#include <cstdint>

namespace lanyard {

inline uint64_t clock_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace lanyard
