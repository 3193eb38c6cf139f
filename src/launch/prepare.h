// From the plan to everything the guard needs to start the ranks: program files found, environments made, pipes, files
// and sockets opened. Nothing has been started when something is wrong. Called once by job.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch/guard.h"
#include "launch/output.h"
#include "launch/plan.h"
#include "launch/pmi_server.h"

namespace lanyard::launch {

struct Trouble {
    int exit_code;
    std::string sentence;
};

struct Prepared {
    std::vector<RankStart> starts;
    std::vector<std::string> notes;   // to be said although the job runs
    std::vector<int> for_ranks;       // descriptors that mpirun closes once the ranks have them
    int segment = -1;                 // unlinked file for the memory the ranks share; -1: they make their own
};

std::optional<Trouble> prepare(const Plan &plan, char **environment, const std::string &job, PmiServer &pmi, Output &output, Prepared &prepared);

}  // namespace lanyard::launch
