// Declares the findings of `lanyard doctor`, and the examinations that make them. An examination of the
// machine does what MPI programs would do, and draws no conclusions from a version or a name. An examination
// leaves nothing behind, and takes well under a second.
// Tested by: tests/command/test_lanyard.py.
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"
#include "tools/place.h"

namespace lanyard::tools {

enum class Verdict {
    good,     // as it should be
    note,     // MPI programs work, but more slowly or otherwise than a user may expect
    problem,  // MPI programs will not run, or will use another MPI library
};

struct Finding {
    Verdict verdict;
    std::string subject, sentence;
    std::string instead;  // what Lanyard uses instead if the machine refuses something; may be ""
    std::string remedy;   // what the user can do; may be ""
};

using Findings = std::vector<Finding>;

Finding examine_processors();
Finding examine_shared_memory(const Settings &settings);
Finding examine_long_messages(const Settings &settings);
// Opens an endpoint of the datagram path and checks the size of its buffer.
Finding examine_datagrams(const Settings &settings);
// Loads the library that LANYARD_CHECKSUM=on needs.
Finding examine_checksums(const Settings &settings);
Finding examine_library(const Installation &installation);
Finding examine_compiler(const Installation &installation);
// Finds other MPI libraries that take precedence over Lanyard, by PATH, LD_LIBRARY_PATH or LD_PRELOAD.
Findings examine_others(const Installation &installation);
// Finds invalid variables of Lanyard, and variables that show that this shell runs inside the job of another
// launcher.
Findings examine_environment();

}  // namespace lanyard::tools
