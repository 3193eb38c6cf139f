// A team: what a collective schedule needs to know of its communicator, and nothing more. Belongs to the communicator,
// which lives until every collective started on it is complete. Touched by the engine's owner only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/tally.h"

namespace lanyard {

// Collectives that went through the node area. Which of them are over is counted in order, as others read it from there.
struct NodeUse {
    uint32_t started = 0;        // generations handed out; the same on every rank, as all start the same collectives
    uint32_t done_through = 0;   // this rank has finished all up to here
    uint64_t done_beyond = 0;    // bit i: generation done_through + 1 + i is finished too
    bool reads_refused = false;  // direct reads, though they were possible at the start
    uint32_t known_done = 0;     // every rank has finished all up to here, as far as this rank has read
    // Uses in which this rank posted without reading what others did, and what it told of them (CallLog): to be compared.
    struct Alone {
        uint32_t generation;
        uint64_t told;
    };
    static constexpr int most_alone = 8;
    Alone alone[most_alone] = {};
    int alone_count = 0;
};

constexpr int collective_operations = 16;
constexpr int size_classes = 48;
constexpr uint32_t recent_collectives = 16;
constexpr int collective_number_bits = 19;  // from where numbers begin anew

struct Nodes;      // nodes.h
class KeptPlans;   // kept_plans.h

struct Team {
    uint64_t context = 0;             // with collective_bit set
    int index = 0;                    // of this process
    int size = 1;
    const uint32_t *peers = nullptr;  // by index: numbers of the peer table
    Tally<uint32_t> sequence;         // collectives started so far; part of the tag of the next one's messages
    uint32_t recent[recent_collectives] = {};  // by number: what the latest ones agree upon (coll/agreement.h)
    Tally<uint32_t> persistent;       // persistent ones made so far; likewise
    std::byte *node_area = nullptr;   // memory shared by all of the team when they are on one node, else nullptr
    size_t node_area_bytes = 0;       // zero at first; how much is wanted: node_area_bytes(size) in node_area.h
    bool direct_reads = false;        // all of a team with an area can read each other's memory; known alike to all
    // Processors that all of the team's ranks on a node may use together; 0: each has its own. Algorithms are chosen by it,
    // so it must be the same number on every rank: whoever makes the communicator tells it.
    int processors = 0;
    uint8_t choices[collective_operations][size_classes] = {};  // algorithms chosen so far (select.h); 0: none yet
    uint8_t wanted[collective_operations] = {};  // by operation: the algorithm that the user wants, from 1; 0: the best
    NodeUse node_use;
    KeptPlans *kept = nullptr;  // nullptr: schedules are not kept
    // Of an intercommunicator, whose two groups are the team, one after the other: the team of this process's own group. For
    // phases within it, which are part of the whole team's collectives: nothing is started on it.
    Team *own_group = nullptr;
    const Nodes *nodes = nullptr;  // where the members are; nullptr: on one node
};

// Where this process's own group begins in the team, and how many it has; the same of the other group of an intercommunicator.
inline int own_begin(const Team &team) { return team.own_group ? team.index - team.own_group->index : 0; }
inline int own_size(const Team &team) { return team.own_group ? team.own_group->size : team.size; }
inline int other_begin(const Team &team) { return own_begin(team) == 0 ? own_size(team) : 0; }
inline int other_size(const Team &team) { return team.size - own_size(team); }

}  // namespace lanyard
