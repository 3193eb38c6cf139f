// Copies a few bytes inline, for payload that travels beside the envelope. For so few bytes a call of memcpy
// costs more than the copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lanyard {

// Copies at most 32 bytes, as two halves that may overlap, instead of looping.
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
