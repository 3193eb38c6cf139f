// Declares all counters of the library, in the order in which tools see them. Defines the counter of the wait
// record (base/wait_record.h), which shows whether this process waits in MPI.
// Thread rule: any thread. The thread that creates the runtime calls declare_counters(), and so does
// MPI_T_init_thread.
// Tested by: tests/command/test_tool_interface.py, tests/unit/tool/tool_test.cc.
#pragma once

#include "base/counters.h"

namespace lanyard {

struct WaitRecord;

Counters<WaitRecord> &wait_counters();
// Must be called before any counter is read.
void declare_counters();

}  // namespace lanyard
