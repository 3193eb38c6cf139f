// See tested.h.
#include "bench/programs/tested.h"

#include <algorithm>
#include <string>

#include "bench/programs/sampler.h"

namespace lanyard::bench {

namespace {

constexpr int message_tag = 1, end_tag = 2;

}  // namespace

TestedMessages::TestedMessages(const Job& job, std::size_t message_bytes)
    : job_(job), bytes_(static_cast<int>(message_bytes)), sent_(job.settings, message_bytes),
      received_(job.settings, std::max(message_bytes, sizeof(std::int64_t))),
      random_(static_cast<unsigned>(job.rank) + 1),
      requests_(static_cast<std::size_t>(job.settings.window) + 1, MPI_REQUEST_NULL),
      completed_(requests_.size()), statuses_(requests_.size()),
      sent_to_(static_cast<std::size_t>(job.size)) {
    for (int i = 0; i < job.settings.window; ++i) free_.push_back(i);
}

void TestedMessages::exchange(long messages) {
    std::fill(sent_to_.begin(), sent_to_.end(), 0);
    received_number_ = expected_number_ = 0;
    ended_ = 0;
    post_receive();
    std::uniform_int_distribution<int> distances(1, job_.size - 1);
    for (long i = 0; i < messages; ++i) {
        int to = (job_.rank + distances(random_)) % job_.size;
        ++sent_to_[static_cast<std::size_t>(to)];
        send(to, message_tag, sent_.data(), bytes_);
    }
    for (int to = 0; to < job_.size; ++to)
        if (to != job_.rank)
            send(to, end_tag, reinterpret_cast<char*>(&sent_to_[static_cast<std::size_t>(to)]),
                 sizeof(std::int64_t));
    bool all_sent = false;
    while (ended_ < job_.size - 1 || !all_sent) {
        test();
        all_sent = free_.size() + 1 == requests_.size();
    }
    if (received_number_ != expected_number_)
        fail(job_, std::to_string(received_number_) + " messages arrived of " +
                       std::to_string(expected_number_) + " that were sent");
}

// Sends as soon as fewer than --window sends are open, and then tests once.
void TestedMessages::send(int to, int tag, const char* data, int bytes) {
    while (free_.empty()) test();
    auto slot = static_cast<std::size_t>(free_.back());
    free_.pop_back();
    MPI_Isend(data, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests_[slot]);
    test();
}

void TestedMessages::test() {
    int number = 0, receive = static_cast<int>(requests_.size()) - 1;
    MPI_Testsome(receive + 1, requests_.data(), &number, completed_.data(), statuses_.data());
    for (int i = 0; i < number; ++i) {
        auto at = static_cast<std::size_t>(i);
        if (completed_[at] == receive) take(statuses_[at]);
        else free_.push_back(completed_[at]);
    }
}

// A rank's messages arrive before its end, since both are received in the order in which they were sent.
void TestedMessages::take(const MPI_Status& status) {
    if (status.MPI_TAG == end_tag) {
        std::int64_t number = 0;
        std::copy_n(received_.data(), sizeof number, reinterpret_cast<char*>(&number));
        expected_number_ += number;
        if (++ended_ == job_.size - 1) return;
    } else {
        ++received_number_;
    }
    post_receive();
}

void TestedMessages::post_receive() {
    MPI_Irecv(received_.data(), static_cast<int>(received_.size()), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
              MPI_COMM_WORLD, &requests_.back());
}

Samples sample_tested(const Job& job, std::size_t message_bytes) {
    TestedMessages messages(job, message_bytes);
    return sample_blocks(job.settings, [&](long rounds) {
        auto all = [&] { messages.exchange(rounds * job.settings.window); };
        return time_block(1, all);
    });
}

}  // namespace lanyard::bench
