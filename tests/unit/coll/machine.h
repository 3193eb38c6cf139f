// All ranks of a collective run in one process, for tests: schedules as the algorithms wrote them, messages in queues
// between ranks, and whatever may happen next chosen at random. Data is read and written at any moment the rules of
// schedule.h allow, so a missing dependency shows as wrong data sooner or later. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "coll/node_area.h"
#include "coll/schedule.h"

namespace lanyard::testing {

// What a finished run has shown.
struct Observed {
    int64_t messages = 0;
    int64_t bytes = 0;
    int rounds = 0;  // longest chain of messages that wait for each other
};

class Machine {
public:
    // `area_bytes` > 0: the ranks share a node area of that size.
    Machine(int size, uint64_t seed, size_t area_bytes = 0);
    ~Machine();

    struct Rank {
        Schedule schedule;
        std::vector<std::byte> send, receive;  // the program's buffers
        int64_t send_origin = 0, receive_origin = 0;  // where the spaces begin in them
        Team team;
    };
    Rank &rank(int index) { return *ranks_[index]; }

    // Runs all schedules to the end; what went wrong, or "".
    std::string run();
    const Observed &observed() const { return observed_; }

private:
    struct State;
    struct Posted {
        int rank;
        StepId step;
        int depth;
        bool copied = false;
        std::vector<std::byte> data;
    };
    struct Channel {
        std::deque<Posted> sends, receives;
    };
    using Route = std::tuple<int, int, int>;  // from, to, label

    Buffer buffer(int rank, const Block &block);
    void begin(int rank);
    std::string start(int rank, StepId id);
    void finish(int rank, StepId id, int depth);
    std::string deliver(Route route);
    bool advance(int rank, StepId id);
    size_t pick(size_t choices) { return std::uniform_int_distribution<size_t>(0, choices - 1)(random_); }

    std::vector<std::unique_ptr<Rank>> ranks_;
    std::vector<std::unique_ptr<State>> states_;
    std::map<Route, Channel> channels_;
    std::vector<Route> deliverable_;
    std::vector<std::pair<int, StepId>> startable_, polled_;
    std::vector<Posted> unsent_;  // delivered, but not yet known to the sender to be so: the data must stay
    std::mt19937_64 random_;
    Observed observed_;
    std::byte *area_ = nullptr;
    std::vector<uint32_t> peers_;
};

// Packs a block's data; the tests' way to look at results.
std::vector<std::byte> packed(const Buffer &buffer);

}  // namespace lanyard::testing
