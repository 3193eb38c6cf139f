// A benchmark program's rank and size in its MPI job, and the frame in which every program runs: parse,
// MPI_Init, measure, report, MPI_Finalize. Only functions of the standard are called, so the programs run on
// any MPI library. One thread, except that bench-rate lets further threads send and receive. Only rank 0
// prints; all ranks exit with the same code.
#pragma once

#include <string>

#include <mpi.h>

#include "bench/programs/blocks.h"
#include "bench/programs/report.h"
#include "bench/programs/settings.h"

namespace lanyard::bench {

struct Job {
    int rank = 0;
    int size = 1;
    std::string library;    // first line of MPI_Get_library_version
    std::string host;
    double init_seconds = 0;  // duration of MPI_Init on this rank
    int thread_level = 0;     // the level that MPI provides
    Settings settings;
};

// Runs one program. `measure` is called on every rank and adds rows to the report, which prints them on rank
// 0. `refuse` returns a sentence if the job does not suit the program, for instance by its number of ranks,
// else "".
struct Frame {
    Program program;
    std::string (*refuse)(const Job&);
    Columns columns;
    void (*measure)(const Job&, Report&);
};
int run_program(const Frame& frame, int argc, char** argv);

// The usual requirements for the number of ranks.
std::string needs_two_ranks(const Job& job);
std::string needs_even_ranks(const Job& job);
std::string any_ranks(const Job& job);

// Lets the library finish its work for peers: acknowledgements, and copies that are no longer needed. Takes
// half a second, on all ranks at once.
void let_it_become_quiet();

// Prints the sentence and stops the job. For messages and results that are wrong.
[[noreturn]] void fail(const Job& job, const std::string& sentence);

}  // namespace lanyard::bench
