// bench-line measures the time that MPI adds to the time of the hardware. Two pinned ranks bounce a cache
// line for a block of 10 ms and then exchange 8-byte messages for a block, and so on alternately. The median
// of (mpi - line) over neighbouring blocks is the cost of the library. The speed of a bounced line depends on
// the processors that the machine has assigned, and varies from minute to minute. Both kinds of blocks run in
// the same two processes and at nearly the same time, so both are affected alike. Started by `lanyard bench
// line` or any mpirun, on one host.
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/programs/job.h"
#include "bench/programs/sampler.h"
#include "bench/programs/shared_line.h"

namespace lanyard::bench {
namespace {

constexpr std::uint32_t warm_up_rounds = 200;

struct Meeting {
    SharedLine line;
    // Rank 0 writes `rounds` before it bounces the line for the round that opens a block.
    alignas(128) std::uint32_t rounds = 0;
};

// Rank 0 creates a file in /dev/shm and sends the file's name. It unlinks the file as soon as both ranks have
// opened it.
int open_shared_file(const Job& job) {
    char name[] = "/dev/shm/lanyard-bench-XXXXXX";
    int file = -1;
    if (job.rank == 0) {
        file = mkostemp(name, O_CLOEXEC);
        if (file >= 0 && posix_fallocate(file, 0, sizeof(Meeting)) != 0) {
            unlink(name);
            close(file);
            file = -1;
        }
        if (file < 0) fail(job, "cannot make a file of 512 bytes in /dev/shm: free some space there");
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (job.rank != 0) file = open(name, O_RDWR | O_CLOEXEC);
    int opened = file >= 0;
    int both_opened = 0;
    MPI_Allreduce(&opened, &both_opened, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (job.rank == 0) unlink(name);
    if (!opened)
        fail(job,
             std::string("cannot open ") + name + ": both ranks must run on one host and see one /dev/shm");
    if (!both_opened) MPI_Barrier(MPI_COMM_WORLD);  // the other rank is about to stop the job
    return file;
}

Meeting* meet(const Job& job) {
    int file = open_shared_file(job);
    void* memory = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) fail(job, "cannot map 512 bytes of a file in /dev/shm");
    close(file);
    return static_cast<Meeting*>(memory);  // the file is zero-filled, which is the initial state of a Meeting
}

void message_rounds(const Job& job, std::uint32_t rounds) {
    std::uint64_t word = 0;
    for (std::uint32_t i = 0; i < rounds; ++i) {
        if (job.rank == 0) {
            MPI_Send(&word, sizeof word, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(&word, sizeof word, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&word, sizeof word, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&word, sizeof word, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
}

// Runs blocks on both ranks. `turn_` counts the bounces so far and has the same value on both ranks.
class Blocks {
public:
    Blocks(const Job& job, Meeting& meeting) : job_(job), meeting_(meeting) {}

    // Returns half of a round trip in seconds, over one block. The value is meaningful on rank 0 only.
    double line_block() {
        std::uint32_t rounds = open_block(line_rounds_);
        double seconds = timed(rounds, [&](std::uint32_t n) { bounce(n); });
        line_rounds_ = rescale(rounds, seconds);
        return seconds / rounds / 2;
    }
    double message_block() {
        std::uint32_t rounds = open_block(message_rounds_);
        double seconds = timed(rounds, [&](std::uint32_t n) { message_rounds(job_, n); });
        message_rounds_ = rescale(rounds, seconds);
        return seconds / rounds / 2;
    }

private:
    template <class Rounds>
    double timed(std::uint32_t rounds, Rounds run) {
        run(warm_up_rounds);
        double start = now_seconds();
        run(rounds);
        return now_seconds() - start;
    }

    void bounce(std::uint32_t rounds) {
        if (job_.rank == 0) meeting_.line.bounce(turn_, rounds);
        else meeting_.line.answer(turn_, rounds);
        turn_ += rounds;
    }

    // Rank 0 sets the number of rounds. Bouncing the line once makes it visible to the other rank.
    std::uint32_t open_block(std::uint32_t wanted) {
        if (job_.rank == 0) meeting_.rounds = wanted;
        bounce(1);
        return meeting_.rounds;
    }

    std::uint32_t rescale(std::uint32_t rounds, double seconds) const {
        double fitting = rounds * job_.settings.block_seconds / std::max(seconds, 1e-9);
        return static_cast<std::uint32_t>(std::clamp(fitting, 10.0, 1e8));
    }

    const Job& job_;
    Meeting& meeting_;
    std::uint32_t turn_ = 0;
    std::uint32_t line_rounds_ = 1000;
    std::uint32_t message_rounds_ = 1000;
};

void measure(const Job& job, Report& report) {
    Meeting& meeting = *meet(job);
    Blocks blocks(job, meeting);
    std::vector<double> line, message, difference;
    // The first two blocks of each kind determine how long a round takes.
    for (int block = -2; block < job.settings.blocks; ++block) {
        double line_ns = blocks.line_block() * 1e9;
        double message_ns = blocks.message_block() * 1e9;
        if (block < 0) continue;
        line.push_back(line_ns);
        message.push_back(message_ns);
        difference.push_back(message_ns - line_ns);
    }
    munmap(&meeting, sizeof meeting);
    report.add_named("line", "ns", summarise(std::move(line)));
    report.add_named("mpi", "ns", summarise(std::move(message)));
    report.add_named("mpi - line", "ns", summarise(std::move(difference)));
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{
        {.name = "line",
         .purpose =
             "A bounced cache line and 8-byte MPI messages in turn, between two pinned ranks on one host.",
         .sizes = "",
         .pinned = true,
         .blocks = 100},
        needs_two_ranks,
        {"half round trip", "ns", false},
        measure};
    return run_program(frame, argc, argv);
}
