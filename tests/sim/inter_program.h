// Runs random collective operations on an intercommunicator and checks their results, element by element,
// against the operations' definitions. Several operations are under way at once, and each rank waits for them
// in an order of its own. Both groups perform the same operations, because their random generators are in the
// same state.
#pragma once

#include "sim/job.h"

namespace lanyard::sim {

// Repeats `rounds` times: starts a few operations and then finishes them.
void run_inter_collectives(Rank &rank, Comm &comm, uint64_t seed, int rounds);

}  // namespace lanyard::sim
