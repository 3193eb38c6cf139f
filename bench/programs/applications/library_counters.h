// What the MPI library itself counts of its memory and its protocols, by performance variables of the tool information interface
// (MPI-5.0 15.3). Lanyard has those that are asked for; where a library has none of them nothing is told. One thread.
#pragma once

#include <string>
#include <vector>

#include <mpi.h>

namespace lanyard::bench {

class LibraryCounters {
public:
    // Begins to count.
    LibraryCounters();
    ~LibraryCounters();
    LibraryCounters(const LibraryCounters&) = delete;
    LibraryCounters& operator=(const LibraryCounters&) = delete;

    // What was counted on all ranks since the beginning, a line for each that is not 0. Collective; made of PMPI_ calls.
    std::string describe();

private:
    struct Counter {
        const char* what;
        bool in_bytes, adds_up;  // over ranks; otherwise the largest counts
        MPI_T_pvar_handle handle;
        double before;
    };
    double read(const Counter& counter) const;

    MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
    std::vector<Counter> counters_;
};

}  // namespace lanyard::bench
