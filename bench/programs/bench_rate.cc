// bench-rate measures the 8-byte messages per second from one rank to another, in windows of 64. With more
// than two ranks, the figure is the sum over all pairs. It is an ordinary MPI program, started by `lanyard
// bench rate` or any mpirun.
//
// With --threads, several threads of each rank send or receive at once. Thread i of one rank communicates
// with thread i of the other rank, with tags of its own. The rate is that of all threads together.
//
// With --pattern tested, every rank sends to random other ranks, and nobody waits (tested.h). The rate is
// that of all ranks together.
#include <memory>

#include "bench/programs/crew.h"
#include "bench/programs/job.h"
#include "bench/programs/sampler.h"
#include "bench/programs/stream.h"
#include "bench/programs/tested.h"

namespace lanyard::bench {
namespace {

// Measures the seconds per round. In a round, every thread completes one window. Each sample is the mean of
// one block (sampler.h). The streams are checked one after the other.
Samples sample_threads(const Job& job, std::size_t bytes, int threads) {
    std::vector<std::unique_ptr<Stream>> streams;
    for (int i = 0; i < threads; ++i) {
        streams.push_back(std::make_unique<Stream>(job, bytes, i));
        streams.back()->check();
    }
    Crew crew(threads);
    return sample_blocks(job.settings, [&](long rounds) {
        auto all = [&] {
            crew.run([&](int thread) {
                for (long i = 0; i < rounds; ++i)
                    streams[static_cast<std::size_t>(thread)]->send_or_receive_window();
            });
        };
        return time_block(1, all);
    });
}

std::string refuse(const Job& job) {
    if (job.settings.pattern != "tested") return needs_even_ranks(job);
    return job.size > 1 ? "" : "needs at least 2 ranks, this job has 1. Run it on two: lanyard bench -n 2";
}

void measure_tested(const Job& job, Report& report) {
    double window = static_cast<double>(job.settings.window) * job.size;
    for (std::size_t bytes : job.settings.sizes_bytes) {
        auto samples = sample_tested(job, bytes);
        report.count_sent(samples.rounds, window * static_cast<double>(bytes));
        report.add_named_size("tested", bytes, "M/s", summarise_as(std::move(samples), [&](double seconds) {
                                  return window / seconds / 1e6;
                              }));
    }
}

void measure(const Job& job, Report& report) {
    if (job.settings.pattern == "tested") return measure_tested(job, report);
    const int pairs = job.size / 2;
    double window = static_cast<double>(job.settings.window) * pairs;
    auto rate = [](double messages) {
        return [messages](double seconds) { return messages / seconds / 1e6; };
    };
    for (std::size_t bytes : job.settings.sizes_bytes) {
        if (job.settings.threads.empty()) {
            auto samples = sample_windows(job, bytes);
            report.count_sent(samples.rounds, window * static_cast<double>(bytes));
            report.add_size(bytes, summarise_as(std::move(samples), rate(window)));
        }
        for (int threads : job.settings.threads) {
            std::string label = std::to_string(threads) + (threads == 1 ? " thread" : " threads");
            report.add_named_size(label, bytes, "M/s",
                                  summarise_as(sample_threads(job, bytes, threads), rate(window * threads)));
        }
    }
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{{.name = "rate",
                 .purpose = "Messages per second between pairs of ranks, in windows.",
                 .sizes = "8",
                 .windows = true,
                 .threaded = true,
                 .patterns = {"windows", "tested"}},
                refuse,
                {"message rate of all pairs", "M/s"},
                measure};
    return run_program(frame, argc, argv);
}
