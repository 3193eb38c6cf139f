// Fetches a cache line that this processor is about to write.
// Tested by: tests/unit/path/short_ring_test.cc.
#pragma once

namespace lanyard {

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

}  // namespace lanyard
