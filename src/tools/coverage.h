// Which functions of MPI the library beside this program has: computed from what is linked, never from a flag.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "tools/place.h"

namespace lanyard::tools {

struct Coverage {
    struct Function {
        std::string name, chapter;
        bool implemented;
    };
    std::vector<Function> functions;  // in the order of the chapters
};

// Opens liblanyard.so.0 and the door and asks for every symbol; an error names the file that could not be opened.
Error find_coverage(const Place &place, Coverage &coverage);

// A table of chapters with totals, and with `names` every missing function.
std::string coverage_table_text(const Coverage &coverage, bool names);
std::string coverage_json(const Coverage &coverage);

}  // namespace lanyard::tools
