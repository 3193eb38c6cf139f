// Manages the area of a team, that is, the team's part of the node memory (Team::node_area), from the
// creation of the communicator to its end.
//
// One member allocates the area: rank 0, or for MPI_Intercomm_merge the first member of the
// intercommunicator, which need not become rank 0. It releases the area when all members have left, that is,
// have ended their communicator object. A cache line before the area counts the members that have left. The
// last member to leave returns the memory to the system (NodeMemory::empty), since no member reads the area
// any more. Only then does this member mark the area as over in that cache line. The allocator releases an
// area only when it is marked, so it never reuses an area that another member is still emptying. Other
// members may leave later than the allocator. The allocator therefore puts each area that it leaves into a
// list of its universe. It checks this list whenever it allocates an area or leaves one that it allocated. In
// this way, an area returns to the process that will usually allocate the next area, in whatever order the
// members end, and its memory returns to the system even if no further area is requested. The allocator keeps
// all pages of the first few areas in the list mapped, but only the first page of each further area.
//
// An area is never released if a member could not join it (join_area), because that member does not leave it.
//
// Thread rule: any thread, one short lock.
// Tested by: tests/unit/comm/area_test.cc, tests/failures/test_machine.py.
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
    std::byte *memory;  // where the area's beginning is mapped in this process
    size_t mapped_bytes;
};

struct AwaitedAreas {
    SpinLock lock;
    std::vector<AwaitedArea> list;
};

// Allocates an area for a team of this size whose members share a node. Returns no_node_offset if there is no
// memory left, or the team needs no area.
uint64_t allocate_area(Universe &universe, int size);
// Maps the area at `offset` into this process, for the communicator. Every member passes the same offset and
// the same allocator (Birth::allocator). No effect for no_node_offset.
Error join_area(Comm &comm, uint64_t offset, int allocator);
// States that this process no longer uses the communicator's area. No effect if it has none.
void leave_area(Comm &comm);
// Releases the areas in the list that all members have left by now.
void collect_areas(Universe &universe);

}  // namespace lanyard
