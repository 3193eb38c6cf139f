// Random collective operations on an intercommunicator, each checked element by element against the definition. Several are under
// way at once, and each rank waits for them in another order. Both groups make the same operations from generators in one state.
#pragma once

#include "sim/job.h"

namespace lanyard::sim {

// `rounds` times a few operations at once.
void run_inter_collectives(Rank &rank, Comm &comm, uint64_t seed, int rounds);

}  // namespace lanyard::sim
