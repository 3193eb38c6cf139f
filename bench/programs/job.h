// A benchmark program's place in its MPI job, and the frame every one of them runs in: parse, MPI_Init, measure,
// report, MPI_Finalize. Only functions of the standard are called, so the programs run on any MPI library.
// One thread, but while bench-rate has others work. Rank 0 alone prints; all ranks leave with the same exit code.
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
    double init_seconds = 0;  // what MPI_Init took on this rank
    int thread_level = 0;     // what MPI grants the threads of this process
    Settings settings;
};

// Runs one program. `measure` is called on every rank and adds rows to the report, which prints them on rank 0.
// `refuse` returns a sentence where the number of ranks does not suit, else "".
struct Frame {
    Program program;
    std::string (*refuse)(const Job&);
    Columns columns;
    void (*measure)(const Job&, Report&);
};
int run_program(const Frame& frame, int argc, char** argv);

// The usual demands on the number of ranks.
std::string needs_two_ranks(const Job& job);
std::string needs_even_ranks(const Job& job);
std::string any_ranks(const Job& job);

// Gives the library the chance to settle what it owes its peers: acknowledgements, copies that are no longer needed. Half a second, on all
// ranks at once.
void let_it_become_quiet();

// Stops the job with a sentence: what was received is not what was sent.
[[noreturn]] void fail(const Job& job, const std::string& sentence);

}  // namespace lanyard::bench
