// Parses the command line of mpirun. One table of options (option_table.h) is used for parsing, for --help,
// for the manual page and for suggesting the nearest option. One dash and two dashes have the same meaning,
// because users of the various mpirun commands write both. Called once, by main.
#pragma once

#include <string>
#include <vector>

#include "launch/plan.h"

namespace lanyard::launch {

enum class Request { run, help, version, manual, refused };

struct Parsed {
    Request request = Request::run;
    Plan plan;
    std::string trouble;  // for Request::refused: what is wrong, as a sentence
};

Parsed parse_options(const std::vector<std::string> &words);
std::string help_text();
std::string manual_page();  // in the language of man(7)

}  // namespace lanyard::launch
