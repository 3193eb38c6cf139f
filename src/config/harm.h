// Describes the harm that is to be done to packets on purpose (LANYARD_DGRAM_HARM, net/harmed_packets.h).
// Tested by: tests/unit/net/harmed_packets_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanyard {

struct Harm {
    uint32_t lost = 0, doubled = 0, overtaken = 0, damaged = 0;  // how many of a million packets
    // The largest packet in bytes, as on a network that carries no larger packets. 0: only the endpoint's own
    // limit.
    uint32_t longest = 0;
    uint64_t seed = 0;     // 0: a different seed for each run

    bool any() const { return lost || doubled || overtaken || damaged || longest; }
};

// Reads "loss=1,double=0.5,overtake=1,damage=0.1,longest=1472,seed=7"; the first four numbers are percentages
// of the packets. Returns what is wrong with the text, or "". If something is wrong, `harm` may be changed in
// part.
std::string parse_harm(std::string_view text, Harm &harm);

}  // namespace lanyard
