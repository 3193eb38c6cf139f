// A team's part of the node memory (team.h, node_area), from the creation of its communicator to its end.
//
// Rank 0 allocates the area and releases it when all members have left. A cache line before the area counts
// the members that have left. The last one returns the memory to the system (NodeMemory::empty), since no
// member reads the area any more. Only then does it mark the area in that line as over. Rank 0 releases an
// area only after this mark, so it never reuses one that another member is still emptying. Other members may
// leave later than rank 0. Areas that are not over yet are therefore kept in a list of the universe, which is
// checked whenever an area is allocated or left. In this way, an area returns to the process that will
// allocate the next one, in whatever order the members end, and its memory returns to the system even if no
// further area is requested. If many areas wait, rank 0 keeps no more than the first page of each further one
// mapped.
//
// Thread rule: any thread, one short lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/spin_lock.h"

namespace lanyard {

struct Comm;
struct Universe;

constexpr uint64_t no_node_offset = UINT64_MAX;

struct AwaitedArea {
    uint64_t offset;
    size_t bytes;
    std::byte *memory;    // its beginning, as mapped here
    size_t mapped_bytes;
};

struct AwaitedAreas {
    SpinLock lock;
    std::vector<AwaitedArea> list;
};

// Allocates memory for a team of this size that shares a node. Returns no_node_offset if there is none.
uint64_t allocate_area(Universe &universe, int size);
// Maps the area for the communicator. Every member passes the same offset.
Error join_area(Comm &comm, uint64_t offset);
// States that this process no longer uses the communicator's area.
void leave_area(Comm &comm);
// Releases the areas that all members have left by now.
void collect_areas(Universe &universe);

}  // namespace lanyard
