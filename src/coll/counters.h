// Defines the counters of collectives. Each communicator has counters of its own, which are members of its
// team (team.h).
// Tested by: tests/mpi/tool/pvars.cc.
#pragma once

#include "base/counters.h"

namespace lanyard {

struct Team;

Counters<Team> &collective_counters();

}  // namespace lanyard
