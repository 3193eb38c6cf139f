// Finds the processes that descend from one process, in /proc. With them, nothing that a rank has started
// outlives the job, whatever session or process group it has moved to: the nearest ancestor that is a
// subreaper inherits orphans.
#pragma once

#include <sys/types.h>

#include <vector>

namespace lanyard::launch {

// Makes the calling process a subreaper, which inherits orphaned descendants.
void adopt_orphans();

// True unless the process has ended or is about to end. The kernel marks a process as ending before it closes
// its descriptors.
bool lives_on(pid_t pid);

// All living descendants of `root`, without `root` itself. Empty also if /proc cannot be read.
std::vector<pid_t> descendants_of(pid_t root);

// Sends `signal_number` to each descendant. Returns their number.
int signal_descendants(pid_t root, int signal_number);

}  // namespace lanyard::launch
