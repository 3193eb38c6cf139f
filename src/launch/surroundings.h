// The facts of a process that starts ranks (mpirun or an agent), and what it changes of its own state for
// that.
#pragma once

#include <sys/resource.h>

#include <cstddef>

#include "launch/guard.h"

namespace lanyard::launch {

struct Surroundings {
    char **own_environment;  // of this process; passed to remote shells
    char **environment;      // of the ranks, before the plan's changes
    InheritedState inherited;
    char *name_area;  // memory of the process's own argument words, see guard.h
    size_t name_length;
};

// Raises the limit to the maximum, because each rank takes some descriptors. Ranks and remote shells have the
// former limit restored.
inline void raise_descriptor_limit(InheritedState &inherited) {
    getrlimit(RLIMIT_NOFILE, &inherited.descriptors);
    rlimit raised = inherited.descriptors;
    raised.rlim_cur = raised.rlim_max;
    setrlimit(RLIMIT_NOFILE, &raised);
}

}  // namespace lanyard::launch
