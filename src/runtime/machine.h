// Finds out which processors and which network the ranks of a job share. The result decides how the ranks
// wait and which algorithms they choose.
//
// The processors of a node are all those that any of its ranks may use, even if each rank is bound to one
// processor. (Without a segment, each rank knows only the processors that it may use itself.) Nodes that are
// containers or network namespaces of one machine share its processors, though each node sees only its own
// ranks. Such nodes recognise each other by the kernel's boot id. Ranks are oversubscribed if they outnumber
// the processors of their node. They are also oversubscribed if the ranks of all nodes with their kernel
// outnumber the online processors of this kernel.
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
    bool alike = false;  // all ranks of the node have the same numbers

    bool oversubscribed() const { return ranks > processors; }
};

// Adds the processors of this rank to those in the segment's header. Called by each rank of a node. `first`
// is true for the first rank of the node, which also notes a processor quota (base/processors.h). All ranks
// can read the result after a barrier.
void note_processors(SegmentHeader &header, bool first);
// The ranks and the processors of this node. The processors are those noted in `header`, or those of this
// process if there is no header.
Shared shared_on_node(const Bootstrap &bootstrap, const SegmentHeader *header);

// Publishes which kernel this node has. Called by each rank before a barrier; the first rank of the node
// publishes. If there is only one node, publishes nothing. Errors come from the launcher.
Error tell_kernel(Bootstrap &bootstrap);
// Counts the ranks of all nodes that have the same kernel as this node, and the online processors of this
// kernel. If the boot id is unknown, counts only the ranks of this node. Called after the barrier. Errors
// come from the launcher.
Error shared_on_kernel(Bootstrap &bootstrap, Shared &shared);

// The facts by which algorithms are chosen. They must be equal on all ranks of the job.
struct Machine {
    // The number of processors of the oversubscribed node, or the smallest such number if several nodes are
    // oversubscribed; 0 if no node is.
    int oversubscribed = 0;
    // The speed of the slowest host's network, among the hosts that know it; 0 if none does or if there is
    // one node.
    int64_t speed_mbit = 0;
};

// Fills `machine`, which must be empty. Called by every rank of the job. `shared` has the ranks and
// processors of the caller's node or kernel, and `speed_mbit` is the speed of its host's network. Contains a
// barrier if there are several nodes, or if the ranks of the only node may have different numbers. Errors
// come from the launcher.
Error agree_on_machine(Bootstrap &bootstrap, const Shared &shared, int64_t speed_mbit, Machine &machine);

}  // namespace lanyard
