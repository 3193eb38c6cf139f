#include "base/crc32c.h"

#include <dlfcn.h>

#include <array>
#include <cstring>

namespace lanyard {

namespace {

// Remainders of all bytes; the polynomial's bits are in reverse.
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
__attribute__((target("sse4.2"))) unsigned by_instruction(unsigned char *data, int bytes, unsigned before) {
    uint64_t rest = before;
    for (; bytes >= 8; bytes -= 8, data += 8) {
        uint64_t word;
        std::memcpy(&word, data, 8);
        rest = __builtin_ia32_crc32di(rest, word);
    }
    auto last = static_cast<uint32_t>(rest);
    for (; bytes > 0; --bytes) last = __builtin_ia32_crc32qi(last, *data++);
    return last;
}
auto *best_built_in() { return __builtin_cpu_supports("sse4.2") ? by_instruction : by_table; }
#else
auto *best_built_in() { return by_table; }
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
    void *library = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);  // stays
    void *function = library ? dlsym(library, "crc32_iscsi") : nullptr;
    if (!function) {
        const char *trouble = dlerror();
        return Error(ErrorClass::other, "LANYARD_CHECKSUM=on needs ISA-L on each machine of the job (Debian: apt-get install libisal2): " +
                                            std::string(trouble ? trouble : "it has no crc32_iscsi"));
    }
    made.function_ = reinterpret_cast<unsigned (*)(unsigned char *, int, unsigned)>(function);
    return {};
}

}  // namespace lanyard
