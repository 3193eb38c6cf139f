// A group: an ordered set of processes. Immutable and counted. MPI-5.0 section 7.3.
#pragma once

#include <cstdint>
#include <vector>

#include "base/object.h"

namespace lanyard {

struct Group : Object {
    std::vector<uint32_t> peers;  // by rank: numbers of the runtime's peer table
    int rank = -32766;            // of this process, or MPI_UNDEFINED
    int size() const { return static_cast<int>(peers.size()); }
};

}  // namespace lanyard
