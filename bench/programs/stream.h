// Messages in windows from the lower half of the ranks to the upper half, for bench-bandwidth and bench-rate.
// Rank i sends `window` messages to rank i + size/2, which answers each window with an empty message. One
// thread on every rank; or several, each with its own stream, whose number is the same on both sides.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/programs/job.h"
#include "bench/programs/memory.h"

namespace lanyard::bench {

class Stream {
public:
    // Each receive of a window has its own buffer, as the standard requires, unless --reuse selects one
    // buffer for all.
    Stream(const Job& job, std::size_t message_bytes, int number = 0);

    void send_or_receive_window();

    // Sends one window of known bytes. If they arrive changed, it stops the job with a message that says so.
    void check();

    int pairs() const { return pairs_; }

private:
    char* slot(int message);

    const Job& job_;
    int data_tag_, window_done_tag_;
    int bytes_;
    int pairs_;
    bool sends_;
    int partner_;
    bool reuse_;
    Memory buffer_;
    std::vector<MPI_Request> requests_;
};

// Seconds per window, one value for each block.
Samples sample_windows(const Job& job, std::size_t message_bytes);

}  // namespace lanyard::bench
