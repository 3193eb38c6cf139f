// Sends messages in windows from the lower half of the ranks to the upper half, for bench-bandwidth and
// bench-rate. Rank i sends `window` messages to rank i + size/2, which answers each window with an empty
// message. Every rank has one thread, or several threads with a stream each. A stream has the same `number`
// on both sides.
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

    // Sends one window of known bytes. If the bytes arrive changed, check() stops the job with an error
    // message.
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

// Measures the seconds per window. Each sample is the mean of one block of windows (sampler.h).
Samples sample_windows(const Job& job, std::size_t message_bytes);

}  // namespace lanyard::bench
