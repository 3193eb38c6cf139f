// How bytes are copied: a few inline, and many by a loop that is not slow for any pair of addresses.
//
// On AMD's Zen 3 and Zen 4 the instruction `rep movsb` takes about ten times as long if the target is *near*
// the source: its place in its page is 1 to 31 bytes after the source's. Many versions of glibc use this
// instruction there to copy from 2113 bytes up to the size of the second-level cache (glibc's bug 30994).
// Near pairs are common: a long block of malloc() begins 16 bytes after a page. Between other addresses this
// instruction is the best choice: between two cores it fills shared memory at twice the rate of a loop of
// loads and stores.
//
// Tested by: tests/unit/base/copy_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lanyard {

using CopyFunction = void (*)(void *to, const void *from, size_t bytes);

// Shared memory for long payloads begins this many bytes after the beginning of a page, so that it is not
// near long blocks of malloc().
constexpr size_t off_page = 1024;

// How copy_bytes() copies long_copy_bytes to longest_copy_bytes to a near target. Everything else is copied
// by memcpy.
enum class LongCopy {
    automatic,  // by vectors if a trial shows that memcpy is slow and they are not, else by memcpy
    by_memcpy,
    by_vectors,  // a loop of 256-bit loads and stores if the processor has them, otherwise memcpy
};
constexpr size_t long_copy_bytes = 2048, longest_copy_bytes = size_t{1} << 20;

// [any thread] Applies to copies of the whole process that begin afterwards. The trial of `automatic` takes
// about 20 us and is made once, by the first long copy to a near target.
void set_long_copy(LongCopy how);

// Is `usual` slow for near targets, and `other` at least twice as fast there? Not to be called by two threads
// at a time.
bool is_better_for_near_targets(CopyFunction other, CopyFunction usual);

void copy_long(void *to, const void *from, size_t bytes);

// [any thread] Copies payload and other data that may be long. If the two overlap, which a correct program
// avoids, the target gets what the source was.
inline void copy_bytes(void *to, const void *from, size_t bytes) {
    if (bytes < long_copy_bytes) std::memmove(to, from, bytes);
    else copy_long(to, from, bytes);
}

// Copies at most 32 bytes inline, as two halves that may overlap, for payload that travels beside the
// envelope. For so few bytes a call of memcpy costs more than the copy.
[[gnu::always_inline]] inline void copy_few(void *to, const void *from, size_t bytes) {
    auto *t = static_cast<char *>(to);
    const auto *f = static_cast<const char *>(from);
    auto ends = [&]<class Word>(Word first, Word last) {
        std::memcpy(&first, f, sizeof first);
        std::memcpy(&last, f + bytes - sizeof last, sizeof last);
        std::memcpy(t, &first, sizeof first);
        std::memcpy(t + bytes - sizeof last, &last, sizeof last);
    };
    struct Wide {
        uint64_t half[2];
    };
    if (bytes >= 16) ends(Wide{}, Wide{});
    else if (bytes >= 8) ends(uint64_t{}, uint64_t{});
    else if (bytes >= 4) ends(uint32_t{}, uint32_t{});
    else if (bytes >= 2) ends(uint16_t{}, uint16_t{});
    else if (bytes == 1) *t = *f;
}

}  // namespace lanyard
