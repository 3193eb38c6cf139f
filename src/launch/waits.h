// Finds out and reports what each rank of the job waits for. The library records this in the shared-memory
// segment of each node. Before a rank has a record, the state of the PMI server is used. A report is
// requested by SIGQUIT, or because the time of --timeout is over. These functions have no side effects. They
// read only their arguments, except that local_waits() also reads the segment.
// Tested by: tests/launch/test_mpi.py, tests/launch/test_hosts.py.
#pragma once

#include <string>
#include <vector>

#include "launch/hosts.h"

namespace lanyard::launch {

// The progress of a rank through start and end, as the PMI server sees it.
struct RankStage {
    bool joined = false;      // the rank has begun PMI, so it is in MPI_Init or has passed it
    bool in_barrier = false;  // the rank is in a barrier of PMI
    int barriers_passed = 0;
    bool left = false;        // the rank has ended PMI, in MPI_Finalize or at the end of its last session
    bool ended = false;       // the rank's process has ended
    bool session = false;     // the rank entered the barrier in MPI_Session_init, not in MPI_Init
};

// What mpirun can find out about one rank.
struct RankWaits {
    int rank = 0;
    bool known = false;     // the rank's host has answered
    bool recorded = false;  // the segment of the rank's host contains records
    std::string line;       // the rank's record as a sentence, or ""
    RankStage stage;
};

// What the ranks of this host wait for. `stages` has the same order as `ranks`.
std::vector<RankWaits> local_waits(int segment_fd, const std::vector<int> &ranks,
                                   const std::vector<RankStage> &stages);

// The text of the report: one line for each rank, or a single line if no rank has called MPI_Init. `waits`
// has all ranks of the job, in order.
std::string report_waits(const std::vector<RankWaits> &waits, const Placement &placement);

}  // namespace lanyard::launch
