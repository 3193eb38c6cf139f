// bench-exchange measures how long two ranks exchange long messages by blocking sends, as solvers on a grid
// do: each rank posts two receives, sends two messages to the other one, and waits for the receives. Before
// each exchange, one of the two ranks works for a while and is late by that time (--skew); they take turns.
// The figure is the time from one exchange to the next, less the skew. A library that lets a blocking send
// end while the receiver is still working hides more of the transfer. It is an ordinary MPI program, started
// by `lanyard bench exchange` or any mpirun. With more than two ranks, the pairs exchange at the same time.
#include <algorithm>
#include <array>
#include <string>

#include "bench/programs/job.h"
#include "bench/programs/memory.h"
#include "bench/programs/sampler.h"

namespace lanyard::bench {
namespace {

constexpr int messages = 2;
constexpr char known_byte = 29;

class Exchange {
public:
    Exchange(const Job& job, std::size_t message_bytes)
        : job_(job), bytes_(static_cast<int>(message_bytes)), partner_(job.rank ^ 1),
          sent_(job.settings, messages * message_bytes), received_(job.settings, messages * message_bytes) {
        sent_.fill(known_byte);
    }

    // `skew_seconds`: by how much one of the two ranks is late.
    void run(double skew_seconds) {
        if ((round_++ + job_.rank) % 2 == 0) work(skew_seconds);
        std::array<MPI_Request, messages> requests;
        for (int i = 0; i < messages; ++i)
            MPI_Irecv(received_.data() + at(i), bytes_, MPI_BYTE, partner_, i, MPI_COMM_WORLD,
                      &requests[static_cast<std::size_t>(i)]);
        for (int i = 0; i < messages; ++i)
            MPI_Send(sent_.data() + at(i), bytes_, MPI_BYTE, partner_, i, MPI_COMM_WORLD);
        MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
    }

    // Exchanges known bytes. If they arrive changed, stops the job with an error message.
    void check() {
        run(0);
        if (std::any_of(received_.begin(), received_.end(), [](char byte) { return byte != known_byte; }))
            fail(job_, "messages of " + std::to_string(bytes_) + " bytes arrived changed");
    }

private:
    static void work(double seconds) {
        double end = now_seconds() + seconds;
        while (now_seconds() < end) {
        }
    }
    std::size_t at(int message) const {
        return static_cast<std::size_t>(message) * static_cast<std::size_t>(bytes_);
    }

    const Job& job_;
    int bytes_, partner_;
    Memory sent_, received_;
    int round_ = 0;
};

void measure(const Job& job, Report& report) {
    for (double skew : job.settings.skews_us) {
        for (std::size_t bytes : job.settings.sizes_bytes) {
            Exchange exchange(job, bytes);
            exchange.check();
            auto samples = sample(job.settings, [&] { exchange.run(skew * 1e-6); });
            report.count_sent(samples.rounds, static_cast<double>(bytes) * messages * job.size);
            report.add_named_size(
                "skew " + std::to_string(static_cast<int>(skew)) + " us", bytes, "us",
                summarise_as(std::move(samples), [skew](double seconds) { return seconds * 1e6 - skew; }));
        }
    }
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{
        {.name = "exchange",
         .purpose = "Time of an exchange of two messages each way by blocking sends, less the time by "
                    "which one rank is late.",
         .sizes = "16k-4M",
         .allocates = true,
         .skews_us = {0, 20, 200}},
        needs_even_ranks,
        {"time of an exchange without the skew", "us"},
        measure};
    return run_program(frame, argc, argv);
}
