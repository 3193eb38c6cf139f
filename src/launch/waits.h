// What each rank of the job waits for, as the library records it in the job's segment and, before there is a record, as
// the PMI server knows it: asked for by SIGQUIT, and when the time of --timeout is over.
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
    bool ended = false;       // its process is over
    bool session = false;     // it entered the barrier in MPI_Session_init, not in MPI_Init
};

// What is known of one rank.
struct RankWaits {
    int rank = 0;
    bool known = false;     // its host has answered
    bool recorded = false;  // the segment of its host holds records
    std::string line;       // its record, or ""
    RankStage stage;
};

// Of the ranks of this host, `stages` in the same order.
std::vector<RankWaits> local_waits(int segment_fd, const std::vector<int> &ranks, const std::vector<RankStage> &stages);

// Lines, one per rank; a single one where no rank has called MPI_Init. `waits` has all ranks of the job in order.
std::string report_waits(const std::vector<RankWaits> &waits, const Placement &placement);

}  // namespace lanyard::launch
