// Makes the environment of the ranks, once for each program, before anything is started. It is the
// environment of mpirun without the variables that an outer job has left there, plus the variables that
// mpirun's options set, with the folder of this Lanyard's libraries in LD_LIBRARY_PATH. (prepare.cc adds the
// variables that identify the rank.)
// Tested by: tests/launch/test_start.py, tests/launch/test_hosts.py.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "config/settings.h"
#include "launch/plan.h"

namespace lanyard::launch {

using Variables = std::vector<std::string>;  // "NAME=VALUE"; a name occurs once

// The folder in which this mpirun is installed: <prefix> if the file of mpirun is <prefix>/bin/mpirun. "" if
// it is not known.
std::string prefix_folder();

// The environment that all ranks of `program` share.
Variables program_environment(const Plan &plan, const Program &program, char **inherited);

void set_variable(Variables &variables, const std::string &name, const std::string &value);
// Returns nullptr if the variable is not set.
const char *find_variable(const Variables &variables, const std::string &name);

// Checks the settings among the variables of one program, and adds them to those of the other programs in
// `settings`: a setting without a variable keeps the value that it has there. Only settings of the same
// program can contradict each other. Adds a sentence about each unknown LANYARD_ name to `warnings`, unless
// `warnings` contains it already. Returns an error for a value that cannot be used.
Error check_settings(const Variables &variables, Settings &settings, std::vector<std::string> &warnings);

}  // namespace lanyard::launch
