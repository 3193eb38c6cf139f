// Counts the processors that this process may really use: those of its affinity mask, limited by the
// processor quota of its control groups (containers).
#pragma once

namespace lanyard {

// At least 1. A quota of 1.5 processors counts as 1.
int granted_processors();

}  // namespace lanyard
