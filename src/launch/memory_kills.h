// Counts the processes that the kernel has killed for lack of memory in the control groups of this process
// (version 1 or 2). The count is read before the ranks start, and again when a rank is killed by SIGKILL. If
// the count has grown, lack of memory is the likely reason.
// Tested by: tests/launch/test_endings.py.
#pragma once

namespace lanyard::launch {

// The count; 0 if the kernel does not report it.
long memory_kills();

}  // namespace lanyard::launch
