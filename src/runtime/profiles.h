// The end of a profile: what every rank has counted comes to rank 0, which reports it.
#pragma once

#include "runtime/runtime.h"

namespace lanyard {

// Called by all of the world. The engine is owned.
Error report_profiles(Runtime &ending, Team &world);

}  // namespace lanyard
