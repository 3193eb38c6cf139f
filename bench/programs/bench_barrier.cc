// bench-barrier measures the time of one MPI_Barrier on all ranks of the job. It is an ordinary MPI program,
// started by `lanyard bench barrier` or any mpirun.
#include "bench/programs/job.h"
#include "bench/programs/sampler.h"

namespace lanyard::bench {
namespace {

void measure(const Job& job, Report& report) {
    auto samples = sample(job.settings, [] { MPI_Barrier(MPI_COMM_WORLD); });
    report.add_named("barrier", "us",
                     summarise_as(std::move(samples), [](double seconds) { return seconds * 1e6; }));
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{{.name = "barrier", .purpose = "Time of one MPI_Barrier.", .sizes = ""},
                any_ranks, {"time of one call", "us", false}, measure};
    return run_program(frame, argc, argv);
}
