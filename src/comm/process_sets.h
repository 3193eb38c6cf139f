// Defines the names of the process sets of a job (MPI-5.0 11.3.2): mpi://WORLD, mpi://SELF, and
// lanyard://node for the processes of this node. Used by sessions and MPI_Comm_split_type. Any thread.
// Tested by: tests/mpi/comm/create.cc, tests/mpi/sessions/queries.cc.
#pragma once

#include <strings.h>

#include <cstring>
#include <string_view>

namespace lanyard {

enum class ProcessSet { world, self, node, none };

// In the order of ProcessSet.
constexpr const char *process_sets[] = {"mpi://WORLD", "mpi://SELF", "lanyard://node"};

// The set with this name; `none` if there is none. Case is ignored, as in the scheme and host of any URI.
inline ProcessSet process_set_called(std::string_view name) {
    int set = 0;
    for (const char *each : process_sets) {
        if (name.size() == std::strlen(each) && strncasecmp(name.data(), each, name.size()) == 0) break;
        ++set;
    }
    return static_cast<ProcessSet>(set);
}

}  // namespace lanyard
