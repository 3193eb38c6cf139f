// The number of processors that this process may really use: its affinity, limited by the quota of its
// control groups (containers).
#pragma once

namespace lanyard {

// At least 1. A quota of 1.5 processors counts as 1.
int granted_processors();

}  // namespace lanyard
