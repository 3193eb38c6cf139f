// What LANYARD_DGRAM_HARM does to packets on purpose (net/harmed_packets.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanyard {

// Of a million packets.
struct Harm {
    uint32_t lost = 0, doubled = 0, overtaken = 0, damaged = 0;
    uint64_t seed = 1;

    bool any() const { return lost || doubled || overtaken || damaged; }
};

// "loss=1,double=0.5,overtake=1,damage=0.1,seed=7", in per cent; "" or what is wrong with it.
std::string parse_harm(std::string_view text, Harm &harm);

}  // namespace lanyard
