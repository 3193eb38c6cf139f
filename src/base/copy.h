// How bytes are copied: a few inline, many from memory that begins where memcpy is not slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lanyard {

// Shared memory for long payloads begins this many bytes after the beginning of a page. On AMD's Zen 3,
// `rep movsb`, and so memcpy, takes about ten times as long if the target's place in its page is 1 to 31
// bytes after the source's. A long block of malloc() begins 16 bytes after a page.
constexpr size_t off_page = 1024;

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
