// The command line of mpirun: one table of options from which parsing, --help, the manual page and the suggestion of
// the nearest option are made. One or two dashes mean the same, as users of the various mpirun commands write both.
#pragma once

#include <string>
#include <vector>

#include "launch/plan.h"

namespace lanyard::launch {

enum class Request { run, help, version, manual, refused };

struct Parsed {
    Request request = Request::run;
    Plan plan;
    std::string trouble;  // with Request::refused: the sentence
};

Parsed parse_options(const std::vector<std::string> &words);
std::string help_text();
std::string manual_page();  // in the language of man(7)

}  // namespace lanyard::launch
