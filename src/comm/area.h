// A team's part of the node memory (team.h, node_area): from its communicator's making to its end.
//
// Rank 0 allocates it, and alone gives it back when everybody has left. A line before the area counts who is leaving. The
// last one takes the memory back (NodeMemory::empty), as nobody reads the area any more, and only then says in that line
// that it is over. So rank 0, which looks for that word, never hands out an area that somebody is still emptying. Others
// may leave later than rank 0, so areas that are not over yet wait in the universe and are looked through when the next
// one is allocated or left. Thus the area returns to the process that will ask for the next one, whatever order the
// members end in, and its memory goes back to the system without anybody asking for another.
// Of areas that wait rank 0 keeps no more than their first page mapped, once they are many.
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

// Memory for a team of this size that shares a node; no_node_offset when there is none to be had.
uint64_t allocate_area(Universe &universe, int size);
// Gives the communicator its area; the same offset at every member.
Error join_area(Comm &comm, uint64_t offset);
// This process does not use the communicator's area any more.
void leave_area(Comm &comm);
// Gives back the areas that everybody has left by now.
void collect_areas(Universe &universe);

}  // namespace lanyard
