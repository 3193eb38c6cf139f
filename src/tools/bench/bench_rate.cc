// bench-rate: how many 8-byte messages a second pass from one rank to another (all pairs together where there are more
// than two), in windows of 64. An ordinary MPI program, started by `lanyard bench rate` or any mpirun.
#include "tools/bench/job.h"
#include "tools/bench/sampler.h"
#include "tools/bench/stream.h"

namespace lanyard::bench {
namespace {

void measure(const Job& job, Report& report) {
    for (std::size_t bytes : job.settings.sizes_bytes) {
        double messages = static_cast<double>(job.settings.window) * (job.size / 2);
        auto samples = sample_windows(job, bytes);
        report.add_size(bytes, summarise_as(std::move(samples), [&](double seconds) { return messages / seconds / 1e6; }));
    }
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{{.name = "rate", .purpose = "Messages per second between pairs of ranks, in windows.", .sizes = "8",
                 .windows = true},
                needs_even_ranks, {"message rate of all pairs", "M/s"}, measure};
    return run_program(frame, argc, argv);
}
