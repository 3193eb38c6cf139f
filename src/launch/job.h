// Runs one job, from the start of the first rank to the end of the last process. It decides what each event
// (the end of a rank, a signal, a time limit) means for the job. Called once, by main.
// Tested by: tests/launch/test_endings.py, tests/launch/test_hosts_endings.py.
#pragma once

#include <cstddef>

#include "launch/plan.h"

namespace lanyard::launch {

// Returns mpirun's exit code. `name_area` is the memory of mpirun's own argument words (see guard.h).
int run_job(const Plan &plan, char **environment, char *name_area, size_t name_length);

}  // namespace lanyard::launch
