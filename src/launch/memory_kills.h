// Counts the processes that the kernel killed for want of memory in the control groups of this process (version 1 or 2).
// Read before the ranks start and again when one dies by SIGKILL: if the count has grown, that is the likely reason.
#pragma once

namespace lanyard::launch {

// 0 where the kernel does not say.
long memory_kills();

}  // namespace lanyard::launch
