// Runs a random point-to-point program: random ranks send each other messages of all sizes, modes and
// layouts. The receives have an exact source and tag or wildcards, and are posted early or late. Some
// messages are probed for, and some operations are cancelled. The test checks every byte, and the order that
// the standard promises.
//
// The program cannot deadlock. All ranks go through one list of messages in order and post their sends and
// receives. A rank waits only for operations whose completion needs nothing later in the list. All receives
// of a rank in one context have the same style, so that no receive with a wildcard takes a message that
// another receive needs.
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
    std::vector<Style> styles;  // indexed by rank and context
    int64_t largest = 0;
    int wait_percent = 10, probe_percent = 10, cancel_percent = 3;

    Style style(uint32_t rank, uint32_t context) const { return styles[rank * contexts.size() + context]; }
};

// Plays the program's part of one rank, and checks what the rank receives.
class Player {
public:
    Player(const Program &program, Rank &rank, uint64_t seed);
    void play();

private:
    struct Operation : Transfer {
        using Transfer::Transfer;
        std::vector<std::byte> memory;
        const Message *message = nullptr;  // for a send: the message sent
        int64_t room = 0;
        bool scattered = false;
        uint32_t context = 0;
    };

    void post_send(const Message &message);
    void retain(Operation &operation);
    void post_receive(const Message &message);
    void probe_and_receive(Operation &operation);
    void cancel_something();
    void wait(bool at_the_end);
    void finish(Operation &operation);
    void check(Operation &operation);
    std::unique_ptr<Operation> new_operation(bool sends, bool scattered, int64_t bytes);

    const Program &program_;
    Rank &rank_;
    Random random_, retains_;
    std::deque<std::unique_ptr<Operation>> sends_, receives_;
    // The messages to this rank that have not been received yet, in the order in which each sender sends
    // them. The key is context, source and tag; the tag is any_tag if the style does not use exact tags.
    std::map<std::tuple<uint32_t, int32_t, int32_t>, std::deque<const Message *>> expected_;
};

// Checks each pair of ranks: the credit that the sender has left, plus the credit that the receiver has yet
// to return, must be no more than the credit at the start. This must be true at any time. The sum may be
// less, because messages that are under way, or that the receiver has not consumed, hold credit.
void check_credit(Job &job);

}  // namespace lanyard::sim
