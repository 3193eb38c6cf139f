// The MPI library's own counters of its memory and its protocols, from performance variables of the
// tool information interface (MPI-5.0 15.3). Lanyard has all variables used here. For a library that
// has none of these variables, nothing is reported. One thread.
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
    // Collective; uses PMPI_ functions, so that its calls are not counted.
    std::string describe();

private:
    struct Counter {
        const char* what;
        bool in_bytes, adds_up;  // adds_up: the sum over all ranks is reported, otherwise the largest value
        MPI_T_pvar_handle handle;
        double before;
    };
    double read(const Counter& counter) const;

    MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
    std::vector<Counter> counters_;
};

}  // namespace lanyard::bench
