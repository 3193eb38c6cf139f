// Chooses the messages of a random program, and sends, receives and checks them in each rank. See
// p2p_program.h.
#include "sim/p2p_program.h"

#include <gtest/gtest.h>

#include "base/abi_constants.h"
#include "datatype/predefined.h"
#include "sim/spread_type.h"

namespace lanyard::sim {

namespace {

std::byte content(uint64_t id, int64_t i) {
    auto place = static_cast<uint64_t>(i);
    return static_cast<std::byte>(id * 37 + place * 11 + (place >> 9));
}

// Draws the size of a message. Some messages are so long that sender and receiver both copy a part.
int64_t random_size(Random &random) {
    switch (random.below(20)) {
        case 0: return 0;
        case 1: return random.between(8000, 40'000);
        case 2: return random.chance(20) ? random.between(262'144, 300'000) : random.between(40'000, 90'000);
        case 3:
        case 4:
        case 5: return random.between(25, 400);
        case 6:
        case 7: return random.between(400, 8000);
        default: return random.between(0, 24);
    }
}

}  // namespace

Program::Program(Random &random, uint32_t ranks, int count) {
    for (uint64_t i = 0, many = 1 + random.below(3); i < many; ++i) contexts.push_back(1000 + 2 * i);
    for (size_t i = 0; i < ranks * contexts.size(); ++i)
        styles.push_back(static_cast<Style>(random.below(4)));
    auto tags = 1 + random.below(4);
    int scattered = random.chance(50) ? static_cast<int>(random.below(50)) : 0;
    int synchronous = static_cast<int>(random.below(random.chance(20) ? 100 : 15));
    wait_percent = static_cast<int>(random.below(random.chance(50) ? 60 : 8));
    probe_percent = random.chance(50) ? static_cast<int>(random.below(40)) : 0;
    for (int i = 0; i < count; ++i) {
        Message message{};
        message.id = static_cast<uint64_t>(i);
        message.from = static_cast<uint32_t>(random.below(ranks));
        message.to = static_cast<uint32_t>(random.below(ranks));
        message.tag = static_cast<int32_t>(random.below(tags));
        message.context = static_cast<uint32_t>(random.below(contexts.size()));
        message.bytes = random_size(random);
        message.mode = random.chance(synchronous) ? SendMode::synchronous : SendMode::standard;
        message.send_scattered = random.chance(scattered);
        message.receive_scattered = random.chance(scattered);
        if (message.send_scattered || message.receive_scattered) message.bytes -= message.bytes % 3;
        largest = std::max(largest, message.bytes);
        messages.push_back(message);
    }
}

Player::Player(const Program &program, Rank &rank, uint64_t seed)
    : program_(program), rank_(rank), random_(seed * 1000 + rank.own),
      retains_(seed * 1000 + 500 + rank.own) {
    for (const Message &message : program.messages) {
        if (message.to != rank.own) continue;
        Style style = program.style(rank.own, message.context);
        bool by_tag = style == Style::exact || style == Style::any_source;
        expected_[{message.context, static_cast<int32_t>(message.from), by_tag ? message.tag : any_tag}]
            .push_back(&message);
    }
}

void Player::play() {
    EngineGuard guard(rank_.engine);
    for (const Message &message : program_.messages) {
        if (message.to != rank_.own && message.from != rank_.own) continue;
        // If the rank sends to itself, it posts the receive first: if it waited in the send, nothing else
        // would post the receive.
        if (message.to == rank_.own) post_receive(message);
        if (message.from == rank_.own) post_send(message);
        if (random_.chance(program_.cancel_percent)) cancel_something();
        if (random_.chance(program_.wait_percent)) wait(false);
        if (random_.chance(20)) rank_.engine.make_turn();
    }
    wait(true);
    for (auto &[key, left] : expected_)
        EXPECT_TRUE(left.empty()) << left.size() << " messages to rank " << rank_.own << " never arrived";
}

std::unique_ptr<Player::Operation> Player::new_operation(bool sends, bool scattered, int64_t bytes) {
    auto made = std::make_unique<Operation>(sends);
    made->scattered = scattered;
    made->room = bytes;
    const Datatype &type = scattered ? spread_type() : *predefined_datatype(abi::type_byte);
    int64_t count = scattered ? bytes / 3 : bytes;
    made->memory.resize(static_cast<size_t>(count * type.extent));
    made->own().buffer = {made->memory.data(), count, &type};
    return made;
}

void Player::post_send(const Message &message) {
    Operation &operation = *sends_.emplace_back(new_operation(true, message.send_scattered, message.bytes));
    operation.message = &message;
    std::vector<std::byte> packed(static_cast<size_t>(message.bytes));
    for (int64_t i = 0; i < message.bytes; ++i) packed[static_cast<size_t>(i)] = content(message.id, i);
    Cursor(operation.out.buffer).unpack(packed.data(), packed.size());
    SendOperation &send = operation.out;
    static_cast<MatchKey &>(send) = {program_.contexts[message.context], static_cast<int32_t>(rank_.own),
                                     message.tag};
    send.peer = message.to;
    send.destination = static_cast<int32_t>(message.to);
    send.mode = message.mode;
    send.in_call = random_.chance(50);  // only a hint, which must not change the result
    if (message.mode == SendMode::standard && random_.chance(50) &&
        rank_.messenger.send_now(message.to, send, send.buffer)) {
        // send_now() has copied the data
        std::fill(operation.memory.begin(), operation.memory.end(), std::byte{0xdd});
        sends_.pop_back();
        return;
    }
    rank_.messenger.send(send);
    if (!send.completion.complete() && retains_.chance(50)) retain(operation);
}

// Ends a send after some turns as a blocking call does whose receiver is late.
void Player::retain(Operation &operation) {
    SendOperation &send = operation.out;
    for (int64_t turns = retains_.between(0, 20); turns > 0 && !send.completion.complete(); --turns)
        rank_.engine.make_turn();
    Retention &retention = rank_.messenger.retention();
    if (send.completion.complete() || retention.patience_ns(send) == 0) return;
    bool kept = retention.keep(send) == Retention::Result::kept;
    EXPECT_EQ(kept, send.completion.complete());
    if (!kept) return;
    std::fill(operation.memory.begin(), operation.memory.end(), std::byte{0xdd});
    sends_.pop_back();
}

void Player::post_receive(const Message &message) {
    Style style = program_.style(rank_.own, message.context);
    // A receive with a wildcard may get any message, so every receive has room for the largest one.
    int64_t room = program_.largest + 2;
    Operation &operation =
        *receives_.emplace_back(new_operation(false, message.receive_scattered, room - room % 3));
    operation.context = message.context;
    ReceiveOperation &receive = operation.in;
    bool source_known = style == Style::exact || style == Style::any_tag,
         tag_known = style == Style::exact || style == Style::any_source;
    static_cast<MatchKey &>(receive) = {program_.contexts[message.context],
                                        source_known ? static_cast<int32_t>(message.from) : any_source,
                                        tag_known ? message.tag : any_tag};
    receive.peer = source_known ? message.from : no_peer;
    // A probe for a message that this rank itself has yet to send would wait for ever.
    if (message.from != rank_.own && random_.chance(program_.probe_percent))
        return probe_and_receive(operation);
    rank_.messenger.receive(receive);
}

void Player::probe_and_receive(Operation &operation) {
    struct Question {
        Messenger &messenger;
        MatchKey key;
    } question{rank_.messenger, operation.in};
    for (const auto &earlier : receives_)
        // A probe would also wait for ever if an earlier receive of this rank took the message, and this rank
        // had yet to send the only other message that the probe can find. So the rank does not probe while
        // earlier receives are open.
        if (!earlier->done() && earlier.get() != &operation) return operation.start(rank_.messenger);
    rank_.engine.wait_owned(Condition{[](const void *subject) {
                                          auto &asked = *static_cast<const Question *>(subject);
                                          return asked.messenger.probe(asked.key) != nullptr;
                                      },
                                      &question});
    Unexpected *found = rank_.messenger.probe(question.key);
    rank_.messenger.take(*found);
    if (random_.chance(50)) rank_.engine.make_turn();
    rank_.messenger.receive_taken(operation.in, *found);
}

// Posts and cancels a receive for which no rank sends a message, or a synchronous send that no rank
// receives.
void Player::cancel_something() {
    bool sends = !random_.chance(50);
    std::unique_ptr<Operation> operation = new_operation(sends, false, random_.between(0, 100));
    auto peer = static_cast<uint32_t>(random_.below(rank_.job.shape.ranks));
    if (sends) operation->describe({5000, static_cast<int32_t>(rank_.own), 1}, operation->own().buffer, peer);
    else operation->describe({6000, any_source, 1}, operation->own().buffer, no_peer);
    operation->out.mode = SendMode::synchronous;
    operation->start(rank_.messenger);
    if (random_.chance(50)) rank_.engine.make_turn();
    operation->cancel(rank_.messenger);
    rank_.engine.wait_owned(operation->own().completion);
    EXPECT_TRUE(operation->own().cancelled)
        << (sends ? "a send" : "a receive") << " that met nothing can be cancelled";
}

// Waits for the posted receives and sends. Before the end of the program, it does not wait for sends to a
// rank that receives from any source in this context. Such a receive may already have taken a message that
// comes later in the list, from another rank. Then a later receive takes this rank's message, and to wait for
// that receive could be a deadlock.
void Player::wait(bool at_the_end) {
    for (const auto &operation : receives_) finish(*operation);
    for (const auto &operation : receives_) check(*operation);
    receives_.clear();
    std::deque<std::unique_ptr<Operation>> left;
    for (auto &operation : sends_) {
        const Message &message = *operation->message;
        Style style = program_.style(message.to, message.context);
        if (at_the_end || style == Style::exact || style == Style::any_tag || operation->done())
            finish(*operation);
        else left.push_back(std::move(operation));
    }
    sends_ = std::move(left);
}

void Player::finish(Operation &operation) {
    rank_.engine.wait_owned(operation.own().completion);
    if (Error error = operation.own().error) FAIL() << error.take().sentence;
    // The memory belongs to the program again, so it may be overwritten.
    if (operation.message) std::fill(operation.memory.begin(), operation.memory.end(), std::byte{0xdd});
}

// Checks what a receive got. Receives are checked in the order in which they were posted, so they must
// have got each sender's messages in the order in which these were sent.
void Player::check(Operation &operation) {
    const ReceiveOperation &receive = operation.in;
    Style style = program_.style(rank_.own, operation.context);
    bool by_tag = style == Style::exact || style == Style::any_source;
    auto &queue =
        expected_[{operation.context, receive.matched_rank, by_tag ? receive.matched_tag : any_tag}];
    ASSERT_FALSE(queue.empty()) << "nobody sent rank " << rank_.own << " a message with tag "
                                << receive.matched_tag << " from " << receive.matched_rank;
    const Message &message = *queue.front();
    queue.pop_front();
    EXPECT_EQ(receive.matched_tag, message.tag) << "overtaken: message " << message.id;
    ASSERT_EQ(receive.received, message.bytes) << "overtaken or cut: message " << message.id;
    std::vector<std::byte> packed(static_cast<size_t>(message.bytes));
    Cursor(receive.buffer).pack(packed.data(), packed.size());
    int64_t good = 0;
    while (good < message.bytes && packed[static_cast<size_t>(good)] == content(message.id, good)) ++good;
    EXPECT_EQ(good, message.bytes) << "byte " << good << " of message " << message.id << " from "
                                   << message.from << " to " << message.to << " is wrong";
}

void check_credit(Job &job) {
    for (uint32_t from = 0; from < job.shape.ranks; ++from)
        for (uint32_t to = 0; to < job.shape.ranks; ++to) {
            Endpoint &sender = job.rank(from).messenger.endpoint(),
                     &receiver = job.rank(to).messenger.endpoint();
            EXPECT_LE(sender.peers[to].credit_left + receiver.peers[from].credit_owed, job.rank(from).credit)
                << "rank " << to << " has returned credit twice to rank " << from;
        }
}

}  // namespace lanyard::sim
