// Describes an MPI job to a benchmark program (rank, size and others), and runs the steps that every program
// has: parse the command line, MPI_Init, measure, report, MPI_Finalize. Only functions of the standard are
// called, so the programs run on any MPI library. One thread, except that bench-rate lets further threads
// send and receive. Only rank 0 prints. All ranks exit with the same code.
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

// Describes one program to run_program(). `measure` is called on every rank and adds rows to the report,
// which prints them on rank 0. `refuse` returns a sentence if the job does not suit the program, for instance
// because of its number of ranks. Otherwise it returns "".
struct Frame {
    Program program;
    std::string (*refuse)(const Job&);
    Columns columns;
    void (*measure)(const Job&, Report&);
};
int run_program(const Frame& frame, int argc, char** argv);

// Checks of the number of ranks, for Frame::refuse.
std::string needs_two_ranks(const Job& job);
std::string needs_even_ranks(const Job& job);
std::string any_ranks(const Job& job);

// Gives the library time to finish its work for peers, such as sending acknowledgements and freeing copies
// that are no longer needed. Takes half a second, on all ranks at once.
void let_it_become_quiet();

// Prints the sentence and stops the job. Used if messages or results are wrong.
[[noreturn]] void fail(const Job& job, const std::string& sentence);

}  // namespace lanyard::bench
