// The harm that LANYARD_DGRAM_HARM does to packets on purpose (net/harmed_packets.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanyard {

struct Harm {
    uint32_t lost = 0, doubled = 0, overtaken = 0, damaged = 0;  // of a million packets
    // The most bytes of a packet, as on a network that carries no more; 0: the endpoint's limit.
    uint32_t longest = 0;
    uint64_t seed = 0;     // 0: a different one each time

    bool any() const { return lost || doubled || overtaken || damaged || longest; }
};

// Reads "loss=1,double=0.5,overtake=1,damage=0.1,longest=1472,seed=7", with parts in per cent. Returns "" or
// what is wrong with the text.
std::string parse_harm(std::string_view text, Harm &harm);

}  // namespace lanyard
