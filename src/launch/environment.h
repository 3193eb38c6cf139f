// The environment of the ranks: mpirun's own, without what an outer job has left in it, with the variables
// that the options set and those that identify the rank. Called once for each program and once for each rank,
// before anything is started.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "config/settings.h"
#include "launch/plan.h"

namespace lanyard::launch {

using Variables = std::vector<std::string>;  // "NAME=VALUE"; a name occurs once

// The folder in which this mpirun is installed. Its own file is <prefix>/bin/mpirun.
std::string prefix_folder();

// The part that all ranks of `program` share.
Variables program_environment(const Plan &plan, const Program &program, char **inherited);

void set_variable(Variables &variables, const std::string &name, const std::string &value);
// Returns nullptr if the variable is not set.
const char *find_variable(const Variables &variables, const std::string &name);

// Adds sentences about unknown LANYARD_ names to `warnings`, each once. Returns an error for a value that
// cannot be used.
Error check_settings(const Variables &variables, Settings &settings, std::vector<std::string> &warnings);

}  // namespace lanyard::launch
