// From the plan to everything the guard needs to start the ranks of this host: program files found, environments made,
// pipes, files and sockets opened. Nothing has been started when something is wrong.
// check_job is called once, by job.cc; prepare once on each host that has ranks, by local_host.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "launch/guard.h"
#include "launch/plan.h"
#include "launch/pmi_server.h"
#include "launch/streams.h"

namespace lanyard::launch {

struct Trouble {
    int exit_code;
    std::string sentence;
};

struct Prepared {
    std::vector<int> ranks;           // of this host, ascending
    std::vector<RankStart> starts;    // in the same order
    std::vector<std::string> notes;   // to be said although the job runs
    std::vector<int> for_ranks;       // descriptors that mpirun closes once the ranks have them
    int segment = -1;                 // unlinked file for the memory the ranks share; -1: they make their own
};

// What concerns the job as a whole and is the same on all hosts; also makes the folder for output, here.
std::optional<Trouble> check_job(const Plan &plan, char **environment, Settings &settings, std::vector<std::string> &notes);

struct Local {
    const Plan &plan;
    const std::string &job;
    char **environment;      // before the plan's changes
    PmiServer &pmi;
    StandardStreams &streams;
    int input;               // standard input of the rank that reads it; -1: it has none
    bool streams_go_on;      // mpirun writes files of output, not this host
};
std::optional<Trouble> prepare(const Local &local, Prepared &prepared);

// The file that one rank's output goes to; "" where it goes to mpirun's own. Opened for writing; -1 with errno set.
std::string output_file(const Plan &plan, int rank, int target);
int open_output_file(const std::string &name);

}  // namespace lanyard::launch
