// Runs all ranks of a collective in one process, for tests. The schedules are those that the algorithms
// write. Messages are in queues between the ranks. The machine chooses each next event at random among all
// that are possible. It reads and writes data at any moment that the rules of schedule.h allow, so that a
// missing dependency sooner or later gives wrong data. One thread.
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

// The measurements of a finished run.
struct Observed {
    int64_t messages = 0;
    int64_t bytes = 0;
    int rounds = 0;  // the length of the longest chain of messages in which each waits for the previous one
    // The same for messages between nodes, if the machine has several nodes.
    int64_t far_messages = 0;
    int far_rounds = 0;
    // for the node with the most traffic: bytes received or bytes sent, whichever is more
    int64_t busiest_node_bytes = 0;
};

// What must have happened before a step.
struct Chain {
    int messages = 0, far = 0;  // length of the longest chain, of all messages and of those between nodes
    uint64_t heard = 0;         // the ranks that must have begun before, as bits

    void join(const Chain &other) {
        messages = std::max(messages, other.messages);
        far = std::max(far, other.far);
        heard |= other.heard;
    }
};

class Machine {
public:
    // What the ranks share: nothing, a node area, or a node area and also their memory. In the last case each
    // rank can read the memory of all others.
    enum class Shares : uint8_t { nothing, area, memory };
    Machine(int size, uint64_t seed, Shares shares = Shares::nothing);
    ~Machine();

    struct Rank {
        Schedule schedule;
        std::vector<std::byte> send, receive;  // the program's buffers
        int64_t send_origin = 0, receive_origin = 0;  // where the spaces (block.h) begin in the buffers
        Team team;
        Stage stage;
        std::string copies;  // the copy method for data that does not fit into a slot
    };
    Rank &rank(int index) { return *ranks_[index]; }
    // Sets the nodes of the ranks. nullptr: all ranks are on one node.
    void place(const Nodes *nodes);
    // Returns, as bits, the ranks that must have begun before rank `index` completed, as the messages prove.
    // Only for machines of up to 64 ranks.
    uint64_t heard(int index) const;

    // Runs all schedules to the end. Returns a description of the error, or "".
    std::string run();
    const Observed &observed() const { return observed_; }

private:
    // Gives ranks access to each other's memory, which is all in this process. No rank ever sleeps.
    struct Reach : NodeReach {
        bool asleep(uint32_t) override { return false; }
        void wake(uint32_t) override {}
        Error read(uint32_t peer, uint64_t address, std::byte *to, size_t bytes) override;
        // About two of three blocks are mapped.
        const std::byte *mapped(uint32_t, uint64_t address, size_t bytes) override {
            return (address / 16 + bytes) % 3 != 0 ? reinterpret_cast<const std::byte *>(address) : nullptr;
        }
        std::byte *share(size_t bytes, uint64_t &offset) override {
            shared.emplace_back(std::aligned_alloc(64, bytes), std::free);
            std::memset(shared.back().get(), 0, bytes);
            offset = 64 * shared.size();
            return at(offset, bytes);
        }
        std::byte *at(uint64_t offset, size_t) override {
            return static_cast<std::byte *>(shared[offset / 64 - 1].get());
        }
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
    using Route = std::tuple<int, int, int>;  // sender, receiver, label

    Buffer buffer(int rank, const Block &block);
    void begin(int rank);
    std::string start(int rank, StepId id);
    void finish(int rank, StepId id, const Chain &chain);
    std::string deliver(Route route);
    bool advance(int rank, StepId id, std::string &wrong);
    size_t pick(size_t choices) { return std::uniform_int_distribution<size_t>(0, choices - 1)(random_); }

    std::vector<std::unique_ptr<Rank>> ranks_;
    std::vector<std::unique_ptr<State>> states_;
    std::map<Route, Channel> channels_;
    std::vector<Route> deliverable_;
    std::vector<std::pair<int, StepId>> startable_, polled_;
    // sends whose message has been delivered but that are not complete yet; their data must not change
    // meanwhile
    std::vector<Posted> unsent_;
    std::mt19937_64 random_;
    Observed observed_;
    std::byte *area_ = nullptr;
    Reach reach_;
    std::vector<std::byte> pieces_;
    std::vector<uint32_t> peers_;
    const Nodes *nodes_ = nullptr;
    std::vector<int64_t> node_in_, node_out_;  // bytes
};

// Returns the packed data of a buffer. Tests compare results in this form.
std::vector<std::byte> packed(const Buffer &buffer);

}  // namespace lanyard::testing
