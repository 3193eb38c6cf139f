// The counters of collectives. Each communicator has a set of its own, which is read from the communicator's
// team.
// Tested by: tests/mpi/tool/pvars.cc.
#pragma once

#include "base/counters.h"

namespace lanyard {

struct Team;

Counters<Team> &collective_counters();

}  // namespace lanyard
