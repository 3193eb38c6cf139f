// Moves cache lines between processors ahead of time: fetches a line that this processor is about to write,
// and demotes a line that another one is about to read. Both are hints, and read and change no memory.
// Tested by: tests/unit/path/short_ring_test.cc.
#pragma once

#include <atomic>
#include <cstddef>

namespace lanyard {

constexpr size_t cache_line_bytes = 64;

// [any thread] Asks for the cache line at this address, and takes it away from other processors. Does not
// wait, and reads nothing: the address may be invalid. For x86-64 without extensions, GCC translates
// __builtin_prefetch(..., 1) to an instruction that leaves the line with the other processors too.
// (Processors that do not have the instruction used here treat it as an empty one.)
inline void fetch_to_write(const void *address) {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char *>(address)));
#else
    __builtin_prefetch(address, 1);
#endif
}

// Does demote() do anything? Another processor finds a demoted line in the cache that all share, sooner than
// in this processor's own. A thread of the same core finds it later.
inline std::atomic<bool> demotes{false};

// [any thread] Moves the lines with these bytes, which this processor has written, to the cache that all
// processors share. (Processors that do not have the instruction used here, such as AMD's, treat it as an
// empty one.)
inline void demote(const void *begin, size_t bytes) {
#if defined(__x86_64__)
    if (!demotes.load(std::memory_order_relaxed)) return;
    for (size_t done = 0; done < bytes; done += cache_line_bytes)
        asm volatile("cldemote %0" : : "m"(static_cast<const char *>(begin)[done]) : "memory");
#else
    static_cast<void>(begin);
    static_cast<void>(bytes);
#endif
}

}  // namespace lanyard
