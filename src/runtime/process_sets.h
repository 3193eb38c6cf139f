// The processes in the process sets of a job (comm/process_sets.h).
#pragma once

#include <string_view>

#include "comm/group.h"
#include "comm/process_sets.h"

namespace lanyard {

struct Runtime;

// The processes of the set, in the order of their ranks.
Error find_process_set(const Runtime &runtime, std::string_view name, Peers &peers);

}  // namespace lanyard
