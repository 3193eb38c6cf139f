// Counts the processors that this process may really use: those of the calling thread's affinity mask,
// limited by the processor quota of its control groups (containers).
#pragma once

namespace lanyard {

// At least 1. A quota of 1.5 processors counts as 1. If the system does not report the mask, the result is 1.
int granted_processors();

}  // namespace lanyard
