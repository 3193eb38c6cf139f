// Describes the process that starts ranks (mpirun or an agent), and the state that this process changes for
// itself.
// Tested by: tests/launch/test_start.py.
#pragma once

#include <sys/resource.h>

#include <cstddef>

#include "launch/guard.h"

namespace lanyard::launch {

struct Surroundings {
    char **own_environment;  // the environment of this process, which is passed to remote shells
    char **environment;      // the environment of the ranks, before the plan's changes
    InheritedState inherited;
    char *name_area;  // the memory of the process's own argument words; see guard.h
    size_t name_length;
};

// Raises this process's limit of open descriptors to the maximum, because each rank takes some descriptors.
// The former limit is stored in `inherited`, and is restored in ranks and remote shells.
inline void raise_descriptor_limit(InheritedState &inherited) {
    getrlimit(RLIMIT_NOFILE, &inherited.descriptors);
    rlimit raised = inherited.descriptors;
    raised.rlim_cur = raised.rlim_max;
    setrlimit(RLIMIT_NOFILE, &raised);
}

}  // namespace lanyard::launch
