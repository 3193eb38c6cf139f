// The names of ranks, hosts and signals in sentences. Pure functions.
#pragma once

#include <string>

#include "launch/plan.h"

namespace lanyard::launch {

// "rank 3 (program, process 17 on host)". With pid 0, without the process.
std::string rank_text(const Plan &plan, int rank, int pid);
// "rank 3", or "rank 3 on host" in a job on several hosts.
std::string short_rank_text(const Plan &plan, int rank);
const std::string &host_of(const Plan &plan, int rank);
// "rank 3", "ranks 3 and 4", "ranks 3, ... 9 (4 ranks)": the ranks on `node`.
std::string ranks_text(const Placement &placement, int node);
// "signal 9 (SIGKILL: Killed)"
std::string signal_text(int signal_number);

}  // namespace lanyard::launch
