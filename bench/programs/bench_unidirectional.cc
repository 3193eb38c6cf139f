// bench-unidirectional measures a stream of messages from rank 0 to rank 1 in windows, and the processor use
// of both sides meanwhile. In `expected`, the receives are posted before the sender may begin. In
// `unexpected`, they are posted when all messages of the window have arrived. It is an ordinary MPI program,
// started by `lanyard bench unidirectional` or any mpirun.
//
// Both parts exchange the same messages. They differ only in whether receives are posted before or after the
// messages arrive.
#include <algorithm>
#include <utility>
#include <vector>

#include "bench/programs/job.h"
#include "bench/programs/sampler.h"

namespace lanyard::bench {
namespace {

enum Tag : int { go_tag = 1, data_tag, all_sent_tag };
constexpr char known_byte = 29;

class Windows {
public:
    Windows(const Job& job, std::size_t bytes, bool expected)
        : bytes_(static_cast<int>(bytes)), expected_(expected),
          reuse_(job.settings.reuse_buffer || job.rank == 0),
          buffer_(bytes * (reuse_ ? 1 : static_cast<std::size_t>(job.settings.window)),
                  job.rank == 0 ? known_byte : 0),
          requests_(static_cast<std::size_t>(job.settings.window)) {}

    void send() {
        MPI_Recv(nullptr, 0, MPI_BYTE, 1, go_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (MPI_Request& request : requests_)
            MPI_Isend(buffer_.data(), bytes_, MPI_BYTE, 1, data_tag, MPI_COMM_WORLD, &request);
        MPI_Send(nullptr, 0, MPI_BYTE, 1, all_sent_tag, MPI_COMM_WORLD);
        wait_for_all();
    }
    void receive() {
        if (expected_) post();
        MPI_Send(nullptr, 0, MPI_BYTE, 0, go_tag, MPI_COMM_WORLD);
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, all_sent_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!expected_) post();
        wait_for_all();
    }

    bool intact() const {
        return std::all_of(buffer_.begin(), buffer_.end(), [](char byte) { return byte == known_byte; });
    }

private:
    void post() {
        char* slot = buffer_.data();
        for (MPI_Request& request : requests_) {
            MPI_Irecv(slot, bytes_, MPI_BYTE, 0, data_tag, MPI_COMM_WORLD, &request);
            if (!reuse_) slot += bytes_;
        }
    }
    void wait_for_all() {
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }

    int bytes_;
    bool expected_, reuse_;
    std::vector<char> buffer_;
    std::vector<MPI_Request> requests_;
};

// The processor use in per cent of one processor, by rank, with one value for each block. Only rank 0 has the
// values.
using Use = std::vector<double>[2];

double time_and_use(const Job& job, long rounds, Windows& windows, Use& use) {
    auto window = [&] { job.rank == 0 ? windows.send() : windows.receive(); };
    double used = processor_seconds();
    double seconds = time_block(rounds, window);
    double mine = (processor_seconds() - used) / seconds * 100, both[2];
    MPI_Gather(&mine, 1, MPI_DOUBLE, both, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int rank = 0; rank < 2 && job.rank == 0; ++rank) use[rank].push_back(both[rank]);
    return seconds;
}

void measure_size(const Job& job, const std::string& part, std::size_t bytes, Report& report) {
    Windows windows(job, bytes, part == "expected");
    auto window = [&] { job.rank == 0 ? windows.send() : windows.receive(); };
    time_block(1, window);
    if (!windows.intact()) fail(job, "messages of " + std::to_string(bytes) + " bytes arrived changed");
    Use use;
    auto samples =
        sample_blocks(job.settings, [&](long rounds) { return time_and_use(job, rounds, windows, use); });
    if (job.rank != 0) return;
    double window_bytes = static_cast<double>(bytes) * job.settings.window;
    report.count_sent(samples.rounds, window_bytes);
    report.add_named_size(
        part, bytes, "GB/s",
        summarise_as(std::move(samples), [&](double seconds) { return window_bytes / seconds / 1e9; }));
    const char* sides[] = {", sender's processor", ", receiver's processor"};
    for (int rank = 0; rank < 2; ++rank) {
        // The first blocks warm up.
        use[rank].erase(use[rank].begin(), use[rank].end() - job.settings.blocks);
        report.add_named_size(part + sides[rank], bytes, "%", summarise(use[rank]));
    }
}

void measure(const Job& job, Report& report) {
    for (const std::string& part : job.settings.parts)
        for (std::size_t bytes : job.settings.sizes_bytes) measure_size(job, part, bytes, report);
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{
        {.name = "unidirectional",
         .purpose = "A stream of messages that are expected or not, and the processor use of both sides, "
                    "per size.",
         .sizes = "1k-4M",
         .windows = true,
         .parts = {"expected", "unexpected"}},
        needs_two_ranks,
        {"one-way bandwidth and processor use", "GB/s"},
        measure};
    return run_program(frame, argc, argv);
}
