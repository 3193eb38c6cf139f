// bench-overlap measures how much of a transfer is done while rank 0 works without an MPI call, as the
// receiver and as the sender. It also measures how much of MPI_Ialltoall and MPI_Iallreduce (sum of doubles)
// is done while both ranks work. overlap.h explains the figures. It is an ordinary MPI program, started by
// `lanyard bench overlap` or any mpirun.
//
// In the parts receive and send, rank 1 waits for a signal from rank 0 before every transfer and sends
// nothing otherwise. So no message disturbs the runs of the work alone.
#include <algorithm>
#include <vector>

#include "bench/programs/job.h"
#include "bench/programs/overlap.h"

namespace lanyard::bench {
namespace {

enum Tag : int { go_tag = 1, ready_tag, data_tag, answer_tag };
constexpr char known_byte = 41;

// Transfers of one size. For each kind of transfer there is a function for each side. Both functions return
// when the transfer is complete.
class Transfer {
public:
    Transfer(const Job& job, std::size_t bytes)
        : bytes_(static_cast<int>(bytes)), out_(bytes * static_cast<std::size_t>(job.size), known_byte),
          in_(out_.size()), addends_((bytes + sizeof(double) - 1) / sizeof(double), 1.0),
          sums_(addends_.size()) {}

    // Rank 0 posts its receive before it lets rank 1 send. The message is therefore expected, as in the
    // thesis (overlap.h).
    Lap receive(long iterations) {
        double start = now_seconds();
        MPI_Request request;
        MPI_Irecv(in_.data(), bytes_, MPI_BYTE, 1, data_tag, MPI_COMM_WORLD, &request);
        MPI_Send(nullptr, 0, MPI_BYTE, 1, go_tag, MPI_COMM_WORLD);
        return work_and_wait(start, iterations, 1, &request);
    }
    void give() {
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, go_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out_.data(), bytes_, MPI_BYTE, 0, data_tag, MPI_COMM_WORLD);
    }

    // The transfer is complete when the receiver's answer of four bytes arrives. Bytes that have only reached
    // a buffer of the library do not count.
    Lap send(long iterations) {
        MPI_Send(nullptr, 0, MPI_BYTE, 1, go_tag, MPI_COMM_WORLD);
        MPI_Recv(nullptr, 0, MPI_BYTE, 1, ready_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double start = now_seconds();
        MPI_Request requests[2];
        MPI_Irecv(answer_, sizeof answer_, MPI_BYTE, 1, answer_tag, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out_.data(), bytes_, MPI_BYTE, 1, data_tag, MPI_COMM_WORLD, &requests[1]);
        return work_and_wait(start, iterations, 2, requests);
    }
    void take() {
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, go_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Request request;
        MPI_Irecv(in_.data(), bytes_, MPI_BYTE, 0, data_tag, MPI_COMM_WORLD, &request);
        MPI_Send(nullptr, 0, MPI_BYTE, 0, ready_tag, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(answer_, sizeof answer_, MPI_BYTE, 0, answer_tag, MPI_COMM_WORLD);
    }

    Lap alltoall(long iterations) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = now_seconds();
        MPI_Request request;
        MPI_Ialltoall(out_.data(), bytes_, MPI_BYTE, in_.data(), bytes_, MPI_BYTE, MPI_COMM_WORLD, &request);
        return work_and_wait(start, iterations, 1, &request);
    }

    Lap allreduce(long iterations) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = now_seconds();
        MPI_Request request;
        MPI_Iallreduce(addends_.data(), sums_.data(), static_cast<int>(sums_.size()), MPI_DOUBLE, MPI_SUM,
                       MPI_COMM_WORLD, &request);
        return work_and_wait(start, iterations, 1, &request);
    }

    // Checks the bytes of the first `messages` messages received.
    void check(const Job& job, int messages) {
        auto end = in_.begin() + static_cast<std::ptrdiff_t>(messages) * bytes_;
        if (std::any_of(in_.begin(), end, [](char byte) { return byte != known_byte; }))
            fail(job, "messages of " + std::to_string(bytes_) + " bytes arrived changed");
        std::fill(in_.begin(), in_.end(), 0);
    }
    void check_sums(const Job& job) {
        if (std::any_of(sums_.begin(), sums_.end(), [&](double sum) { return sum != job.size; }))
            fail(job, "sums of " + std::to_string(bytes_) + " bytes are wrong");
        std::fill(sums_.begin(), sums_.end(), 0);
    }

private:
    static Lap work_and_wait(double start, long iterations, int count, MPI_Request* requests) {
        double worked = iterations > 0 ? work(iterations) : 0;
        double before = now_seconds();
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        double end = now_seconds();
        return {end - start, worked, end - before};
    }

    int bytes_;
    std::vector<char> out_, in_;
    std::vector<double> addends_, sums_;
    char answer_[4] = {};
};

long same_everywhere(long iterations) {
    MPI_Bcast(&iterations, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    return iterations;
}

// Both ranks make the same transfers; only the times of rank 0 count.
void measure_part(const Job& job, const std::string& part, std::size_t bytes, Report& report) {
    Transfer transfer(job, bytes);
    bool collective = part == "alltoall" || part == "allreduce";
    auto lap = [&](long iterations) {
        if (part == "alltoall") return transfer.alltoall(iterations);
        if (part == "allreduce") return transfer.allreduce(iterations);
        if (job.rank == 0)
            return part == "receive" ? transfer.receive(iterations) : transfer.send(iterations);
        if (part == "receive") transfer.give();
        else transfer.take();
        return Lap{};
    };
    // In receive and send, rank 1 is only the other end and does no work.
    auto work_alone = [&](long iterations) { return job.rank == 0 || collective ? work(iterations) : 0; };
    lap(0);
    if (part == "allreduce") transfer.check_sums(job);
    else transfer.check(job, part == "alltoall" ? job.size : (job.rank == 0) == (part == "receive") ? 1 : 0);
    measure_overlap(job.settings, part, bytes, report, lap, work_alone, same_everywhere);
}

void measure(const Job& job, Report& report) {
    for (const std::string& part : job.settings.parts)
        for (std::size_t bytes : job.settings.sizes_bytes) measure_part(job, part, bytes, report);
}

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    using namespace lanyard::bench;
    Frame frame{{.name = "overlap",
                 .purpose = "How much of a transfer passes while rank 0 works without an MPI call, per size.",
                 .sizes = overlap_sizes, .blocks = overlap_blocks, .timed_blocks = false,
                 .parts = {"receive", "send", "alltoall", "allreduce"}, .works = true},
                needs_two_ranks, {"a transfer and work at the same time", "us"}, measure};
    return run_program(frame, argc, argv);
}
