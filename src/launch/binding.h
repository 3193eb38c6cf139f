// Chooses the processors on which ranks may run. Called once on each host, before the ranks are started.
// Tested by: tests/launch/test_start.py.
#pragma once

#include <sched.h>

#include <optional>
#include <string>
#include <vector>

#include "launch/plan.h"

namespace lanyard::launch {

// Returns for each rank of this host the processors to which it is bound, or nothing if it may use all of
// them. If the user's explicit request cannot be fulfilled here, `note` becomes a sentence about that, and
// the ranks run unbound.
std::vector<std::optional<cpu_set_t>> bind_ranks(Binding binding, int ranks, std::string &note);

}  // namespace lanyard::launch
