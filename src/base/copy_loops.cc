// See copy_loops.h.
#include "base/copy_loops.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace lanyard {

namespace {

// The loops that this processor can run. They take no allocated memory, because a message may need
// copy_streaming() when there is none left.
struct Loops {
    void add(const CopyLoop &loop) { all[count++] = loop; }

    std::array<CopyLoop, 10> all{};
    size_t count = 0;
};

constexpr const char *vectors_name = "256 bits";

void copy_plainly(void *to, const void *from, size_t bytes) { std::memcpy(to, from, bytes); }

#if defined(__x86_64__)

constexpr size_t line_bytes = 64;
// How far ahead of the copy the source is fetched.
constexpr size_t ahead_bytes = 8 * line_bytes;

// The following copy whole cache lines to an aligned address.

[[gnu::target("avx")]] void lines_256(char *to, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += line_bytes) {
        __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + at));
        __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + at) + 1);
        _mm256_store_si256(reinterpret_cast<__m256i *>(to + at), first);
        _mm256_store_si256(reinterpret_cast<__m256i *>(to + at) + 1, second);
    }
}

[[gnu::target("avx")]] void lines_256_fetched(char *to, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += line_bytes) {
        _mm_prefetch(from + std::min(at + ahead_bytes, bytes - 1), _MM_HINT_T0);
        __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + at));
        __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + at) + 1);
        _mm256_store_si256(reinterpret_cast<__m256i *>(to + at), first);
        _mm256_store_si256(reinterpret_cast<__m256i *>(to + at) + 1, second);
    }
}

[[gnu::target("avx512f")]] void lines_512(char *to, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += line_bytes)
        _mm512_store_si512(reinterpret_cast<__m512i *>(to + at), _mm512_loadu_si512(from + at));
}

// A line is written in one part, or in as few parts as possible: with one store for each line, the rate is
// 1.5 times that with four stores.

void stream_128(char *to, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += line_bytes) {
        __m128i part[4];
        for (int i = 0; i < 4; ++i)
            part[i] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + at) + i);
        for (int i = 0; i < 4; ++i) _mm_stream_si128(reinterpret_cast<__m128i *>(to + at) + i, part[i]);
    }
    _mm_sfence();
}

[[gnu::target("avx")]] void stream_256(char *to, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += line_bytes) {
        __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + at));
        __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + at) + 1);
        _mm256_stream_si256(reinterpret_cast<__m256i *>(to + at), first);
        _mm256_stream_si256(reinterpret_cast<__m256i *>(to + at) + 1, second);
    }
    _mm_sfence();
}

[[gnu::target("avx512f")]] void stream_512(char *to, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += line_bytes)
        _mm512_stream_si512(reinterpret_cast<__m512i *>(to + at), _mm512_loadu_si512(from + at));
    _mm_sfence();
}

void demote(char *lines, size_t bytes) {
    // The instruction CLDEMOTE. A processor without it takes it for one that does nothing.
    for (size_t at = 0; at < bytes; at += line_bytes)
        __asm__ volatile(".byte 0x0f, 0x1c, 0x00" ::"a"(lines + at) : "memory");
}

[[gnu::target("avx")]] void demoted_256(char *to, const char *from, size_t bytes) {
    lines_256(to, from, bytes);
    demote(to, bytes);
}

// Copies the first 64 bytes, then the target's whole lines by `lines`, then the last 64 bytes. The first and
// the last 64 bytes may overlap the whole lines, so that their number is constant.
template <void (*lines)(char *, const char *, size_t)>
void copy_by(void *to, const void *from, size_t bytes) {
    if (bytes < 2 * line_bytes) {
        std::memcpy(to, from, bytes);
        return;
    }
    auto *t = static_cast<char *>(to);
    const auto *f = static_cast<const char *>(from);
    size_t head = line_bytes - reinterpret_cast<uintptr_t>(t) % line_bytes;
    std::memcpy(t, f, line_bytes);
    lines(t + head, f + head, (bytes - head) / line_bytes * line_bytes);
    std::memcpy(t + bytes - line_bytes, f + bytes - line_bytes, line_bytes);
}

// Copies the target's whole lines by `lines`, and what is before and after them by memcpy. A line that
// is not to stay in this processor's caches is not written a second time.
template <void (*lines)(char *, const char *, size_t)>
void stream_by(void *to, const void *from, size_t bytes) {
    auto *t = static_cast<char *>(to);
    const auto *f = static_cast<const char *>(from);
    size_t head = std::min(bytes, -reinterpret_cast<uintptr_t>(t) % line_bytes);
    size_t whole = (bytes - head) / line_bytes * line_bytes;
    std::memcpy(t, f, head);
    if (whole) lines(t + head, f + head, whole);
    std::memcpy(t + head + whole, f + head + whole, bytes - head - whole);
}

void copy_by_string(void *to, const void *from, size_t bytes) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
}

bool has_demote() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c >> 25 & 1);
}

// The last one is the streaming loop with the widest stores.
Loops usable_loops() {
    bool avx = __builtin_cpu_supports("avx"), avx512 = __builtin_cpu_supports("avx512f");
    Loops loops;
    loops.add({"memcpy", copy_plainly, true});
    loops.add({"rep movsb", copy_by_string, true});
    if (avx) loops.add({vectors_name, copy_by<lines_256>, true});
    if (avx) loops.add({"256 bits, fetched ahead", copy_by<lines_256_fetched>, true});
    if (avx512) loops.add({"512 bits", copy_by<lines_512>, true});
    if (avx && has_demote()) loops.add({"256 bits, demoted", stream_by<demoted_256>, false});
    loops.add({"128 bits, streaming", stream_by<stream_128>, false});
    if (avx) loops.add({"256 bits, streaming", stream_by<stream_256>, false});
    if (avx512) loops.add({"512 bits, streaming", stream_by<stream_512>, false});
    return loops;
}

#else

Loops usable_loops() {
    Loops loops;
    loops.add({"memcpy", copy_plainly, true});
    return loops;
}

#endif

}  // namespace

std::span<const CopyLoop> copy_loops() {
    static const Loops loops = usable_loops();
    return {loops.all.data(), loops.count};
}

CopyFunction copy_by_vectors() {
    static const CopyFunction copy = [] {
        for (const CopyLoop &loop : copy_loops())
            if (std::string_view(loop.name) == vectors_name) return loop.copy;
        return copy_loops().front().copy;
    }();
    return copy;
}

void copy_streaming(void *to, const void *from, size_t bytes) {
    static const auto copy = copy_loops().back().copy;
    copy(to, from, bytes);
}

}  // namespace lanyard
