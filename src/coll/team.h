// A team: what a collective schedule needs to know of its communicator, and nothing more. It belongs to the
// communicator, which lives until every collective started on it is complete.
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/tally.h"

namespace lanyard {

// Collectives that used the node area. Those that have ended are counted in order, because others read this
// count.
struct NodeUse {
    // Generations given out; the same on every rank, because all start the same collectives.
    uint32_t started = 0;
    uint32_t done_through = 0;   // this rank has finished all of them up to here
    uint64_t done_beyond = 0;    // bit i: generation done_through + 1 + i is finished too
    bool reads_refused = false;  // direct reads were refused, though possible at the start
    uint32_t known_done = 0;     // every rank has finished all up to here, as far as this rank knows
    // Uses in which this rank posted without reading the posts of others, and what it recorded of them
    // (CallLog), for a later comparison.
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
constexpr int collective_number_bits = 19;  // numbers repeat after this

struct Nodes;     // nodes.h
class KeptPlans;  // kept_plans.h

struct Team {
    uint64_t context = 0;  // with collective_bit set
    int index = 0;         // of this process
    int size = 1;
    const uint32_t *peers = nullptr;  // by index: numbers of the peer table
    Tally<uint32_t> sequence;         // collectives started so far; part of the tag of the next one
    // By number: what ranks agree on in the latest ones (agreement.h).
    uint32_t recent[recent_collectives] = {};
    Tally<uint32_t> persistent;      // persistent collectives created so far; part of their tags
    std::byte *node_area = nullptr;  // memory shared by the whole team if it is on one node, else nullptr
    // The memory is zero at first. For the size needed, see node_area_bytes(size) in shm/node_area.h.
    size_t node_area_bytes = 0;
    // All members of a team with an area can read each other's memory; the same on all.
    bool direct_reads = false;
    // Processors that all of the team's ranks on a node share; 0: each rank has its own. Algorithms are
    // chosen by it, so it must be the same number on every rank. The code that creates the communicator sets
    // it.
    int processors = 0;
    // Algorithms chosen so far (select.h); 0: none yet.
    uint8_t choices[collective_operations][size_classes] = {};
    // By operation: the algorithm that the user wants, from 1; 0: the best.
    uint8_t wanted[collective_operations] = {};
    NodeUse node_use;
    KeptPlans *kept = nullptr;  // nullptr: schedules are not kept
    // For an intercommunicator, whose two groups form the team, one after the other: the team of this
    // process's own group. It serves phases within the group, which are part of collectives of the whole
    // team. No collective is started on it.
    Team *own_group = nullptr;
    const Nodes *nodes = nullptr;  // where the members are; nullptr: on one node
};

// Where this process's own group begins in the team, and its size; and the same for the other group of an
// intercommunicator.
inline int own_begin(const Team &team) { return team.own_group ? team.index - team.own_group->index : 0; }
inline int own_size(const Team &team) { return team.own_group ? team.own_group->size : team.size; }
inline int other_begin(const Team &team) { return own_begin(team) == 0 ? own_size(team) : 0; }
inline int other_size(const Team &team) { return team.size - own_size(team); }

}  // namespace lanyard
