// The subcommands of `lanyard`, which lanyard.cc calls after reading the command line. Each returns the exit
// code: 0, 1 for a finding or failure, 2 for a usage error.
#pragma once

#include <string>
#include <vector>

#include "tools/place.h"

namespace lanyard::tools {

struct InfoOptions {
    bool settings = false, coverage = false, missing = false, paths = false, collectives = false,
         json = false;
    std::string collective;  // the only operation to report, if any
    int ranks = 2, hosts = 1;
};
int run_info(const Place &place, const InfoOptions &options);

int run_doctor(const Place &place, bool json);

// A line for each benchmark: its name and its purpose.
std::string list_benchmarks(const Place &place);
// `words`: the benchmark's name and its own options, or nothing to list the benchmarks. `ranks`: those of the
// job to start.
int run_bench(const Place &place, int ranks, std::vector<std::string> words);

}  // namespace lanyard::tools
