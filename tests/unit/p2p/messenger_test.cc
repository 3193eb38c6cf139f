// Tests the protocols of point-to-point messages, step by step, between two processes on the simulated
// network. One thread drives both processes.
#include "p2p/messenger.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/abi_constants.h"
#include "base/valgrind.h"
#include "datatype/predefined.h"
#include "sim/job.h"
#include "sim/spread_type.h"
#include "sim/transfer.h"

namespace lanyard {
namespace {

constexpr uint64_t context = 4000;

std::byte content(size_t i) { return static_cast<std::byte>(i * 7 + (i >> 8)); }

// A transfer and its memory, followed by a margin that must stay unchanged.
struct Operation : sim::Transfer {
    std::vector<std::byte> memory;

    Operation(bool is_send, int64_t bytes, bool scattered, const MatchKey &key, uint32_t peer)
        : Transfer(is_send) {
        const Datatype &type = scattered ? sim::spread_type() : *predefined_datatype(abi::type_byte);
        int64_t count = scattered ? bytes / 3 : bytes;
        memory.resize(static_cast<size_t>(count * type.extent) + margin);
        describe(key, {memory.data(), count, &type}, peer);
    }
    void fill() {
        std::vector<std::byte> packed(static_cast<size_t>(own().buffer.bytes()));
        for (size_t i = 0; i < packed.size(); ++i) packed[i] = content(i);
        Cursor(own().buffer).unpack(packed.data(), packed.size());
    }
    void expect_filled(int64_t bytes) {
        EXPECT_EQ(in.received, bytes);
        std::vector<std::byte> packed(static_cast<size_t>(own().buffer.bytes()));
        Cursor(own().buffer).pack(packed.data(), packed.size());
        size_t good = 0;
        while (good < static_cast<size_t>(bytes) && packed[good] == content(good)) ++good;
        EXPECT_EQ(good, static_cast<size_t>(bytes));
        for (size_t i = memory.size() - margin; i < memory.size(); ++i)
            ASSERT_EQ(memory[i], std::byte{0}) << "written behind the buffer";
    }
    static constexpr size_t margin = 300'000;
};

class MessengerTest : public ::testing::Test {
protected:
    void make(sim::Behaviour behaviour = quiet(), Settings settings = {}) {
        job = std::make_unique<sim::Job>(baton, behaviour,
                                         sim::JobShape{.ranks = 2, .settings = std::move(settings)});
    }
    // A network that is slow and does nothing else wrong.
    static sim::Behaviour quiet() {
        sim::Behaviour behaviour;
        behaviour.stall_percent = 0;
        behaviour.queue_frames = 1000;
        behaviour.max_eager = 16384;
        return behaviour;
    }
    std::unique_ptr<Operation> send(int64_t bytes, bool scattered = false, SendMode mode = SendMode::standard,
                                    int32_t tag = 1, uint32_t to = 1) {
        auto operation = std::make_unique<Operation>(true, bytes, scattered, MatchKey{context, 0, tag}, to);
        operation->fill();
        operation->out.mode = mode;
        operation->start(messenger(0));
        return operation;
    }
    std::unique_ptr<Operation> receive(int64_t bytes, bool scattered = false, int32_t rank = 0,
                                       int32_t tag = 1, uint32_t at = 1) {
        uint32_t peer = rank == any_source ? no_peer : static_cast<uint32_t>(rank);
        auto operation =
            std::make_unique<Operation>(false, bytes, scattered, MatchKey{context, rank, tag}, peer);
        operation->start(messenger(at));
        return operation;
    }
    Messenger &messenger(uint32_t number) { return job->rank(number).messenger; }
    void step(int turns = 300) {
        for (int i = 0; i < turns; ++i)
            for (uint32_t own : {0u, 1u}) job->rank(own).engine.make_turn();
    }
    template <class... Operations>
    void complete(Operations &...operations) {
        for (int turn = 0; turn < 100'000 && !(operations->done() && ...); ++turn) step(1);
        ASSERT_TRUE((operations->done() && ...)) << "a transfer never completes";
    }
    void expect_truncated(Operation &operation, int64_t sent, int64_t room) {
        ASSERT_TRUE(static_cast<bool>(operation.own().error));
        ErrorRecord record = operation.own().error.take();
        EXPECT_EQ(record.code, static_cast<int>(ErrorClass::truncate));
        EXPECT_NE(record.sentence.find(std::to_string(sent)), std::string::npos) << record.sentence;
        EXPECT_NE(record.sentence.find(std::to_string(room)), std::string::npos) << record.sentence;
        operation.expect_filled(room);
    }

    sim::Baton baton{7};
    std::unique_ptr<sim::Job> job;
};

const int64_t some_sizes[] = {0, 3, 24, 27, 600, 16383, 16386, 30'000, 300'000, 900'000};

TEST_F(MessengerTest, CarriesEverySizeEveryWay) {
    for (int refuse : {-1, 0, 30, 100}) {
        sim::Behaviour behaviour = quiet();
        behaviour.touches_memory = refuse >= 0;
        behaviour.refuse_percent = std::max(refuse, 0);
        make(behaviour);
        for (int64_t bytes : some_sizes)
            for (int layout = 0; layout < 4; ++layout)
                for (bool early : {true, false}) {
                    SCOPED_TRACE(std::to_string(bytes) + " bytes, layout " + std::to_string(layout) +
                                 ", refused " + std::to_string(refuse));
                    std::unique_ptr<Operation> receiver, sender;
                    if (early) receiver = receive(bytes, layout & 1);
                    sender = send(bytes, layout & 2, bytes % 2 ? SendMode::standard : SendMode::synchronous);
                    if (!early) step(50);
                    if (!early) receiver = receive(bytes + 6, layout & 1, any_source, any_tag);
                    complete(sender, receiver);
                    if (HasFatalFailure()) return;
                    EXPECT_FALSE(sender->own().error);
                    EXPECT_FALSE(receiver->own().error);
                    EXPECT_EQ(receiver->in.matched_rank, 0);
                    EXPECT_EQ(receiver->in.matched_tag, 1);
                    receiver->expect_filled(bytes);
                }
        step();
        EXPECT_TRUE(messenger(0).nothing_pending() && messenger(1).nothing_pending());
    }
}

// When a message that both sides copied is complete, its shared word (shared_words.h) must be forgotten.
// Otherwise a later action on the transfer would change the word, which then belongs to another message.
TEST_F(MessengerTest, ForgetsTheWordOfAMessageThatBothSidesCopied) {
    if (under_valgrind()) GTEST_SKIP() << "under valgrind no sender helps";
    sim::Behaviour behaviour = quiet();
    behaviour.touches_memory = true;
    make(behaviour);
    int in_use = 0;
    for (int turns = 0; turns < 200; ++turns) {
        auto receiver = receive(900'000), sender = send(900'000);
        for (int i = 0; i < turns && !receiver->done(); ++i) step(1);
        in_use += messenger(1).endpoint().words.in_use() > 0;
        // The sender is outside MPI.
        for (int i = 0; i < 10'000 && !receiver->done(); ++i) job->rank(1).engine.make_turn();
        complete(sender, receiver);
        EXPECT_EQ(messenger(1).endpoint().words.in_use(), 0) << "after " << turns << " turns";
        receiver->expect_filled(900'000);
        // A sender that helps too late would write here.
        std::fill(receiver->memory.begin(), receiver->memory.end(), std::byte{0});
        step(3);
        EXPECT_TRUE(std::all_of(receiver->memory.begin(), receiver->memory.end(),
                                [](std::byte each) { return each == std::byte{0}; }));
    }
    EXPECT_GT(in_use, 0) << "nobody copied from both sides";
}

TEST_F(MessengerTest, TruncatesWithoutTouchingMore) {
    for (bool touches : {false, true}) {
        sim::Behaviour behaviour = quiet();
        behaviour.touches_memory = touches;
        make(behaviour);
        for (int64_t sent : {3, 27, 6000, 60'000, 600'000, 900'000})
            for (int64_t room : {int64_t{0}, sent / 6 * 3, sent - 3})
                for (bool early : {true, false}) {
                    std::unique_ptr<Operation> receiver;
                    if (early) receiver = receive(room, sent % 2);
                    auto sender = send(sent);
                    if (!early) step(50);
                    if (!early) receiver = receive(room);
                    complete(sender, receiver);
                    if (HasFatalFailure()) return;
                    EXPECT_FALSE(sender->own().error) << "truncation is the receiver's error";
                    expect_truncated(*receiver, sent, room);
                }
    }
}

TEST_F(MessengerTest, CompletesSynchronousSendsWhenMatched) {
    make();
    for (int64_t bytes : {int64_t{0}, int64_t{10}, int64_t{100'000}}) {
        auto sender = send(bytes, false, SendMode::synchronous);
        step();
        EXPECT_FALSE(sender->done());
        auto receiver = receive(bytes);
        complete(sender, receiver);
    }
}

TEST_F(MessengerTest, ProbesWithoutTakingAndTakesWithoutReceiving) {
    make();
    auto first = send(10, false, SendMode::standard, 5), second = send(50'000, false, SendMode::standard, 6);
    EXPECT_EQ(messenger(1).probe({context, 0, 5}), nullptr);
    step();
    EXPECT_EQ(messenger(1).probe({context, 0, 7}), nullptr);
    EXPECT_EQ(messenger(1).probe({context + 2, any_source, any_tag}), nullptr);
    Unexpected *any = messenger(1).probe({context, any_source, any_tag}),
               *other = messenger(1).probe({context, 0, 6});
    ASSERT_TRUE(any && other && any != other);
    EXPECT_EQ(any->tag, 5);
    EXPECT_EQ(other->length(), 50'000u);
    messenger(1).take(*other);
    EXPECT_EQ(messenger(1).probe({context, 0, 6}), nullptr) << "what has been taken is not matched any more";
    auto receiver = std::make_unique<Operation>(false, 50'000, false, MatchKey{context, 0, 6}, 0u);
    messenger(1).receive_taken(receiver->in, *other);
    complete(receiver, second);
    receiver->expect_filled(50'000);
    auto last = receive(10, false, any_source, any_tag);
    complete(last, first);
    EXPECT_EQ(last->in.matched_tag, 5);
}

TEST_F(MessengerTest, CancelsWhatHasNotBeenMatched) {
    make();
    auto receiver = receive(10);
    receiver->cancel(messenger(1));
    EXPECT_TRUE(receiver->done() && receiver->own().cancelled);
    auto sender = send(10, false, SendMode::synchronous);
    step();
    sender->cancel(messenger(0));
    complete(sender);
    EXPECT_TRUE(sender->own().cancelled);
    EXPECT_EQ(messenger(1).unexpected().count(), 0u);

    // This cancellation is too late: the message that it meets has just been matched.
    receiver = receive(100'000);
    sender = send(100'000, false, SendMode::synchronous);
    sender->cancel(messenger(0));
    complete(sender, receiver);
    EXPECT_FALSE(sender->own().cancelled);
    receiver->expect_filled(100'000);
    step();
    EXPECT_TRUE(messenger(0).nothing_pending() && messenger(1).nothing_pending());
}

TEST_F(MessengerTest, CancelsWhatFindsNoRoomYet) {
    sim::Behaviour behaviour = quiet();
    behaviour.queue_frames = 2;
    make(behaviour);
    std::vector<std::unique_ptr<Operation>> sends;
    for (int i = 0; i < 6; ++i) sends.push_back(send(100));
    EXPECT_TRUE(sends[1]->done());
    EXPECT_FALSE(sends[2]->done());
    for (size_t i : {4u, 2u, 3u}) sends[i]->cancel(messenger(0));
    step();
    for (size_t i = 0; i < sends.size(); ++i) {
        EXPECT_TRUE(sends[i]->done());
        EXPECT_EQ(sends[i]->own().cancelled, i >= 2 && i <= 4);
    }
    EXPECT_EQ(messenger(1).unexpected().count(), 3u);
    EXPECT_TRUE(messenger(0).nothing_pending());
}

TEST_F(MessengerTest, BoundsWhatTheReceiverMustKeep) {
    Settings settings;
    settings.eager_credit = 20'000;
    make(quiet(), settings);
    constexpr int flood = 500;
    std::vector<std::unique_ptr<Operation>> sends;
    for (int i = 0; i < flood; ++i) sends.push_back(send(1000, false, SendMode::standard, i));
    for (int turn = 0; turn < 1000 && messenger(1).unexpected().count() < flood; ++turn) step();
    EXPECT_EQ(messenger(1).unexpected().count(), static_cast<size_t>(flood))
        << "envelopes are never held back";
    EXPECT_LE(messenger(1).unexpected().payload_bytes(), 20'000u);
    EXPECT_GE(messenger(1).unexpected().payload_bytes(), 15'000u) << "and the credit is used";
    EXPECT_TRUE(sends.front()->done());
    EXPECT_FALSE(sends.back()->done());
    // The messages are received in reverse order.
    for (int i = flood - 1; i >= 0; --i) {
        auto receiver = receive(1000, false, 0, i);
        complete(receiver, sends[static_cast<size_t>(i)]);
        receiver->expect_filled(1000);
    }
    EXPECT_EQ(messenger(1).unexpected().payload_bytes(), 0u);
    step();
    // The credit has been returned, so every eager send completes at once.
    for (int i = 0; i < 100; ++i) {
        auto sender = send(1000);
        EXPECT_TRUE(sender->done()) << "message " << i;
        auto receiver = receive(1000);
        complete(receiver);
        step(20);
    }
    EXPECT_TRUE(messenger(0).nothing_pending() && messenger(1).nothing_pending());
}

TEST_F(MessengerTest, LendsAPeerFourMegabytesWhereThereAreFew) {
    make(quiet(), Settings());
    constexpr int bytes = 8000, flood = 600, fit = (4 << 20) / bytes;  // `bytes` is a multiple of credit_unit
    std::vector<std::unique_ptr<Operation>> sends;
    for (int i = 0; i < flood; ++i) sends.push_back(send(bytes));
    for (int turn = 0; turn < 10'000 && messenger(1).unexpected().count() < flood; ++turn) step();
    EXPECT_EQ(messenger(1).unexpected().payload_bytes(), static_cast<size_t>(bytes) * fit);
    for (int i = 0; i < flood; ++i) {
        auto receiver = receive(bytes);
        complete(receiver, sends[static_cast<size_t>(i)]);
    }
    EXPECT_EQ(messenger(1).unexpected().payload_bytes(), 0u);
}

TEST_F(MessengerTest, SendsToItself) {
    make();
    for (int64_t bytes : some_sizes)
        for (int layout = 0; layout < 4; ++layout) {
            auto receiver = receive(bytes, layout & 1, 0, 1, 0);
            auto sender = send(bytes, layout & 2, SendMode::standard, 1, 0);
            complete(sender, receiver);
            if (HasFatalFailure()) return;
            receiver->expect_filled(bytes);
        }
    EXPECT_TRUE(messenger(0).nothing_pending());
}

// A continuation starts the next send while the queue is full. Nothing may be counted twice.
TEST_F(MessengerTest, LetsContinuationsSend) {
    sim::Behaviour behaviour = quiet();
    behaviour.queue_frames = 1;
    make(behaviour);
    struct Chain {
        Operation operation{true, 8, false, {context, 0, 1}, 1};
        int left = 20;
        Messenger *messenger = nullptr;
    } chain;
    chain.messenger = &messenger(0);
    chain.operation.out.completion.context = &chain;
    chain.operation.out.completion.then = [](Completion &completion) {
        auto &self = *static_cast<Chain *>(completion.context);
        if (--self.left > 0) self.operation.start(*self.messenger);
    };
    chain.operation.start(messenger(0));
    step();
    EXPECT_EQ(chain.left, 0);
    EXPECT_EQ(messenger(1).unexpected().count(), 20u);
    EXPECT_TRUE(messenger(0).nothing_pending());
}

TEST_F(MessengerTest, FailsWhatNeedsALostPeer) {
    for (bool touches : {false, true}) {
        sim::Behaviour behaviour = quiet();
        behaviour.queue_frames = 4;
        behaviour.touches_memory = touches;
        behaviour.refuse_percent = 100;
        make(behaviour);
        auto moving_sender = send(800'000), offered = send(10, false, SendMode::synchronous, 9);
        auto moving_receiver = receive(800'000, false, any_source);
        step(20);
        auto waiting = receive(10, false, 0, 2), from_any = receive(10, false, any_source, 3);
        std::vector<std::unique_ptr<Operation>> queued;
        for (int i = 0; i < 10; ++i)
            queued.push_back(send(10, false, i % 2 ? SendMode::synchronous : SendMode::standard, 9));
        job->network.kill(0);
        job->network.kill(1);  // both processes live on in this test, and each takes the other for failed
        step();
        for (auto *operation : {&moving_sender, &offered, &moving_receiver, &waiting, &queued[9]}) {
            ASSERT_TRUE((*operation)->done());
            ASSERT_TRUE(static_cast<bool>((*operation)->own().error));
            EXPECT_EQ((*operation)->own().error.take().code, static_cast<int>(ErrorClass::proc_aborted));
        }
        for (auto &operation : queued) EXPECT_TRUE(operation->done());
        EXPECT_FALSE(from_any->done()) << "another process may still send that";
        from_any->cancel(messenger(1));
        auto late = send(10), late_receive = receive(10);
        EXPECT_TRUE(late->done() && late_receive->done());
        EXPECT_TRUE(late->own().error && late_receive->own().error);
        late->own().error.discard();
        late_receive->own().error.discard();
        for (auto &operation : queued) operation->own().error.discard();
        EXPECT_TRUE(messenger(0).nothing_pending());
    }
}

Envelope envelope_of(EnvelopeKind kind, uint64_t length) {
    Envelope envelope{};
    envelope.kind = kind;
    envelope.length = length;
    return envelope;
}

// A send whose payload was copied is complete for the program, so another call must report its loss.
TEST_F(MessengerTest, TellsOfMessagesThatALostPeerMayNotHaveGot) {
    make(quiet());
    EXPECT_FALSE(messenger(1).untold_loss());
    auto freed = send(10, false, SendMode::synchronous, 9);
    messenger(0).dispatch().undelivered(1, envelope_of(EnvelopeKind::eager, 70));
    messenger(0).dispatch().undelivered(1, envelope_of(EnvelopeKind::eager, 30));
    messenger(0).dispatch().undelivered(1, envelope_of(EnvelopeKind::credit, 0));
    messenger(0).dispatch().lost(1, Error(ErrorClass::proc_aborted, "its cable is cut"));
    EXPECT_FALSE(messenger(0).untold_loss()) << "told by the send that failed";
    ASSERT_TRUE(freed->done());
    EXPECT_EQ(freed->own().error.sentence(),
              "the other process cannot be reached any more: its cable is cut; 2 messages (100 bytes in all) "
              "that were sent to it before may not have arrived");
    messenger(0).unasked(freed->own(), true);
    EXPECT_FALSE(freed->own().error);
    Error error = messenger(0).untold_loss();
    ASSERT_TRUE(error) << "nobody asked about that send";
    EXPECT_EQ(error.take().sentence,
              "a process that messages were sent to cannot be reached any more: its cable is cut; 3 messages "
              "(110 bytes in all) that were sent to it before may not have arrived");
    EXPECT_FALSE(messenger(0).untold_loss()) << "once is enough";

    messenger(1).dispatch().undelivered(0, envelope_of(EnvelopeKind::eager, 1));
    messenger(1).dispatch().lost(0, Error(ErrorClass::proc_aborted, "its cable is cut"));
    auto late = receive(10);
    ASSERT_TRUE(late->done());
    EXPECT_TRUE(late->own().error.take().sentence.ends_with(
        "; a message of 1 bytes that was sent to it before may not have arrived"));
    EXPECT_FALSE(messenger(1).untold_loss()) << "a call that failed has told of it";
}

}  // namespace
}  // namespace lanyard
