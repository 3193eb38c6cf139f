// Finds all processes that descend from one process, in /proc. So mpirun can end every process that a rank
// has started, even a process that has moved to another session or process group. A process stays a
// descendant even if its parent ends, because it is inherited by its nearest ancestor that is a subreaper. A
// process lives as long as one of its threads does, also if its first thread has ended.
// Tested by: tests/launch/test_endings.py, tests/launch/test_hosts_endings.py.
#pragma once

#include <sys/types.h>

#include <vector>

namespace lanyard::launch {

// Makes the calling process a subreaper, which inherits orphaned descendants.
void adopt_orphans();

// True unless the process has ended or is about to end. (The kernel marks a process as ending before it
// closes the descriptors of the process.) False also if only its first thread has ended.
bool lives_on(pid_t pid);

// All living descendants of `root`, without `root` itself, and without the processes in `spared` and their
// descendants. Empty also if /proc cannot be read.
std::vector<pid_t> descendants_of(pid_t root, const std::vector<pid_t> &spared = {});

// Sends a signal to each of these descendants. Returns the number of descendants.
int signal_descendants(pid_t root, int signal_number, const std::vector<pid_t> &spared = {});

// Takes the ended children of the calling process from the kernel, except those in `spared`.
void reap_children(const std::vector<pid_t> &spared);

}  // namespace lanyard::launch
