// Prepares everything that the guard needs to start the ranks of this host as the plan describes: finds
// program files, makes environments, and opens pipes, files and sockets. So errors are found before any rank
// is started. job.cc calls check_job() once. local_host.cc calls prepare() once on each host that has ranks.
// Tested by: tests/launch/test_start.py.
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
    std::vector<int> ranks;           // the ranks of this host, in ascending order
    std::vector<RankStart> starts;    // how to start each of these ranks, in the same order
    std::vector<std::string> notes;   // remarks to print; they do not prevent the job
    std::vector<int> for_ranks;       // descriptors that this process closes once the ranks have them
    // A file without a name for the memory that the ranks share; -1 if the ranks must create their own. It
    // stays open in this process, which reads there what the ranks wait for.
    int segment = -1;
};

// Checks what concerns the job as a whole, such as settings and the names of output files. `settings` becomes
// the settings of all programs together; a later program's value replaces that of an earlier one. Also
// creates the folder for output, on this host.
std::optional<Trouble> check_job(const Plan &plan, char **environment, Settings &settings,
                                 std::vector<std::string> &notes);

struct Local {
    const Plan &plan;
    const std::string &job;
    char **environment;      // the environment before the plan's changes
    PmiServer &pmi;
    StandardStreams &streams;
    int input;               // for the rank of this host that reads input, if any; -1: it reads /dev/null
    bool streams_go_on;      // output is forwarded to mpirun, which writes the files of output
};
std::optional<Trouble> prepare(const Local &local, Prepared &prepared);

// Returns the name of the file for the output of a rank to descriptor `target` (1 or 2); "" if this output
// goes to mpirun's own.
std::string output_file(const Plan &plan, int rank, int target);
// Opens such a file for writing. Returns -1 with errno set if that fails.
int open_output_file(const std::string &name);

}  // namespace lanyard::launch
