// The counters of collectives: one set for each communicator, read from its team.
#pragma once

#include "base/counters.h"

namespace lanyard {

struct Team;

Counters<Team> &collective_counters();

}  // namespace lanyard
