// A team: what a collective schedule needs to know of its communicator, and nothing more.
#pragma once

#include <cstdint>

namespace lanyard {

struct Team {
    uint64_t context = 0;             // with collective_bit set
    int index = 0;                    // of this process
    int size = 1;
    const uint32_t *peers = nullptr;  // by index: numbers of the peer table
    uint32_t sequence = 0;            // collectives started so far; the tag of the next one's messages
    std::byte *node_area = nullptr;   // memory shared by all of the team when they are on one node, else nullptr
    size_t node_area_bytes = 0;
};

}  // namespace lanyard
