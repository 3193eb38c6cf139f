// bench-unexpected sends many unexpected messages of 8 bytes, which are received in reverse order. It
// measures the receiver's memory per waiting message, and the time to receive one message. It is an ordinary
// MPI program, started by `lanyard bench unexpected` or any mpirun. It needs Linux, because it reads
// /proc/self/statm.
//
// Every message has its own tag. The message sent last is received first, so all other messages have arrived
// by then. The sender uses non-blocking sends, because no message is received before the last one is sent.
#include <cstdint>
#include <fstream>
#include <vector>

#include <unistd.h>

#include "bench/programs/job.h"
#include "bench/programs/sampler.h"

namespace lanyard::bench {
namespace {

double resident_bytes() {
    std::ifstream file("/proc/self/statm");
    double all_pages = 0, resident_pages = 0;
    file >> all_pages >> resident_pages;
    return resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::string refuse(const Job& job) {
    int *largest = nullptr, known = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &known);
    if (known && job.settings.messages - 1 > *largest)
        return "needs a tag for each message, and this library's tags end at " + std::to_string(*largest) +
               ": ask for fewer --messages";
    return needs_two_ranks(job);
}

void send_all(int messages) {
    std::vector<std::uint64_t> words(static_cast<std::size_t>(messages));
    std::vector<MPI_Request> requests(words.size());
    for (int tag = 0; tag < messages; ++tag) {
        auto i = static_cast<std::size_t>(tag);
        words[i] = i;
        MPI_Isend(&words[i], sizeof words[i], MPI_BYTE, 1, tag, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
}

void receive_one(const Job& job, int tag) {
    std::uint64_t word = 0;
    MPI_Recv(&word, sizeof word, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (word != static_cast<std::uint64_t>(tag))
        fail(job, "message " + std::to_string(tag) + " arrived changed");
}

struct Cost {
    double bytes = 0;
    double receive_seconds = 0;
};

// Runs the exchange once. Rank 1 measures, and both ranks return its result.
Cost run_once(const Job& job, int messages) {
    MPI_Barrier(MPI_COMM_WORLD);
    Cost cost;
    if (job.rank == 0) {
        send_all(messages);
    } else {
        double before = resident_bytes();
        receive_one(job, messages - 1);
        cost.bytes = (resident_bytes() - before) / messages;
        double start = now_seconds();
        for (int tag = messages - 2; tag >= 0; --tag) receive_one(job, tag);
        cost.receive_seconds = (now_seconds() - start) / messages;
    }
    MPI_Bcast(&cost, 2, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    return cost;
}

// Everything is measured only once, because the library keeps the memory afterwards.
void measure(const Job& job, Report& report) {
    Cost cost = run_once(job, static_cast<int>(job.settings.messages));
    report.add_named("memory", "B", summarise({cost.bytes}));
    report.add_named("receive", "ns", summarise({cost.receive_seconds * 1e9}));
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{{.name = "unexpected",
                 .purpose = "Unexpected messages of 8 bytes received in reverse: memory and time for each.",
                 .sizes = "",
                 .timed_blocks = false,
                 .messages = 1000000},
                refuse,
                {"for each unexpected message", "", false},
                measure};
    return run_program(frame, argc, argv);
}
