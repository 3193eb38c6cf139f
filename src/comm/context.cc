// See context.h.
#include "comm/context.h"

namespace lanyard {
namespace {

// FNV-1a, then rounds of shift, xor and multiplication with the factors of splitmix64, so that every input
// bit affects every bit of the id, except the bits that finish() sets or clears.
struct Hash {
    uint64_t value = 0xcbf29ce484222325;
    void byte(uint8_t b) { value = (value ^ b) * 0x100000001b3; }
    void text(std::string_view text) {
        for (char c : text) byte(static_cast<uint8_t>(c));
        byte(0);
    }
    void number(uint64_t number, int bits) {
        for (int shift = 0; shift < bits; shift += 8) byte(static_cast<uint8_t>(number >> shift));
    }
    void name(ProcessName name) {
        number(name.job, 32);
        number(name.number, 32);
    }
    uint64_t finish() const {
        uint64_t mixed = value;
        for (uint64_t factor : {0xbf58476d1ce4e5b9, 0x94d049bb133111eb})
            mixed = (mixed ^ mixed >> 30) * factor;
        mixed ^= mixed >> 31;
        return derived_bit | (mixed & ~(partitioned_bit | creation_bit | collective_bit));
    }
};

}  // namespace

uint64_t derived_context(std::string_view stringtag, const Processes &processes, const Peers &peers) {
    Hash hash;
    hash.text(stringtag);
    for (uint32_t peer : peers) hash.name(processes.name(peer));
    return hash.finish();
}

uint64_t derived_context(std::string_view jobs, ProcessName creator, uint64_t counter) {
    Hash hash;
    hash.text(jobs);
    // With this byte, the hashed bytes differ from all that the function for a string tag and a group hashes.
    hash.byte(1);
    hash.name(creator);
    hash.number(counter, 64);
    return hash.finish();
}

}  // namespace lanyard
