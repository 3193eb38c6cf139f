// What the ranks of a job share, by which they wait and choose algorithms: processors, and the network of the slowest host.
//
// A node has the processors that its ranks may use together, though each may be bound to another. Nodes that are containers, or network
// namespaces, of one machine share its processors too, and each sees only its own: they know one another by the kernel's boot id. So ranks are
// oversubscribed where they outnumber their node's processors, or those of one kernel all of its processors that are online.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "bootstrap/bootstrap.h"
#include "path/shm/segment.h"

namespace lanyard {

struct Shared {
    int ranks = 1, processors = 1;

    bool oversubscribed() const { return ranks > processors; }
};

// By each rank of a node, in the segment's header; `first`: of the node. Known to all after a barrier.
void note_processors(SegmentHeader &header, bool first);
// What this node's ranks share: as noted in `header`, or as this process sees it where there is none.
Shared shared_on_node(const Bootstrap &bootstrap, const SegmentHeader *header);

// Which kernel this node has: published before a barrier, and after it counted for all, where there are several nodes.
Error tell_kernel(Bootstrap &bootstrap);
Error shared_on_kernel(Bootstrap &bootstrap, Shared &shared);

// By what algorithms are chosen, so that all ranks of the job must know the same.
struct Machine {
    int oversubscribed = 0;         // processors of the most oversubscribed node, 0 where none has more ranks than processors
    int64_t speed_mbit = 0;  // of the slowest host's network; 0: nobody knows
};

// Every rank comes here, with what its node shares and how fast its host's network is.
Error agree_on_machine(Bootstrap &bootstrap, const Shared &shared, int64_t speed_mbit, Machine &machine);

}  // namespace lanyard
