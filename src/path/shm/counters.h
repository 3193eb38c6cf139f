// The counters of shared memory. The path registers itself.
#pragma once

#include "base/counters.h"

namespace lanyard {

class ShmPath;

Counters<ShmPath> &shm_counters();

}  // namespace lanyard
