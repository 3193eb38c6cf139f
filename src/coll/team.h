// A team: what a collective schedule needs to know of its communicator, and nothing more. Belongs to the communicator,
// which lives until every collective started on it is complete. Touched by the engine's owner only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanyard {

// Collectives that went through the node area. Which of them are over is counted in order, as others read it from there.
struct NodeUse {
    uint32_t started = 0;        // generations handed out; the same on every rank, as all start the same collectives
    uint32_t done_through = 0;   // this rank has finished all up to here
    uint64_t done_beyond = 0;    // bit i: generation done_through + 1 + i is finished too
    uint32_t known_done = 0;     // every rank has finished all up to here, as far as this rank has read
    uint32_t slot_bytes = 0;     // of the area, once computed
};

constexpr int collective_operations = 16;
constexpr int size_classes = 48;

struct Team {
    uint64_t context = 0;             // with collective_bit set
    int index = 0;                    // of this process
    int size = 1;
    const uint32_t *peers = nullptr;  // by index: numbers of the peer table
    uint32_t sequence = 0;            // collectives started so far; part of the tag of the next one's messages
    uint32_t persistent = 0;          // persistent ones made so far; likewise
    std::byte *node_area = nullptr;   // memory shared by all of the team when they are on one node, else nullptr
    size_t node_area_bytes = 0;       // zero at first; how much is wanted: node_area_bytes(size) in node_area.h
    // Processors that all of the team's ranks on a node may use together; 0: each has its own. Algorithms are chosen by it,
    // so it must be the same number on every rank: whoever makes the communicator tells it.
    int processors = 0;
    uint8_t choices[collective_operations][size_classes] = {};  // algorithms chosen so far (select.h); 0: none yet
    NodeUse node_use;
};

}  // namespace lanyard
