#include "base/streaming_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace lanyard {

#if defined(__x86_64__)

void copy_streaming(void *to, const void *from, size_t bytes) {
    constexpr size_t line = 64;
    auto *t = static_cast<char *>(to);
    const auto *f = static_cast<const char *>(from);
    size_t head = std::min(bytes, -reinterpret_cast<uintptr_t>(t) % line);
    std::memcpy(t, f, head);
    size_t whole = (bytes - head) / line * line;
    for (size_t at = head; at < head + whole; at += line) {
        __m128i part[4];
        for (int i = 0; i < 4; ++i) part[i] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(f + at) + i);
        for (int i = 0; i < 4; ++i) _mm_stream_si128(reinterpret_cast<__m128i *>(t + at) + i, part[i]);
    }
    _mm_sfence();  // what is published from now on comes after these bytes
    std::memcpy(t + head + whole, f + head + whole, bytes - head - whole);
}

#else

void copy_streaming(void *to, const void *from, size_t bytes) { std::memcpy(to, from, bytes); }

#endif

}  // namespace lanyard
