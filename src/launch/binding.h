// The processors on which ranks may run. Called once on each host, before the ranks are started.
#pragma once

#include <sched.h>

#include <optional>
#include <string>
#include <vector>

#include "launch/plan.h"

namespace lanyard::launch {

// Returns for each rank the processors to which it is bound, or nothing if it may use all. `note` becomes a
// sentence if the user's explicit request cannot be fulfilled here. The ranks then run unbound.
std::vector<std::optional<cpu_set_t>> bind_ranks(Binding binding, int ranks, std::string &note);

}  // namespace lanyard::launch
