// See stream.h.
#include "bench/programs/stream.h"

#include <algorithm>

#include "bench/programs/sampler.h"

namespace lanyard::bench {

namespace {

constexpr char known_byte = 23;

}  // namespace

Stream::Stream(const Job& job, std::size_t message_bytes, int number)
    : job_(job), data_tag_(2 * number + 1), window_done_tag_(2 * number + 2),
      bytes_(static_cast<int>(message_bytes)), pairs_(job.size / 2), sends_(job.rank < pairs_),
      partner_(sends_ ? job.rank + pairs_ : job.rank - pairs_), reuse_(job.settings.reuse_buffer || sends_),
      // A sender may send one buffer in many messages at once. A receiver must not receive several messages
      // into one buffer at once.
      buffer_(job.settings, (reuse_ ? 1 : static_cast<std::size_t>(job.settings.window)) * message_bytes),
      requests_(static_cast<std::size_t>(job.settings.window)) {
    if (sends_) buffer_.fill(known_byte);
}

char* Stream::slot(int message) {
    return buffer_.data() +
           (reuse_ ? 0 : static_cast<std::size_t>(message) * static_cast<std::size_t>(bytes_));
}

void Stream::send_or_receive_window() {
    int window = static_cast<int>(requests_.size());
    for (int i = 0; i < window; ++i) {
        MPI_Request* request = &requests_[static_cast<std::size_t>(i)];
        if (sends_) MPI_Isend(slot(i), bytes_, MPI_BYTE, partner_, data_tag_, MPI_COMM_WORLD, request);
        else MPI_Irecv(slot(i), bytes_, MPI_BYTE, partner_, data_tag_, MPI_COMM_WORLD, request);
    }
    MPI_Waitall(window, requests_.data(), MPI_STATUSES_IGNORE);
    if (sends_) MPI_Recv(nullptr, 0, MPI_BYTE, partner_, window_done_tag_, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else MPI_Send(nullptr, 0, MPI_BYTE, partner_, window_done_tag_, MPI_COMM_WORLD);
}

void Stream::check() {
    send_or_receive_window();
    bool intact = std::all_of(buffer_.begin(), buffer_.end(), [](char byte) { return byte == known_byte; });
    if (!intact) fail(job_, "messages of " + std::to_string(bytes_) + " bytes arrived changed");
    if (!sends_) buffer_.fill(0);
}

Samples sample_windows(const Job& job, std::size_t message_bytes) {
    Stream stream(job, message_bytes);
    stream.check();
    return sample(job.settings, [&] { stream.send_or_receive_window(); });
}

}  // namespace lanyard::bench
