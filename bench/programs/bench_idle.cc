// bench-idle runs a job whose ranks all wait for a message that never arrives. It measures nothing itself.
// bench/compare (bench/idle.py) reads the processor time of the job's whole process tree, including the
// launcher, and then ends the job. Otherwise SIGALRM ends it after a minute. It is an ordinary MPI program
// for any mpirun.
#include <cstdio>

#include <unistd.h>

#include "bench/programs/job.h"

namespace lanyard::bench {
namespace {

constexpr unsigned give_up_after_seconds = 60;

void measure(const Job& job, Report&) {
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(give_up_after_seconds);
    if (job.rank == 0) {
        std::printf("all %d ranks wait\n", job.size);  // bench/idle.py looks for this line
        std::fflush(stdout);
    }
    char byte = 0;
    MPI_Recv(&byte, 1, MPI_BYTE, (job.rank + 1) % job.size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fail(job, "a message arrived that nobody sent");
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{
        {.name = "idle",
         .purpose =
             "Ranks that wait for a message that never arrives; bench/compare measures their processor "
             "time.",
         .sizes = "",
         .timed_blocks = false},
        any_ranks,
        {"nothing by itself", "", false},
        measure};
    return run_program(frame, argc, argv);
}
