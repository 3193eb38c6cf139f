// Sends small messages to random ranks and only ever tests for what is open, for bench-rate. Programs whose
// parts are fine-grained (simulators of discrete events, random updates of a large table) send like this:
// they look for messages between pieces of their own work, and wait for nobody. After each MPI_Isend follows
// one MPI_Testsome of all sends that are open and of the one posted receive. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "bench/programs/job.h"
#include "bench/programs/memory.h"

namespace lanyard::bench {

class TestedMessages {
public:
    // At most --window sends are open at once. There must be at least two ranks.
    TestedMessages(const Job& job, std::size_t message_bytes);
    TestedMessages(const TestedMessages&) = delete;
    TestedMessages& operator=(const TestedMessages&) = delete;

    // Every rank sends this many messages, and receives what the others send. Called by all ranks. Returns
    // when all messages of all ranks have arrived. If any is lost, stops the job with an error message.
    void exchange(long messages);

private:
    void send(int to, int tag, const char* data, int bytes);
    void test();
    void take(const MPI_Status& status);
    void post_receive();

    const Job& job_;
    int bytes_;
    Memory sent_, received_;
    std::minstd_rand random_;
    // The sends, and behind them the receive. Sends that are not open are MPI_REQUEST_NULL.
    std::vector<MPI_Request> requests_;
    std::vector<int> free_, completed_;
    std::vector<MPI_Status> statuses_;
    std::vector<std::int64_t> sent_to_;  // messages to each rank in this exchange
    std::int64_t received_number_ = 0, expected_number_ = 0;
    int ended_ = 0;  // ranks that have said how many messages they have sent
};

// Measures the seconds for --window messages of each rank. Each sample is the mean of one block (sampler.h).
Samples sample_tested(const Job& job, std::size_t message_bytes);

}  // namespace lanyard::bench
