// The agent: mpirun on another host, started by a remote shell as `mpirun --agent`. It receives commands over
// its standard input and sends reports over its standard output (see protocol.h). It has no terminal and no
// options, and makes no decisions of its own. Single-threaded. Invariant: when its standard input ends, the
// agent ends everything that it has started, and itself.
// Tested by: tests/launch/test_hosts.py, tests/launch/test_hosts_endings.py.
#pragma once

#include <cstddef>

namespace lanyard::launch {

// Runs the agent and returns its exit code. `name_area` is the memory of the process's own argument words
// (see guard.h).
int run_agent(char **environment, char *name_area, size_t name_length);

}  // namespace lanyard::launch
