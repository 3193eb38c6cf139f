// Names ranks, hosts and signals in sentences. These functions have no side effects.
// Tested by: tests/launch/test_endings.py, tests/launch/test_mpi.py.
#pragma once

#include <string>

#include "launch/plan.h"

namespace lanyard::launch {

// "rank 3 (program, process 17 on host)". If pid is 0, the process is left out.
std::string rank_text(const Plan &plan, int rank, int pid);
// "rank 3", or "rank 3 on host" if the job runs on several hosts.
std::string short_rank_text(const Plan &plan, int rank);
const std::string &host_of(const Plan &plan, int rank);
// The ranks on `node`: "rank 3", "ranks 3 and 4", "ranks 3 to 6" or "ranks 3, 5, ... 9 (4 ranks)".
std::string ranks_text(const Placement &placement, int node);
// A sentence about something that a rank needs and that the system has refused to open, with a remedy if
// there is one.
std::string cannot_open_text(const Plan &plan, int rank, const std::string &what, int error_number);
// The name of a signal, as in "signal 9 (SIGKILL: Killed)".
std::string signal_text(int signal_number);

}  // namespace lanyard::launch
