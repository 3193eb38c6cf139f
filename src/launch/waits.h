// What each rank of the job waits for, as recorded by the library in the job's segment or, before there is a
// record, by the PMI server. Requested by SIGQUIT, and when the time of --timeout is over. Pure functions,
// except that local_waits reads the segment.
#pragma once

#include <string>
#include <vector>

#include "launch/hosts.h"

namespace lanyard::launch {

// How far a rank has come, as the PMI server sees it.
struct RankStage {
    bool joined = false;      // has begun PMI: it is in MPI_Init or past it
    bool in_barrier = false;  // of PMI
    int barriers_passed = 0;
    bool left = false;        // has ended PMI: MPI_Finalize
    bool ended = false;       // its process has ended
    bool session = false;     // it entered the barrier in MPI_Session_init, not in MPI_Init
};

// What mpirun can find out about one rank.
struct RankWaits {
    int rank = 0;
    bool known = false;     // its host has answered
    bool recorded = false;  // the segment of its host contains records
    std::string line;       // its record, or ""
    RankStage stage;
};

// For the ranks of this host, with `stages` in the same order.
std::vector<RankWaits> local_waits(int segment_fd, const std::vector<int> &ranks,
                                   const std::vector<RankStage> &stages);

// One line for each rank, or a single one if no rank has called MPI_Init. `waits` has all ranks of the job,
// in order.
std::string report_waits(const std::vector<RankWaits> &waits, const Placement &placement);

}  // namespace lanyard::launch
