// See beside.h.
#include "bench/programs/beside.h"

#include <algorithm>

namespace lanyard::bench {

namespace {

constexpr int beside_tag = 77;

}  // namespace

Beside::Beside(const Job& job, std::size_t bytes)
    : job_(job), bytes_(static_cast<int>(bytes)), buffer_(bytes) {
    if (bytes == 0) return;
    MPI_Barrier(MPI_COMM_WORLD);
    began_ = now_seconds();
    start();
}

void Beside::start() {
    ++started_;
    if (job_.rank == 0) MPI_Isend(buffer_.data(), bytes_, MPI_BYTE, 1, beside_tag, MPI_COMM_WORLD, &request_);
    else MPI_Irecv(buffer_.data(), bytes_, MPI_BYTE, 0, beside_tag, MPI_COMM_WORLD, &request_);
}

void Beside::test_and_restart() {
    int ended = 0;
    MPI_Test(&request_, &ended, MPI_STATUS_IGNORE);
    if (ended) start();
}

// One rank may have started more transfers than the other. The other rank then starts the missing ones.
double Beside::finish() {
    if (bytes_ == 0) return 0;
    long most = 0;
    MPI_Allreduce(&started_, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    while (started_ < most) {
        start();
        MPI_Wait(&request_, MPI_STATUS_IGNORE);
    }
    return static_cast<double>(most) * bytes_ / (now_seconds() - began_);
}

}  // namespace lanyard::bench
