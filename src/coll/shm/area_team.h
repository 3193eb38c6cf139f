// An AreaTeam is what a rank needs to work with the ranks that share a node area with it: the team, the area,
// and the means to wake the other ranks. A plain value.
//
// Waking: a rank that has stored something for which another rank may wait calls NodeReach::asleep(). If that
// reports the other rank as asleep, this rank wakes it. If not, the other rank sees the store before it falls
// asleep.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/shm/uses_done_test.cc, tests/unit/coll/shm/call_check_test.cc.
#pragma once

#include "coll/shm/node_area.h"
#include "coll/shm/node_reach.h"
#include "coll/team.h"

namespace lanyard {

struct AreaTeam {
    Team &team;
    NodeArea area;
    NodeReach *reach;  // nullptr: the ranks never sleep and read nothing directly

    // wake() and wake_all() require `reach`. They wake only ranks that sleep.
    void wake(int rank) const {
        uint32_t peer = team.peers[rank];
        if (reach->asleep(peer)) reach->wake(peer);
    }
    // May any of the ranks [first, last), except this one, have fallen asleep without seeing what this rank
    // has just stored?
    bool any_asleep(int first, int last) const {
        NodeReach *const ranks = reach;
        const uint32_t *const peers = team.peers;
        for (int rank = first, own = team.index; ranks && rank < last; ++rank)
            if (rank != own && ranks->asleep(peers[rank])) return true;
        return false;
    }
    // The address at which this rank sees memory of a rank; nullptr: it is not mapped (NodeReach::mapped()).
    const std::byte *mapped(int rank, uint64_t address, size_t bytes) const {
        return reach ? reach->mapped(team.peers[rank], address, bytes) : nullptr;
    }
    void wake_all(int first, int last) const {
        for (int rank = first; rank < last; ++rank)
            if (rank != team.index) wake(rank);
    }
};

}  // namespace lanyard
