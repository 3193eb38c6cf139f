// Runs a long transfer from rank 0 to rank 1, and restarts it whenever it ends, while something else is
// measured on the same link. The job has two ranks, and both call all methods in the same order. One thread.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/programs/job.h"

namespace lanyard::bench {

class Beside {
public:
    // With 0 bytes nothing is transferred, and the other methods cost nothing.
    Beside(const Job& job, std::size_t bytes);

    // Starts the next transfer if one has ended. Called between the exchanges that are measured.
    void turn() {
        if (bytes_ > 0) test_and_restart();
    }

    // Ends the transfers and returns their bytes per second since the first began.
    double finish();
    long transfers() const { return started_; }

private:
    void start();
    void test_and_restart();

    const Job& job_;
    int bytes_;
    std::vector<char> buffer_;
    MPI_Request request_ = MPI_REQUEST_NULL;
    long started_ = 0;
    double began_ = 0;
};

}  // namespace lanyard::bench
