// bench-allreduce measures the time of one MPI_Allreduce (sum of doubles) on all ranks of the job, for each
// size. It is an ordinary MPI program, started by `lanyard bench allreduce` or any mpirun.
#include <algorithm>
#include <vector>

#include "bench/programs/job.h"
#include "bench/programs/sampler.h"

namespace lanyard::bench {
namespace {

void check_sum(const Job& job, std::vector<double>& mine, std::vector<double>& sum) {
    std::fill(mine.begin(), mine.end(), job.rank + 1);
    MPI_Allreduce(mine.data(), sum.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    double expected = job.size * (job.size + 1) / 2.0;
    auto wrong = std::find_if(sum.begin(), sum.end(), [&](double value) { return value != expected; });
    if (wrong != sum.end())
        fail(job, "element " + std::to_string(wrong - sum.begin()) + " of an MPI_Allreduce is " +
                      std::to_string(*wrong) + " instead of " + std::to_string(expected));
}

void measure(const Job& job, Report& report) {
    for (std::size_t bytes : job.settings.sizes_bytes) {
        std::size_t count = (bytes + sizeof(double) - 1) / sizeof(double);
        std::vector<double> mine(count), sum(count);
        check_sum(job, mine, sum);
        auto samples = sample(job.settings, [&] {
            MPI_Allreduce(mine.data(), sum.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM,
                          MPI_COMM_WORLD);
        });
        // This is the least that an allreduce sends. Some algorithms send more.
        report.count_sent(2 * (job.size - 1) * samples.rounds, static_cast<double>(count * sizeof(double)));
        report.add_size(count * sizeof(double),
                        summarise_as(std::move(samples), [](double seconds) { return seconds * 1e6; }));
    }
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{{.name = "allreduce",
                 .purpose = "Time of one MPI_Allreduce (sum of doubles), per size in bytes.",
                 .sizes = "8-1M"},
                any_ranks,
                {"time of one call", "us"},
                measure};
    return run_program(frame, argc, argv);
}
