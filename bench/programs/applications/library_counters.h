// Reports the MPI library's own counters of its memory and its protocols. They are performance variables of
// the tool information interface (MPI-5.0 15.3). Lanyard has all variables used here. If a library has none
// of them, nothing is reported. One thread.
#pragma once

#include <string>
#include <vector>

#include <mpi.h>

namespace lanyard::bench {

class LibraryCounters {
public:
    // Starts counting.
    LibraryCounters();
    ~LibraryCounters();
    LibraryCounters(const LibraryCounters&) = delete;
    LibraryCounters& operator=(const LibraryCounters&) = delete;

    // Describes the counters over all ranks since the start, with a line for each counter that is not 0.
    // Collective. Uses PMPI_ functions, so that its own calls are not counted.
    std::string describe();

private:
    struct Counter {
        const char* what;
        // adds_up: the sum over all ranks is reported; otherwise, the largest value
        bool in_bytes, adds_up;
        MPI_T_pvar_handle handle;
        double before;
    };
    double read(const Counter& counter) const;

    MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
    std::vector<Counter> counters_;
};

}  // namespace lanyard::bench
