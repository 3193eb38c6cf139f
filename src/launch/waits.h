// What each rank of the job waits for, as the library records it in the job's segment and, before there is a record, as
// the PMI server knows it: asked for by SIGQUIT, and when the time of --timeout is over.
#pragma once

#include <string>
#include <vector>

namespace lanyard::launch {

// How far a rank has come, as the PMI server sees it.
struct RankStage {
    bool joined = false;      // has begun PMI: it is in MPI_Init or past it
    bool in_barrier = false;  // of PMI
    int barriers_passed = 0;
    bool left = false;        // has ended PMI: MPI_Finalize
    bool ended = false;       // its process is over
};

// Lines, one per rank; a single one where no rank has called MPI_Init.
std::string report_waits(int segment_fd, const std::vector<RankStage> &stages);

}  // namespace lanyard::launch
