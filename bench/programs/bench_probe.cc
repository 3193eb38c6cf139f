// bench-probe measures the cost of an MPI_Iprobe that finds nothing, and the time after which a loop of
// MPI_Iprobe sees a message of 8 bytes. It is an ordinary MPI program, started by `lanyard bench probe` or
// any mpirun.
//
// Only the receiver's system could report when a message arrived. The time since then cannot be measured, but
// two figures bound it. `probed` is half of a round trip in which both sides wait by probing. It includes the
// transfer. `found` is the time in which a probe finds a message that arrived while the program did something
// else. It does not include the transfer.
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/programs/job.h"
#include "bench/programs/sampler.h"

namespace lanyard::bench {
namespace {

enum Tag : int { data_tag = 1, go_tag, nobody_uses_tag };
constexpr double pause_seconds = 200e-6;  // long enough for 8 bytes on any network worth a benchmark

void fail_to_probe(int source) {
    int found = 0;
    MPI_Iprobe(source, nobody_uses_tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

void probe_until_found(int source) {
    int found = 0;
    while (!found) MPI_Iprobe(source, data_tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

void send_word(int to) {
    std::uint64_t word = 0;
    MPI_Send(&word, sizeof word, MPI_BYTE, to, data_tag, MPI_COMM_WORLD);
}

void receive_word(int from, bool probing) {
    std::uint64_t word = 0;
    if (probing) probe_until_found(from);
    MPI_Recv(&word, sizeof word, MPI_BYTE, from, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void exchange(const Job& job, bool probing) {
    int peer = 1 - job.rank;
    if (job.rank == 0) send_word(peer);
    receive_word(peer, probing);
    if (job.rank == 1) send_word(peer);
}

void pause() {
    for (double end = now_seconds() + pause_seconds; now_seconds() < end;) {}
}

// Rank 0 lets rank 1 send, pauses until the message must have arrived, and times the loop that finds it.
double find_after_pause(const Job& job) {
    if (job.rank == 1) {
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, go_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        send_word(0);
        return 0;
    }
    MPI_Send(nullptr, 0, MPI_BYTE, 1, go_tag, MPI_COMM_WORLD);
    pause();
    double start = now_seconds();
    probe_until_found(1);
    double seconds = now_seconds() - start;
    receive_word(1, false);
    return seconds;
}

std::vector<double> sample_finds(const Job& job) {
    for (int i = 0; i < 20; ++i) find_after_pause(job);
    std::vector<double> samples;
    int finds = job.settings.blocks * 10;
    for (int i = 0; i < finds; ++i) samples.push_back(find_after_pause(job));
    return samples;
}

void measure(const Job& job, Report& report) {
    auto nanoseconds = [](double seconds) { return seconds * 1e9; };
    auto half_microseconds = [](double seconds) { return seconds / 2 * 1e6; };
    auto add_failing = [&](const char* name, int source) {
        report.add_named(name, "ns",
                         summarise_as(sample(job.settings, [=] { fail_to_probe(source); }), nanoseconds));
    };
    add_failing("nothing from a rank", 1 - job.rank);
    add_failing("nothing from anyone", MPI_ANY_SOURCE);
    auto received = sample(job.settings, [&] { exchange(job, false); });
    auto probed = sample(job.settings, [&] { exchange(job, true); });
    report.add_named("received", "us", summarise_as(std::move(received), half_microseconds));
    report.add_named("probed", "us", summarise_as(std::move(probed), half_microseconds));
    report.add_named("found", "us",
                     summarise_as(sample_finds(job), [](double seconds) { return seconds * 1e6; }));
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{{.name = "probe",
                 .purpose = "MPI_Iprobe that finds nothing, and how soon a loop of it finds a message.",
                 .sizes = ""},
                needs_two_ranks,
                {"one probe, half round trip, and time until a message is found", "us", false},
                measure};
    return run_program(frame, argc, argv);
}
