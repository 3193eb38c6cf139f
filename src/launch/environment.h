// The environment of the ranks: mpirun's own, less what an outer job left in it, plus what the options set, plus what
// tells a rank who it is. Called once per program and once per rank, before anything is started.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "config/settings.h"
#include "launch/plan.h"

namespace lanyard::launch {

using Variables = std::vector<std::string>;  // "NAME=VALUE"; a name occurs once

// Where this mpirun is installed: its own file is <prefix>/bin/mpirun.
std::string prefix_folder();

// The part that all ranks of `program` share.
Variables program_environment(const Plan &plan, const Program &program, char **inherited);

void set_variable(Variables &variables, const std::string &name, const std::string &value);
// nullptr when it is not set.
const char *find_variable(const Variables &variables, const std::string &name);

// Sentences about LANYARD_ names nobody knows are added to `warnings`, each once; a value that cannot be used is returned as an error.
Error check_settings(const Variables &variables, Settings &settings, std::vector<std::string> &warnings);

}  // namespace lanyard::launch
