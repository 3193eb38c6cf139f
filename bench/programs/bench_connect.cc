// bench-connect measures what connecting costs, and when this cost arises: the time of MPI_Init, of the first
// and the second message to a peer, and of the first and the second exchange of all ranks with all others. It
// is an ordinary MPI program, started by `lanyard bench connect` or any mpirun.
//
// First, rank 0 visits its peers one after the other: it sends a message and waits for the answer. Until its
// turn comes, a peer sends nothing. The first message to a peer is therefore the first between rank 0 and
// this peer. (With --pin this is not certain, because an allgather precedes the visits: see local_rank() in
// job.cc.)
#include <cstdint>
#include <vector>

#include "bench/programs/job.h"

namespace lanyard::bench {
namespace {

void send_word(int peer) {
    std::uint64_t word = 1;
    MPI_Send(&word, sizeof word, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
}

void receive_word(int peer) {
    std::uint64_t word = 0;
    MPI_Recv(&word, sizeof word, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Sends a message to a peer and receives an answer. Returns half of the round trip, in seconds. Called on
// rank 0.
double visit(int peer) {
    double start = now_seconds();
    send_word(peer);
    receive_word(peer);
    return (now_seconds() - start) / 2;
}

struct Visits {
    std::vector<double> first, second;
};

Visits visit_all(const Job& job) {
    Visits visits;
    for (int peer = 1; peer < job.size; ++peer) {
        if (job.rank == 0) {
            visits.first.push_back(visit(peer));
            visits.second.push_back(visit(peer));
        } else if (job.rank == peer) {
            for (int i = 0; i < 2; ++i) {
                receive_word(0);
                send_word(0);
            }
        }
    }
    return visits;
}

// Rank 0 lets all ranks begin at the same time, with messages over connections that already exist.
void start_together(const Job& job) {
    for (int peer = 1; peer < job.size; ++peer) {
        if (job.rank == 0) send_word(peer);
        else if (job.rank == peer) receive_word(0);
    }
}

double exchange_with_everybody(const Job& job) {
    start_together(job);
    double start = now_seconds();
    for (int distance = 1; distance < job.size; ++distance) {
        std::uint64_t mine = 1, theirs = 0;
        int to = (job.rank + distance) % job.size, from = (job.rank - distance + job.size) % job.size;
        MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, to, 1, &theirs, sizeof theirs, MPI_BYTE, from, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return now_seconds() - start;
}

// Returns, on all ranks, the time of the slowest rank.
double slowest(double seconds) {
    double most = 0;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

// Everything is measured once, because the ranks are connected afterwards.
void measure(const Job& job, Report& report) {
    Visits visits = visit_all(job);
    double first = exchange_with_everybody(job), second = exchange_with_everybody(job);
    auto milliseconds = [](double seconds) { return summarise({slowest(seconds) * 1e3}); };
    auto microseconds = [&](const std::vector<double>& seconds) {
        return job.rank == 0 ? summarise_as(seconds, [](double value) { return value * 1e6; }) : Summary{};
    };
    report.add_named("MPI_Init", "ms", milliseconds(job.init_seconds));
    report.add_named("first message", "us", microseconds(visits.first));
    report.add_named("second message", "us", microseconds(visits.second));
    report.add_named("first with everybody", "ms", milliseconds(first));
    report.add_named("second with everybody", "ms", milliseconds(second));
}

std::string needs_a_peer(const Job& job) {
    return job.size > 1 ? ""
                        : "needs 2 ranks or more, this job has 1. Run it as: lanyard bench -n 16 connect";
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{{.name = "connect",
                 .purpose = "Time of MPI_Init, and of the first messages between ranks compared with the "
                            "second.",
                 .sizes = "",
                 .timed_blocks = false},
                needs_a_peer,
                {"time of connecting", "", false},
                measure};
    return run_program(frame, argc, argv);
}
