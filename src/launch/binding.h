// Where ranks may run. Called once, before they are started.
#pragma once

#include <sched.h>

#include <optional>
#include <string>
#include <vector>

#include "launch/plan.h"

namespace lanyard::launch {

// For each rank the processors it is kept on; nothing for all. `note` is a sentence when what was asked for explicitly
// cannot be done here; the ranks then run unbound.
std::vector<std::optional<cpu_set_t>> bind_ranks(Binding binding, int ranks, std::string &note);

}  // namespace lanyard::launch
