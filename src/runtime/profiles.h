// The end of a profile: the counts of all ranks are gathered at rank 0, which reports them.
#pragma once

#include "runtime/runtime.h"

namespace lanyard {

// Called by all ranks of the world. The engine is owned.
Error report_profiles(Runtime &ending, Team &world);

}  // namespace lanyard
