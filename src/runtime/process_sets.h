// Finds the processes in the process sets of a job (comm/process_sets.h).
// Tested by: tests/mpi/sessions/queries.cc, tests/mpi/comm/create.cc.
#pragma once

#include <string_view>

#include "comm/group.h"
#include "comm/process_sets.h"

namespace lanyard {

struct Runtime;

// Stores the processes of a set in `peers`, in the order of their ranks. Returns an error if the job has no
// set of this name. Any thread.
Error find_process_set(const Runtime &runtime, std::string_view name, Peers &peers);

}  // namespace lanyard
