// mpirun on another host: `mpirun --agent`, started by a remote shell. It receives commands over its standard
// input and sends reports over its standard output (see protocol.h). It has no terminal and no options, and
// decides nothing itself. Single-threaded. Invariant: when its standard input ends, it ends with all that it
// has started.
#pragma once

#include <cstddef>

namespace lanyard::launch {

// Returns the exit code. `name_area` is the memory of the process's own argument words (see guard.h).
int run_agent(char **environment, char *name_area, size_t name_length);

}  // namespace lanyard::launch
