// See copy.h.
#include "base/copy.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/clock.h"
#include "base/copy_loops.h"
#include "base/sanitized.h"

namespace lanyard {

namespace {

constexpr size_t page = 4096;

// A sanitizer that checks only the program watches memcpy, so only memcpy is used then.
CopyFunction tried() {
    static const bool by_vectors =
        !only_program_is_sanitized() && is_better_for_near_targets(copy_by_vectors(), copy_by_memcpy());
    return by_vectors ? copy_by_vectors() : copy_by_memcpy();
}

void try_and_copy(void *to, const void *from, size_t bytes);

// How long copies to near targets are made. try_and_copy() takes the place of the chosen function until the
// trial has been made.
constinit std::atomic<CopyFunction> chosen{try_and_copy};

void try_and_copy(void *to, const void *from, size_t bytes) {
    CopyFunction found = tried(), expected = try_and_copy;
    chosen.compare_exchange_strong(expected, found, std::memory_order_relaxed);
    found(to, from, bytes);
}

// The least of several times, since disturbances only add to a time.
uint64_t ticks_of(CopyFunction copy, size_t distance_in_page) {
    alignas(page) static std::byte from[page], to[2 * page];
    uint64_t least = UINT64_MAX;
    for (int round = 0; round < 5; ++round) {
        uint64_t began = clock_ticks();
        copy(to + distance_in_page, from, page);
        least = std::min(least, clock_ticks() - began);
    }
    return least;
}

}  // namespace

void set_long_copy(LongCopy how) {
    chosen.store(how == LongCopy::by_memcpy    ? copy_by_memcpy()
                 : how == LongCopy::by_vectors ? copy_by_vectors()
                                               : try_and_copy,
                 std::memory_order_relaxed);
}

bool is_better_for_near_targets(CopyFunction other, CopyFunction usual) {
    if (other == usual) return false;
    uint64_t near = ticks_of(usual, 16);
    return near > 2 * ticks_of(usual, 1024) && near > 2 * ticks_of(other, 16);
}

void copy_long(void *to, const void *from, size_t bytes) {
    auto t = reinterpret_cast<uintptr_t>(to), f = reinterpret_cast<uintptr_t>(from);
    bool apart = t + bytes <= f || f + bytes <= t;
    size_t after = (t - f) % page;
    bool near = after > 0 && after < 32;
    if (near && apart && bytes <= longest_copy_bytes) chosen.load(std::memory_order_relaxed)(to, from, bytes);
    else std::memmove(to, from, bytes);
}

}  // namespace lanyard
