// A team is the part of a communicator that collectives need. A team belongs to its communicator, which lives
// until every collective started on it is complete.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/plan_test.cc, tests/sim/communicators_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/tally.h"
#include "p2p/mapped_offers.h"

namespace lanyard {

// This rank's record of the uses of the node area (shm/node_area.h). Each use has a number, its generation.
struct NodeUse {
    // The latest generation given out. It is the same on every rank after the same calls, because all ranks
    // start the same collectives.
    uint32_t started = 0;
    uint32_t done_through = 0;   // this rank has finished all generations up to this one
    uint64_t done_beyond = 0;    // bit i: this rank has finished generation done_through + 1 + i too
    bool reads_refused = false;  // a direct read was refused, although reads were possible at first
    // The reader that has requested memory of another rank and has not taken the answer yet
    // (shm/peer_memory.h); nullptr: there is no such reader.
    const void *asker = nullptr;
    // Every rank has finished all generations up to this one, as far as this rank knows.
    uint32_t known_done = 0;
    // Uses in which this rank posted without reading the posts of others. What this rank recorded for these
    // uses (CallLog) is kept here, to be compared later with the records of the other ranks.
    struct Alone {
        uint32_t generation;
        uint64_t told;
    };
    static constexpr int most_alone = 8;
    Alone alone[most_alone] = {};
    int alone_count = 0;
    // The latest use for which this rank posted more than fits in a line (shm/short_use.h).
    uint32_t longer_post = 0;
    // Whether short contributions in memory that the other ranks can map are read there (shm/own_post.h).
    MappedOffers mapped_posts;
};

constexpr int collective_operations = 16;
constexpr int size_classes = 48;
constexpr uint32_t recent_collectives = 16;
constexpr int collective_number_bits = 19;  // numbers of collectives repeat after 2^19

struct Nodes;     // nodes.h
class KeptPlans;  // kept_plans.h

struct Team {
    uint64_t context = 0;  // with collective_bit set
    int index = 0;         // of this process in the team
    int size = 1;
    const uint32_t *peers = nullptr;  // by index in the team: the member's number in the peer table
    // Collective calls so far; part of the tag of the next one. The creation of a persistent collective is
    // counted, its starts are not.
    Tally<uint32_t> sequence;
    // This rank's words (agreement.h) for its latest collectives, by the collective's number modulo
    // recent_collectives.
    uint32_t recent[recent_collectives] = {};
    Tally<uint32_t> persistent;  // persistent collectives created so far; part of their tags
    // Memory that the whole team shares. nullptr: the team is not on one node, has only one rank or two
    // groups, or there was no memory.
    std::byte *node_area = nullptr;
    // The size of the node area, as node_area_bytes(size) in shm/node_area.h states. Its memory is zero at
    // first.
    size_t node_area_bytes = 0;
    // True if the team has a node area and all members can read each other's memory. The value is the same on
    // all members.
    bool direct_reads = false;
    // The number of processors that the team's ranks on a node share; 0: each rank has a processor of its
    // own. The choice of algorithms depends on this number, so it must be the same on every rank. The code
    // that creates the communicator sets it.
    int processors = 0;
    // The algorithms chosen so far (select.h), by their numbers from 1, by operation and size class; 0: none
    // yet.
    uint8_t choices[collective_operations][size_classes] = {};
    // By operation: the number, from 1, of the algorithm that the user has set; 0: the best one is chosen.
    uint8_t wanted[collective_operations] = {};
    NodeUse node_use;
    KeptPlans *kept = nullptr;  // nullptr: schedules are not kept
    // For an intercommunicator, whose two groups form the team one after the other, this is the team of this
    // process's own group; else nullptr. Collectives of the whole team use it for their phases within the
    // group. No collective is started on the group's team itself.
    Team *own_group = nullptr;
    // Which members share a node. nullptr: all are on one node, or the team has two groups.
    const Nodes *nodes = nullptr;
};

// The index in the team at which this process's own group begins, and the size of this group. other_begin()
// and other_size() state the same for the other group of an intercommunicator.
inline int own_begin(const Team &team) { return team.own_group ? team.index - team.own_group->index : 0; }
inline int own_size(const Team &team) { return team.own_group ? team.own_group->size : team.size; }
inline int other_begin(const Team &team) { return own_begin(team) == 0 ? own_size(team) : 0; }
inline int other_size(const Team &team) { return team.size - own_size(team); }

}  // namespace lanyard
