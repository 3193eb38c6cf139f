// All counters of the library, in the order in which tools see them, and the counter of the wait record.
#pragma once

#include "base/counters.h"

namespace lanyard {

struct WaitRecord;

Counters<WaitRecord> &wait_counters();
// Must be called before any counter is read.
void declare_counters();

}  // namespace lanyard
