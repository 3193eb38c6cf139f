// Random collective operations on one communicator, each checked element by element against the definition. All members call
// run_collectives with the same seed.
#pragma once

#include "sim/job.h"

namespace lanyard::sim {

// `count` operations on the team; elements of any block: at most `most`.
void run_collectives(Rank &rank, Team &team, uint64_t seed, int count, int64_t most);

}  // namespace lanyard::sim
