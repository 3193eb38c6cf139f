// The process sets of a job (MPI-5.0 11.3.2): mpi://WORLD, mpi://SELF and the processes of this node.
#pragma once

#include <string_view>

#include "comm/group.h"

namespace lanyard {

struct Runtime;

constexpr const char *process_sets[] = {"mpi://WORLD", "mpi://SELF", "lanyard://node"};

// The processes of the set, in the order of their ranks. Letters may be of either case, as in any URI's scheme and host.
Error find_process_set(const Runtime &runtime, std::string_view name, Peers &peers);

}  // namespace lanyard
