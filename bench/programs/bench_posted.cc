// bench-posted measures half of the round trip of a message in two extreme cases. In `first`, each receive is
// posted long before its message is sent. In `late`, the message has arrived before its receive is posted.
// The write protocol treats these two cases differently (src/p2p/receive_advert.h). It is an ordinary MPI
// program, started by `lanyard bench posted` or any mpirun.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/programs/job.h"
#include "bench/programs/sampler.h"

namespace lanyard::bench {
namespace {

enum Tag : int { data_tag = 1 };

class Exchange {
public:
    Exchange(const Job& job, std::size_t bytes)
        : job_(job), other_(1 - job.rank), bytes_(static_cast<int>(bytes)),
          out_(bytes, static_cast<char>(17 + job.rank)), in_(bytes) {}

    // Each rank posts the receive for the next message as soon as a message has arrived, before it sends its
    // answer.
    void first(long rounds) {
        MPI_Request request;
        post(request);
        MPI_Barrier(MPI_COMM_WORLD);
        for (long round = 0; round < rounds; ++round) {
            if (job_.rank == 0) send();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            if (round + 1 < rounds) post(request);
            if (job_.rank == 1) send();
        }
    }

    // The message, or its offer, has arrived before the receive is posted.
    void late(long rounds) {
        for (long round = 0; round < rounds; ++round) {
            if (job_.rank == 0) send();
            MPI_Probe(other_, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(in_.data(), bytes_, MPI_BYTE, other_, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (job_.rank == 1) send();
        }
    }

    void check() const {
        char known = static_cast<char>(17 + other_);
        if (std::any_of(in_.begin(), in_.end(), [=](char byte) { return byte != known; }))
            fail(job_, "a message of " + std::to_string(bytes_) + " bytes arrived changed");
    }

private:
    void post(MPI_Request& request) {
        MPI_Irecv(in_.data(), bytes_, MPI_BYTE, other_, data_tag, MPI_COMM_WORLD, &request);
    }
    void send() { MPI_Send(out_.data(), bytes_, MPI_BYTE, other_, data_tag, MPI_COMM_WORLD); }

    const Job& job_;
    int other_, bytes_;
    std::vector<char> out_, in_;
};

void measure(const Job& job, Report& report) {
    for (const std::string& part : job.settings.parts)
        for (std::size_t bytes : job.settings.sizes_bytes) {
            Exchange exchange(job, bytes);
            auto block = [&](long rounds) {
                auto all = [&] { part == "first" ? exchange.first(rounds) : exchange.late(rounds); };
                return time_block(1, all);
            };
            auto samples = sample_blocks(job.settings, block);
            exchange.check();
            report.count_sent(2 * samples.rounds, static_cast<double>(bytes));
            report.add_named_size(
                part, bytes, "us",
                summarise_as(std::move(samples), [](double seconds) { return seconds / 2 * 1e6; }));
        }
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{
        {.name = "posted",
         .purpose =
             "Half round trip of a message between two ranks, its receive posted first or late, per size.",
         .sizes = "64k-1M",
         .parts = {"first", "late"}},
        needs_two_ranks,
        {"half round trip", "us"},
        measure};
    return run_program(frame, argc, argv);
}
