// Which MPI functions the library beside this program has. This is computed from what is linked, never from a
// flag.
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

// Opens liblanyard.so.0 and the ABI front end and looks up every symbol. An error names the file that could
// not be opened.
Error find_coverage(const Place &place, Coverage &coverage);

// A table of chapters with totals; with `names` also every missing function.
std::string coverage_table_text(const Coverage &coverage, bool names);
std::string coverage_json(const Coverage &coverage);

}  // namespace lanyard::tools
