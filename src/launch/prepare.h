// From the plan to everything that the guard needs to start the ranks of this host: finds program files,
// makes environments, opens pipes, files and sockets. If something is wrong, nothing has been started. job.cc
// calls check_job once. local_host.cc calls prepare once on each host that has ranks.
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
    std::vector<std::string> notes;   // to be printed although the job runs
    std::vector<int> for_ranks;       // descriptors that mpirun closes once the ranks have them
    int segment = -1;  // unlinked file for the memory that the ranks share; -1: they make their own
};

// Checks what concerns the job as a whole and is the same on all hosts. Also creates the folder for output,
// on this host.
std::optional<Trouble> check_job(const Plan &plan, char **environment, Settings &settings,
                                 std::vector<std::string> &notes);

struct Local {
    const Plan &plan;
    const std::string &job;
    char **environment;      // before the plan's changes
    PmiServer &pmi;
    StandardStreams &streams;
    int input;               // standard input of the rank that reads it; -1: none
    bool streams_go_on;      // mpirun writes the files of output, not this host
};
std::optional<Trouble> prepare(const Local &local, Prepared &prepared);

// output_file returns the file for the output of one rank, or "" if it goes to mpirun's own. open_output_file
// opens it for writing and returns -1 with errno set if it fails.
std::string output_file(const Plan &plan, int rank, int target);
int open_output_file(const std::string &name);

}  // namespace lanyard::launch
