// What the ranks of a job share, which decides how they wait and which algorithms they choose: processors,
// and the network of the slowest host.
//
// A node has all processors that its ranks may use, even if each rank is bound to one. Nodes that are
// containers or network namespaces of one machine share its processors, though each sees only its own ranks.
// They recognise each other by the kernel's boot id. So ranks are oversubscribed if they outnumber their
// node's processors, or if the ranks of one kernel outnumber all of its processors that are online.
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

// Called by each rank of a node for the segment's header; `first`: the first rank of the node. All ranks can
// read the result after a barrier.
void note_processors(SegmentHeader &header, bool first);
// What this node's ranks share: as noted in `header`, or as this process sees it if there is no header.
Shared shared_on_node(const Bootstrap &bootstrap, const SegmentHeader *header);

// Publishes which kernel this node has, before a barrier. shared_on_kernel() evaluates it for all nodes after
// the barrier. Only for jobs with several nodes.
Error tell_kernel(Bootstrap &bootstrap);
Error shared_on_kernel(Bootstrap &bootstrap, Shared &shared);

// The basis for choosing algorithms, which must be equal on all ranks of the job.
struct Machine {
    // Processors of the oversubscribed node that has the fewest; 0: no node is oversubscribed.
    int oversubscribed = 0;
    int64_t speed_mbit = 0;  // speed of the slowest host's network; 0: unknown
};

// Called by every rank, with what its node shares and the speed of its host's network. Contains a barrier if
// there are several nodes.
Error agree_on_machine(Bootstrap &bootstrap, const Shared &shared, int64_t speed_mbit, Machine &machine);

}  // namespace lanyard
