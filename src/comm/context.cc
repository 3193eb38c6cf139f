#include "comm/context.h"

namespace lanyard {
namespace {

// FNV-1a, finished by a multiply-shift mix so that every bit of the input reaches every bit of the id.
struct Hash {
    uint64_t value = 0xcbf29ce484222325;
    void byte(uint8_t b) { value = (value ^ b) * 0x100000001b3; }
    uint64_t finish() const {
        uint64_t mixed = value;
        for (uint64_t factor : {0xbf58476d1ce4e5b9, 0x94d049bb133111eb}) mixed = (mixed ^ mixed >> 30) * factor;
        return mixed ^ mixed >> 31;
    }
};

}  // namespace

uint64_t derived_context(std::string_view stringtag, const Peers &peers) {
    Hash hash;
    for (char c : stringtag) hash.byte(static_cast<uint8_t>(c));
    hash.byte(0);
    for (uint32_t peer : peers)
        for (int shift = 0; shift < 32; shift += 8) hash.byte(static_cast<uint8_t>(peer >> shift));
    return derived_bit | (hash.finish() & ~(partitioned_bit | creation_bit | collective_bit));
}

}  // namespace lanyard
