// bench-peers measures the memory of rank 0 for each idle peer with which it has exchanged a message, by the
// counters of the allocator and by the growth of the private pages. It is an ordinary MPI program, started by
// `lanyard bench peers` or any mpirun. It needs glibc on Linux (held.h).
//
// Memory that only the first connection needs, such as a shared buffer, is reported separately. The figures
// are means over the other peers, which are 63 in a job of 65 ranks. The memory of the sockets themselves
// belongs to the kernel and is not counted.
#include <cstdint>
#include <string>

#include "bench/programs/held.h"
#include "bench/programs/job.h"

namespace lanyard::bench {
namespace {

void exchange_word(int peer, bool sends_first) {
    std::uint64_t word = 1;
    if (sends_first) MPI_Send(&word, sizeof word, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(&word, sizeof word, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!sends_first) MPI_Send(&word, sizeof word, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
}

// Returns the growth of rank 0's memory per peer, for the peers from `first` to `end` - 1, after one exchange
// with each peer and a quiet period.
Held growth(const Job& job, int first, int end) {
    Held before = held_now();
    for (int peer = first; peer < end; ++peer) {
        if (job.rank == 0) exchange_word(peer, true);
        else if (job.rank == peer) exchange_word(0, false);
    }
    if (job.rank == 0) let_it_become_quiet();
    Held more = held_now() - before;
    double peers = end - first;
    return {more.allocated_bytes / peers, more.private_bytes / peers, more.descriptors / peers};
}

// Everything is measured only once, because the ranks are connected afterwards. Rank 0 first sends a message
// to itself, so that memory that the first message needs even without a connection is not counted for a peer.
void measure(const Job& job, Report& report) {
    std::uint64_t word = 0;
    MPI_Sendrecv(&word, sizeof word, MPI_BYTE, job.rank, 0, &word, sizeof word, MPI_BYTE, job.rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    held_now();
    Held first = growth(job, 1, 2), others = growth(job, 2, job.size);
    report.add_named("allocated", "B", summarise({others.allocated_bytes}));
    report.add_named("resident", "B", summarise({others.private_bytes}));
    report.add_named("descriptors", "each", summarise({others.descriptors}));
    report.add_named("allocated by the first", "B", summarise({first.allocated_bytes}));
    report.add_named("resident by the first", "B", summarise({first.private_bytes}));
    MPI_Barrier(MPI_COMM_WORLD);
}

std::string needs_two_peers(const Job& job) {
    return job.size > 2 ? ""
                        : "needs 3 ranks or more, this job has " + std::to_string(job.size) +
                              ". Run it as: lanyard bench -n 65 peers";
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{{.name = "peers",
                 .purpose = "Memory of rank 0 for each peer that is connected and idle.",
                 .sizes = "",
                 .timed_blocks = false},
                needs_two_peers,
                {"for each connected peer", "", false},
                measure};
    return run_program(frame, argc, argv);
}
