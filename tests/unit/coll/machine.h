// All ranks of a collective run in one process, for tests: schedules as the algorithms wrote them, messages in queues
// between ranks, and whatever may happen next chosen at random. Data is read and written at any moment the rules of
// schedule.h allow, so a missing dependency shows as wrong data sooner or later. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "coll/nodes.h"
#include "coll/schedule.h"
#include "coll/shm/exchange_run.h"

namespace lanyard::testing {

// What a finished run has shown.
struct Observed {
    int64_t messages = 0;
    int64_t bytes = 0;
    int rounds = 0;  // longest chain of messages that wait for each other
    // Between nodes, where the machine has them.
    int64_t far_messages = 0;
    int far_rounds = 0;
    int64_t busiest_node_bytes = 0;  // in, or out
};

// What came before a step.
struct Chain {
    int messages = 0, far = 0;  // of the longest chain
    uint64_t heard = 0;         // ranks that had begun, as bits

    void join(const Chain &other) {
        messages = std::max(messages, other.messages);
        far = std::max(far, other.far);
        heard |= other.heard;
    }
};

class Machine {
public:
    // What the ranks share: nothing, a node area, or also each other's memory.
    enum class Shares : uint8_t { nothing, area, memory };
    Machine(int size, uint64_t seed, Shares shares = Shares::nothing);
    ~Machine();

    struct Rank {
        Schedule schedule;
        std::vector<std::byte> send, receive;  // the program's buffers
        int64_t send_origin = 0, receive_origin = 0;  // where the spaces begin in them
        Team team;
        Stage stage;
        std::string copies;  // of what fits into no slot
    };
    Rank &rank(int index) { return *ranks_[index]; }
    // Where the ranks are; nullptr: on one node.
    void place(const Nodes *nodes);
    // The ranks that must have begun when this one is through, as far as messages tell; of 64 at most.
    uint64_t heard(int index) const;

    // Runs all schedules to the end; what went wrong, or "".
    std::string run();
    const Observed &observed() const { return observed_; }

private:
    // Reads where it is told to; nobody sleeps.
    struct Reach : NodeReach {
        bool asleep(uint32_t) override { return false; }
        void wake(uint32_t) override {}
        Error read(uint32_t peer, uint64_t address, std::byte *to, size_t bytes) override;
        std::byte *share(size_t bytes, uint64_t &offset) override {
            shared.emplace_back(std::aligned_alloc(64, bytes), std::free);
            std::memset(shared.back().get(), 0, bytes);
            offset = 64 * shared.size();
            return at(offset, bytes);
        }
        std::byte *at(uint64_t offset, size_t) override { return static_cast<std::byte *>(shared[offset / 64 - 1].get()); }
        std::vector<std::unique_ptr<void, void (*)(void *)>> shared;
    };
    struct State;
    struct Posted {
        int rank;
        StepId step;
        Chain chain;
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
    void finish(int rank, StepId id, const Chain &chain);
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
    Reach reach_;
    std::vector<std::byte> pieces_;
    std::vector<uint32_t> peers_;
    const Nodes *nodes_ = nullptr;
    std::vector<int64_t> node_in_, node_out_;  // bytes
};

// Packs a block's data; the tests' way to look at results.
std::vector<std::byte> packed(const Buffer &buffer);

}  // namespace lanyard::testing
