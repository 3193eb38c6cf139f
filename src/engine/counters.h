// The counters of the engine and of the helper, which register themselves.
#pragma once

#include "base/counters.h"
#include "base/tally.h"

namespace lanyard {

class Helper;

// Since the start, of all threads.
struct EngineCounts {
    Tally<uint64_t> sleeps, slept_ns, yields;
};

Counters<EngineCounts> &engine_counters();
Counters<Helper> &helper_counters();

}  // namespace lanyard
