// Counts the processes that the kernel has killed for lack of memory in the control groups of this process
// (version 1 or 2). The count is read before the ranks start and again when one dies of SIGKILL. If it has
// grown, lack of memory is the likely reason.
#pragma once

namespace lanyard::launch {

// Returns 0 if the kernel does not report it.
long memory_kills();

}  // namespace lanyard::launch
