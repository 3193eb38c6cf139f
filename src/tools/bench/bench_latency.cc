// bench-latency: half the time of a message going there and coming back, for each size, between two ranks.
// An ordinary MPI program, started by `lanyard bench latency` or by any mpirun.
#include <algorithm>
#include <vector>

#include "tools/bench/job.h"
#include "tools/bench/sampler.h"

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

// A fast exchange that loses or mangles bytes is not worth timing: one round with known bytes first.
void check_exchange(const Job& job, std::vector<char>& buffer) {
    char mine = static_cast<char>(17 + job.rank);
    std::fill(buffer.begin(), buffer.end(), mine);
    exchange(job, buffer.data(), static_cast<int>(buffer.size()));
    auto wrong = std::find_if(buffer.begin(), buffer.end(), [](char byte) { return byte != 17; });
    if (wrong != buffer.end())
        fail(job, "byte " + std::to_string(wrong - buffer.begin()) + " of a message of " + std::to_string(buffer.size()) +
                      " bytes arrived changed");
}

void measure(const Job& job, Report& report) {
    for (std::size_t bytes : job.settings.sizes_bytes) {
        std::vector<char> buffer(bytes);
        check_exchange(job, buffer);
        auto samples = sample(job.settings, [&] { exchange(job, buffer.data(), static_cast<int>(bytes)); });
        report.add_size(bytes, summarise_as(std::move(samples), [](double seconds) { return seconds / 2 * 1e6; }));
    }
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{{.name = "latency", .purpose = "Half round trip of a message between two ranks, per size.", .sizes = "1-4M"},
                needs_two_ranks, {"half round trip", "us"}, measure};
    return run_program(frame, argc, argv);
}
