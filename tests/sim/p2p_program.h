// A random point-to-point program: messages between random ranks, of all sizes, modes and layouts, received exactly or with
// wildcards, posted early or late, probed, cancelled; every byte and the order that the standard promises are checked.
//
// It cannot deadlock: all ranks go through one list of messages in its order, posting their sends and receives, and wait only for
// what needs nothing later in the list. All receives of one rank in one context are of one style, so that no wildcard takes what another needs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "sim/job.h"
#include "sim/transfer.h"

namespace lanyard::sim {

enum class Style : uint8_t { exact, any_source, any_tag, any };

struct Message {
    uint64_t id;
    uint32_t from, to;
    int32_t tag;
    uint32_t context;  // index into Program::contexts
    int64_t bytes;
    SendMode mode;
    bool send_scattered, receive_scattered;
};

struct Program {
    Program(Random &random, uint32_t ranks, int messages);

    std::vector<Message> messages;
    std::vector<uint64_t> contexts;
    std::vector<Style> styles;  // by rank and context
    int64_t largest = 0;
    int wait_percent = 10, probe_percent = 10, cancel_percent = 3;

    Style style(uint32_t rank, uint32_t context) const { return styles[rank * contexts.size() + context]; }
};

// What one rank does and sees.
class Player {
public:
    Player(const Program &program, Rank &rank, uint64_t seed);
    void play();

private:
    struct Operation : Transfer {
        using Transfer::Transfer;
        std::vector<std::byte> memory;
        const Message *message = nullptr;  // of a send
        int64_t room = 0;
        bool scattered = false;
        uint32_t context = 0;
    };

    void post_send(const Message &message);
    void post_receive(const Message &message);
    void probe_and_receive(Operation &operation);
    void cancel_something();
    void wait(bool at_the_end);
    void finish(Operation &operation);
    void check(Operation &operation);
    std::unique_ptr<Operation> new_operation(bool sends, bool scattered, int64_t bytes);

    const Program &program_;
    Rank &rank_;
    Random random_;
    std::deque<std::unique_ptr<Operation>> sends_, receives_;
    // Messages to this rank in the order in which each sender sent them: by context, source and, where it is wanted, tag.
    std::map<std::tuple<uint32_t, int32_t, int32_t>, std::deque<const Message *>> expected_;
};

// No rank has more credit at another than it had at the start, even with what the other still owes it. So it is at any time: the rest is on its
// way, or is what the other has not consumed.
void check_credit(Job &job);

}  // namespace lanyard::sim
