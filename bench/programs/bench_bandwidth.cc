// bench-bandwidth measures the bytes per second from one rank to another, in windows of 64 messages, for each
// size. With more than two ranks, the figure is the sum over all pairs. It is an ordinary MPI program,
// started by `lanyard bench bandwidth` or any mpirun.
#include "bench/programs/job.h"
#include "bench/programs/sampler.h"
#include "bench/programs/stream.h"

namespace lanyard::bench {
namespace {

void measure(const Job& job, Report& report) {
    const int pairs = job.size / 2;
    for (std::size_t bytes : job.settings.sizes_bytes) {
        double window_bytes = static_cast<double>(bytes) * job.settings.window * pairs;
        auto samples = sample_windows(job, bytes);
        report.count_sent(samples.rounds, window_bytes);
        report.add_size(bytes, summarise_as(std::move(samples),
                                            [&](double seconds) { return window_bytes / seconds / 1e9; }));
    }
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{{.name = "bandwidth",
                 .purpose = "Bytes per second between pairs of ranks, in windows of messages, per size.",
                 .sizes = "1-4M",
                 .windows = true,
                 .allocates = true},
                needs_even_ranks,
                {"one-way bandwidth of all pairs", "GB/s"},
                measure};
    return run_program(frame, argc, argv);
}
