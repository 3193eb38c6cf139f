// The processors and the network that the ranks of a job share. These decide how the ranks wait and which
// algorithms they choose.
//
// The processors of a node are all those that any of its ranks may use, even if each rank is bound to one
// processor. Nodes that are containers or network namespaces of one machine share its processors, though each
// node sees only its own ranks. Such nodes recognise each other by the kernel's boot id. So ranks are
// oversubscribed if they outnumber their node's processors, or if the ranks of all nodes with one kernel
// outnumber the kernel's online processors.
// Thread rule: the thread that creates the runtime.
// Tested by: tests/lab/test_datagrams.py.
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

// Adds the processors of this rank to those in the segment's header. Called by each rank of a node. `first`
// is true for the first rank of the node. All ranks can read the result after a barrier.
void note_processors(SegmentHeader &header, bool first);
// The ranks and the processors of this node. The processors are those noted in `header`, or those of this
// process if there is no header.
Shared shared_on_node(const Bootstrap &bootstrap, const SegmentHeader *header);

// Publishes which kernel this node has. Called before a barrier. If there is only one node, publishes
// nothing. An error is that of the launcher.
Error tell_kernel(Bootstrap &bootstrap);
// The ranks and the processors of all nodes that have the same kernel as this node. Called after the barrier.
// An error is that of the launcher.
Error shared_on_kernel(Bootstrap &bootstrap, Shared &shared);

// The facts by which algorithms are chosen. They must be equal on all ranks of the job.
struct Machine {
    // The number of processors of an oversubscribed node, the smallest if there are several such nodes; 0 if
    // no node is oversubscribed.
    int oversubscribed = 0;
    int64_t speed_mbit = 0;  // the speed of the slowest host's network; 0 if unknown or if there is one node
};

// Determines `machine`, which is empty before. Called by every rank, with what the ranks of its node share
// and the speed of its host's network. Contains a barrier if there are several nodes. An error is that of the
// launcher.
Error agree_on_machine(Bootstrap &bootstrap, const Shared &shared, int64_t speed_mbit, Machine &machine);

}  // namespace lanyard
