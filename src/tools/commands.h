// The subcommands of `lanyard`. Each adds its options to the command line it is given and returns what to run; main
// parses, runs the chosen one and exits with what it returns: 0, 1 for a finding or failure, 2 for a usage error.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "tools/place.h"

namespace lanyard::tools {

using Command = std::function<int()>;

// lanyard info --settings | --coverage | --paths
Command add_info(CLI::App &parent, const Place &place);
// lanyard doctor
Command add_doctor(CLI::App &parent, const Place &place);
// lanyard bench NAME
Command add_bench(CLI::App &parent, const Place &place);

// The manual page of a command line and its subcommands, in the language of man(1), from the text of --help.
std::string manual_page(const CLI::App &app, const std::string &version);

}  // namespace lanyard::tools
