// See crc32c.h. A checksum is computed by a table, by the instruction of SSE 4.2, or by a function of ISA-L.
#include "base/crc32c.h"

#include <dlfcn.h>

#include <array>
#include <cstring>

namespace lanyard {

namespace {

using Function = unsigned(unsigned char *data, int bytes, unsigned before);

// The remainder for each value of a byte. The bits of the polynomial are in reverse order.
constexpr std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> made{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) rest = rest & 1 ? rest >> 1 ^ 0x82f63b78u : rest >> 1;
        made[byte] = rest;
    }
    return made;
}();

unsigned by_table(unsigned char *data, int bytes, unsigned before) {
    for (int i = 0; i < bytes; ++i) before = before >> 8 ^ table[(before ^ data[i]) & 255];
    return before;
}

#if defined(__x86_64__)
// The result of the instruction is ready after three cycles, but another such instruction can start in each
// cycle. So the checksums of three adjacent parts of the data are computed side by side. They are then
// combined: the checksum of an earlier part is advanced over the bytes of the part that follows.
constexpr int part_bytes = 240;  // six parts cover nearly all of a packet on Ethernet

// Advances a checksum over `part_bytes` zero bytes. This function is linear, so its result for a checksum is
// the sum of its results for the four bytes of the checksum.
struct Advance {
    uint32_t by_byte[4][256];
    uint32_t operator()(uint32_t rest) const {
        return by_byte[0][rest & 255] ^ by_byte[1][rest >> 8 & 255] ^ by_byte[2][rest >> 16 & 255] ^
               by_byte[3][rest >> 24];
    }
};

Advance advance_over_part() {
    Advance made{};
    for (uint32_t place = 0; place < 4; ++place)
        for (uint32_t byte = 0; byte < 256; ++byte) {
            uint32_t rest = byte << 8 * place;
            for (int i = 0; i < part_bytes; ++i) rest = rest >> 8 ^ table[rest & 255];
            made.by_byte[place][byte] = rest;
        }
    return made;
}

uint64_t word_at(const unsigned char *data) {
    uint64_t word;
    std::memcpy(&word, data, sizeof word);
    return word;
}

__attribute__((target("sse4.2"))) unsigned by_instruction(unsigned char *data, int bytes, unsigned before) {
    uint64_t rest = before;
    if (bytes >= 3 * part_bytes) {
        static const Advance advance = advance_over_part();
        for (; bytes >= 3 * part_bytes; bytes -= 3 * part_bytes, data += 3 * part_bytes) {
            uint64_t second = 0, third = 0;
            for (int at = 0; at < part_bytes; at += 8) {
                rest = __builtin_ia32_crc32di(rest, word_at(data + at));
                second = __builtin_ia32_crc32di(second, word_at(data + part_bytes + at));
                third = __builtin_ia32_crc32di(third, word_at(data + 2 * part_bytes + at));
            }
            rest = advance(static_cast<uint32_t>(rest)) ^ second;
            rest = advance(static_cast<uint32_t>(rest)) ^ third;
        }
    }
    for (; bytes >= 8; bytes -= 8, data += 8) rest = __builtin_ia32_crc32di(rest, word_at(data));
    auto last = static_cast<uint32_t>(rest);
    for (; bytes > 0; --bytes) last = __builtin_ia32_crc32qi(last, *data++);
    return last;
}
auto *best_built_in() { return __builtin_cpu_supports("sse4.2") ? by_instruction : by_table; }

// ISA-L's function with AVX leaves the upper halves of registers in use. Until these halves are cleared, SSE
// arithmetic of the program takes up to two and a half times as long.
Function *of_library = nullptr;
__attribute__((target("avx"))) unsigned by_library(unsigned char *data, int bytes, unsigned before) {
    unsigned made = of_library(data, bytes, before);
    __builtin_ia32_vzeroupper();
    return made;
}
Function *tidied(Function *function) {
    of_library = function;
    return __builtin_cpu_supports("avx") ? by_library : function;
}
#else
auto *best_built_in() { return by_table; }
Function *tidied(Function *function) { return function; }
#endif

}  // namespace

Crc32c Crc32c::built_in() {
    Crc32c made;
    made.function_ = best_built_in();
    return made;
}

Crc32c Crc32c::of_table() {
    Crc32c made;
    made.function_ = by_table;
    return made;
}

Error Crc32c::load(Crc32c &made) {
    void *library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);  // stays loaded
    void *function = library ? dlsym(library, "crc32_iscsi") : nullptr;
    if (!function) {
        const char *trouble = dlerror();
        return Error(ErrorClass::other,
                     "LANYARD_CHECKSUM=on needs ISA-L on each machine of the job (Debian: apt-get install "
                     "libisal2): " +
                         std::string(trouble ? trouble : "it has no crc32_iscsi"));
    }
    made.function_ = tidied(reinterpret_cast<Function *>(function));
    return {};
}

}  // namespace lanyard
