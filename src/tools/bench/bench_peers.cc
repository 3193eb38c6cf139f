// bench-peers: memory that rank 0 takes for each peer that it has exchanged a message with and that is quiet now: by the counters
// of the allocator, and by the growth of the pages that are its own. An ordinary MPI program, started by `lanyard bench peers` or
// any mpirun; glibc on Linux only, as it asks mallinfo2 and reads /proc/self.
//
// The memory of sockets themselves is the kernel's and not counted.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <malloc.h>
#include <time.h>

#include "tools/bench/job.h"

namespace lanyard::bench {
namespace {

constexpr long quiet_after_ms = 500;

struct Held {
    double allocated_bytes = 0;
    double private_bytes = 0;  // of pages that are resident and no other process's
    double descriptors = 0;
};

Held held_now() {
    Held held;
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string word; file >> word;) {
        if (word.rfind("Private_", 0) != 0) continue;
        double kib = 0;
        file >> kib;
        held.private_bytes += kib * 1024;
    }
    auto entries = std::filesystem::directory_iterator("/proc/self/fd");
    held.descriptors = static_cast<double>(std::distance(begin(entries), end(entries)));
    struct mallinfo2 info = mallinfo2();
    held.allocated_bytes = static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
    return held;
}

void exchange_word(int peer, bool sends_first) {
    std::uint64_t word = 1;
    if (sends_first) MPI_Send(&word, sizeof word, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(&word, sizeof word, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!sends_first) MPI_Send(&word, sizeof word, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
}

// Gives the library the chance to settle what it owes its peers: acknowledgements, copies that are no longer needed.
void let_it_become_quiet() {
    for (long passed = 0; passed < quiet_after_ms; passed += 10) {
        int found = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        timespec pause{0, 10'000'000};
        nanosleep(&pause, nullptr);
    }
}

// What a first message and a first look cost once is no peer's: rank 0 sends one to itself before.
void measure(const Job& job, Report& report) {
    std::uint64_t word = 0;
    MPI_Sendrecv(&word, sizeof word, MPI_BYTE, job.rank, 0, &word, sizeof word, MPI_BYTE, job.rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    held_now();
    Held before = held_now();
    if (job.rank == 0) {
        for (int peer = 1; peer < job.size; ++peer) exchange_word(peer, true);
        let_it_become_quiet();
    } else {
        exchange_word(0, false);
    }
    Held after = held_now();
    double peers = job.size - 1;
    report.add_named("allocated", "B", summarise({(after.allocated_bytes - before.allocated_bytes) / peers}));
    report.add_named("resident", "B", summarise({(after.private_bytes - before.private_bytes) / peers}));
    report.add_named("descriptors", "each", summarise({(after.descriptors - before.descriptors) / peers}));
    MPI_Barrier(MPI_COMM_WORLD);
}

std::string needs_a_peer(const Job& job) {
    return job.size > 1 ? "" : "needs 2 ranks or more, this job has 1. Run it as: mpirun -n 64 PROGRAM";
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{{.name = "peers", .purpose = "Memory of rank 0 for each peer that it is connected with and that is quiet.", .sizes = "",
                 .timed_blocks = false},
                needs_a_peer, {"for each connected peer", "", false}, measure};
    return run_program(frame, argc, argv);
}
