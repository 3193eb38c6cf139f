// bench-latency measures half of the round trip of a message between two ranks, for each size. It reports the
// mean. With --percentile it reports the time within which that percentage of all exchanges completes. It is
// an ordinary MPI program, started by `lanyard bench latency` or any mpirun.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/programs/beside.h"
#include "bench/programs/job.h"
#include "bench/programs/memory.h"
#include "bench/programs/sampler.h"

namespace lanyard::bench {
namespace {

void exchange(const Job& job, char* buffer, int bytes) {
    if (job.rank == 0) {
        MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

// The first exchange carries known bytes: a fast exchange that loses or corrupts bytes is not worth timing.
void check_exchange(const Job& job, Memory& buffer) {
    char mine = static_cast<char>(17 + job.rank);
    buffer.fill(mine);
    exchange(job, buffer.data(), static_cast<int>(buffer.size()));
    auto wrong = std::find_if(buffer.begin(), buffer.end(), [](char byte) { return byte != 17; });
    if (wrong != buffer.end())
        fail(job, "byte " + std::to_string(wrong - buffer.begin()) + " of a message of " +
                      std::to_string(buffer.size()) + " bytes arrived changed");
}

void add_row(const Job& job, std::size_t bytes, const Summary& summary, Report& report) {
    if (job.settings.percentile == 0) return report.add_size(bytes, summary);
    report.add_named_size(fmt::format("percentile {:g}", job.settings.percentile), bytes, "us", summary);
}

// With --beside, a transfer uses the link at the same time. The names of the rows then contain the size of
// this transfer, so that they are not mistaken for latencies of an idle link.
void measure_size(const Job& job, std::size_t bytes, Report& report) {
    Memory buffer(job.settings, bytes);
    check_exchange(job, buffer);
    std::size_t beside_bytes = job.settings.beside_bytes;
    Beside beside(job, beside_bytes);
    auto turn = [&] {
        beside.turn();
        exchange(job, buffer.data(), static_cast<int>(bytes));
    };
    auto samples =
        job.settings.percentile > 0 ? sample_percentiles(job.settings, turn) : sample(job.settings, turn);
    report.count_sent(2 * samples.rounds, static_cast<double>(bytes));
    double beside_rate = beside.finish();
    report.count_sent(beside.transfers(), static_cast<double>(beside_bytes));
    Summary summary = summarise_as(std::move(samples), [](double seconds) { return seconds / 2 * 1e6; });
    if (beside_bytes == 0) return add_row(job, bytes, summary, report);
    std::string name = "beside " + std::to_string(beside_bytes);
    report.add_named_size(name, bytes, "us", summary);
    report.add_named_size(name + ", its rate", bytes, "GB/s", summarise({beside_rate / 1e9}));
}

void measure(const Job& job, Report& report) {
    for (std::size_t bytes : job.settings.sizes_bytes) measure_size(job, bytes, report);
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{{.name = "latency",
                 .purpose = "Half round trip of a message between two ranks, per size.",
                 .sizes = "1-4M",
                 .allocates = true,
                 .beside = true,
                 .percentile = true},
                needs_two_ranks,
                {"half round trip", "us"},
                measure};
    return run_program(frame, argc, argv);
}
