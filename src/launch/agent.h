// mpirun on another host: `mpirun --agent`, started by a remote shell, is told over its standard input what to do and
// tells over its standard output what happens; see protocol.h. It has no terminal, no options and no opinion.
// Invariant: it ends, with all that it has started, when its standard input does.
#pragma once

#include <cstddef>

namespace lanyard::launch {

// Returns the exit code. `name_area` is the memory of the process's own argument words (see guard.h).
int run_agent(char **environment, char *name_area, size_t name_length);

}  // namespace lanyard::launch
