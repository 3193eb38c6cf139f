// A long transfer from rank 0 to rank 1 that never ends while something else is measured beside it on the same link.
// Both ranks of a job of two call everything in the same order; one thread.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/programs/job.h"

namespace lanyard::bench {

class Beside {
public:
    // With 0 bytes nothing is transferred and nothing costs anything.
    Beside(const Job& job, std::size_t bytes);

    // Begins the next transfer where one has ended; called between the exchanges that are measured.
    void turn() {
        if (bytes_ > 0) test_and_restart();
    }

    // Ends the transfer; bytes a second since it began.
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
