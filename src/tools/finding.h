// The findings of `lanyard doctor`, and the examinations that make them. Each examination tries the thing
// itself (it never concludes from a version or a name), leaves nothing behind, and takes well under a second.
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"
#include "tools/place.h"

namespace lanyard::tools {

enum class Verdict {
    good,     // as it should be
    note,     // works, but slower or differently than a user may expect
    problem,  // MPI programs will not run, or not on this library
};

struct Finding {
    Verdict verdict;
    std::string subject, sentence;
    std::string instead;  // what is used instead of what is refused
    std::string remedy;   // what the user can do
};

using Findings = std::vector<Finding>;

Finding examine_processors();
Finding examine_shared_memory(const Settings &settings);
Finding examine_long_messages(const Settings &settings);
// Opens an endpoint of the datagram path, and checks its buffer.
Finding examine_datagrams(const Settings &settings);
// Loads the library that LANYARD_CHECKSUM=on needs.
Finding examine_checksums(const Settings &settings);
Finding examine_library(const Place &place);
Finding examine_compiler(const Place &place);
// Finds another MPI that takes precedence, on PATH or in LD_LIBRARY_PATH or LD_PRELOAD.
Findings examine_others(const Place &place);
// Finds invalid variables of Lanyard, and variables of another launcher's job around this shell.
Findings examine_environment();

}  // namespace lanyard::tools
