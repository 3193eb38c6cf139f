// Declares the counters of the engine and of the helper. Each Engine and each Helper registers its own
// counts.
// Tested by: tests/mpi/tool/pvars.cc, tests/mpi/tool/again.cc.
#pragma once

#include "base/counters.h"
#include "base/tally.h"

namespace lanyard {

class Helper;

// Totals over all threads since the start.
struct EngineCounts {
    Tally<uint64_t> sleeps, slept_ns, yields;
};

Counters<EngineCounts> &engine_counters();
Counters<Helper> &helper_counters();

}  // namespace lanyard
