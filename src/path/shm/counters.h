// Declares the counters of shared memory. Each ShmPath registers itself.
// Tested by: tests/mpi/tool/pvars.cc.
#pragma once

#include "base/counters.h"

namespace lanyard {

class ShmPath;

Counters<ShmPath> &shm_counters();

}  // namespace lanyard
