// All counters of the library, in the order in which tools see them, and that of the wait record.
#pragma once

#include "base/counters.h"

namespace lanyard {

struct WaitRecord;

Counters<WaitRecord> &wait_counters();
// Before anybody reads counters.
void declare_counters();

}  // namespace lanyard
