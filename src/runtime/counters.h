// Declares all counters of the library, in the order in which tools see them. Defines the counter of the wait
// record (base/wait_record.h), which shows whether this process waits in MPI.
// Thread rule: declare_counters() is called by the thread that creates the runtime, or by a tool that holds
// tool_lock() (tool/tool.h).
// Tested by: tests/command/test_tool_interface.py, tests/unit/tool/tool_test.cc.
#pragma once

#include "base/counters.h"

namespace lanyard {

struct WaitRecord;

Counters<WaitRecord> &wait_counters();
// Must be called before any counter is read.
void declare_counters();

}  // namespace lanyard
