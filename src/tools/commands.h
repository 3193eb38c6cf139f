// Declares the subcommands of `lanyard`. lanyard.cc reads the command line and then calls one of them. Each
// run_ function returns the exit code: 0 for success, 1 for a failure or a problem that was found, 2 for a
// usage error.
// Tested by: tests/command/test_lanyard.py.
#pragma once

#include <string>
#include <vector>

#include "tools/place.h"

namespace lanyard::tools {

constexpr int usage_error = 2;

struct InfoOptions {
    bool settings = false, coverage = false, missing = false, paths = false, collectives = false,
         json = false;
    std::string collective;  // the only operation to report; "" for all operations
    int ranks = 2, hosts = 1;
};
int run_info(const Installation &installation, const InfoOptions &options);

int run_doctor(const Installation &installation, bool json);

// Returns one line for each benchmark, with its name and its purpose.
std::string list_benchmarks(const Installation &installation);
// Runs a benchmark as a job of `ranks` ranks. `ranks` is ignored inside a job, and for programs that do not
// use MPI. `words` contains the benchmark's name and its own options. If there are no words, lists the
// benchmarks. A single job replaces this process. After a sweep, returns the highest exit code of its jobs.
int run_bench(const Installation &installation, int ranks, std::vector<std::string> words);

}  // namespace lanyard::tools
