// The processes that descend from one process, found in /proc, so that nothing a rank has started outlives the job,
// whatever session or group it has moved to: orphans come to the nearest ancestor that is a subreaper.
#pragma once

#include <sys/types.h>

#include <vector>

namespace lanyard::launch {

// Makes the calling process the one that inherits orphaned descendants.
void adopt_orphans();

// Neither gone nor about to be: a process that ends is known to do so before its descriptors are closed.
bool lives_on(pid_t pid);

// All living descendants of `root`, without itself. Empty also where /proc cannot be read.
std::vector<pid_t> descendants_of(pid_t root);

// Sends `signal_number` to each of them; how many there were.
int signal_descendants(pid_t root, int signal_number);

}  // namespace lanyard::launch
