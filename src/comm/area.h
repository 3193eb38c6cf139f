// A team's part of the node memory (team.h, node_area): from its communicator's making to its end.
//
// Rank 0 allocates it and alone gives it back, when everybody has left: a line before the area counts who has. Others may
// leave later than rank 0, so areas that are still in use wait in the universe and are looked through at the next
// allocation. Thus the memory returns to the process that will ask for the next one, whatever order the members end in.
// Thread rule: any thread, one short lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/spin_lock.h"

namespace lanyard {

struct Comm;
struct Universe;

constexpr uint64_t no_node_offset = UINT64_MAX;

struct AwaitedArea {
    uint64_t offset;
    size_t bytes;
    uint32_t members;
};

struct AwaitedAreas {
    SpinLock lock;
    std::vector<AwaitedArea> list;
};

// Memory for a team of this size that shares a node; no_node_offset when there is none to be had.
uint64_t allocate_area(Universe &universe, int size);
// Gives the communicator its area; the same offset at every member.
void join_area(Comm &comm, uint64_t offset);
// This process does not use the communicator's area any more.
void leave_area(Comm &comm);
// Gives back the areas that everybody has left by now.
void collect_areas(Universe &universe);

}  // namespace lanyard
