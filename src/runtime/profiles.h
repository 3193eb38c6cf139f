// Ends a profile: rank 0 collects the counts of all ranks and reports them.
// Tested by: tests/launch/test_profile.py.
#pragma once

#include "runtime/runtime.h"

namespace lanyard {

// Called once by all ranks of the world. `ending` must have a profile. [owner] Contains collectives. Rank 0
// writes the report. Errors come from these collectives.
Error report_profiles(Runtime &ending, Team &world);

}  // namespace lanyard
