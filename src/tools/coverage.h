// Finds out which MPI functions the installed library implements. This is computed from the symbols that the
// library exports, never from a flag.
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

// Opens liblanyard.so.0 and the ABI front end, and looks up the symbols of every function. An error names the
// file that could not be opened.
Error find_coverage(const Installation &installation, Coverage &coverage);

// A table with totals for each chapter. If `names` is true, the table also names every missing function.
std::string coverage_table_text(const Coverage &coverage, bool names);
std::string coverage_json(const Coverage &coverage);

}  // namespace lanyard::tools
