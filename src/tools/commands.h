// The subcommands of `lanyard`: what lanyard.cc calls once the command line is read. Each returns the exit code: 0, 1 for a finding
// or failure, 2 for a usage error.
#pragma once

#include <string>
#include <vector>

#include "tools/place.h"

namespace lanyard::tools {

struct InfoOptions {
    bool settings = false, coverage = false, missing = false, paths = false, collectives = false, json = false;
    std::string collective;  // the only one to tell of
    int ranks = 2, hosts = 1;
};
int run_info(const Place &place, const InfoOptions &options);

int run_doctor(const Place &place, bool json);

// A line for each benchmark: its name, and what it is for.
std::string list_benchmarks(const Place &place);
// `words`: the benchmark's name and its own options, or nothing to list them. `ranks`: of the job that is started.
int run_bench(const Place &place, int ranks, std::vector<std::string> words);

}  // namespace lanyard::tools
