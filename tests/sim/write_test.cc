// The write protocol (p2p/receive_advert.h, p2p/shm_advert.h) must not change which receive gets which
// message. The tests compare the matching with reference(): in every interleaving of two messages and two
// receives of many kinds, in every order of three or four of random kinds, and in random steps.
//
// reference(): a message goes to the earliest matching receive, and a receive takes the earliest matching
// message. One assignment fulfils both. A cancelled receive, or a probe that found nothing, does not count.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/abi_constants.h"
#include "datatype/predefined.h"
#include "engine/engine.h"
#include "net/sim/random.h"
#include "p2p/messenger.h"
#include "sim/few_cases.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

constexpr uint64_t context = 4000;
constexpr size_t eager_limit = 64, most_bulk = 400, long_bytes = 1000, small_room = 700, short_bytes = 40;
enum Process : uint32_t { sender, receiver };

// The path of one process to the other. Frames wait, in order, until the test lets them through.
class HandPath final : public Path, private DirectMemory {
public:
    HandPath(bool loses, bool touches)
        : Path({.name = "hand", .max_eager = 200, .max_bulk = most_bulk, .bulk_follows = true,
                .loses_bulk = loses, .memory = this}),
          touches_(touches) {}

    HandPath *other = nullptr;
    int let_through = 0;
    size_t waiting() const { return in_transit_.size(); }
    // Simulates a new connection: bulk that has not arrived is lost, but envelopes are not.
    void lose_bulk() {
        std::erase_if(in_transit_, [](const Frame &frame) { return frame.is_bulk; });
    }

    bool reaches(uint32_t) const override { return true; }
    bool touches(uint32_t peer) override { return touches_ && peer != number; }
    Error get(uint32_t, const iovec *local, int runs, uint64_t remote_address, size_t bytes) override {
        EXPECT_EQ(runs, 1);
        std::memcpy(local->iov_base, reinterpret_cast<const void *>(remote_address), bytes);
        return {};
    }
    Error put(uint32_t, const iovec *local, int runs, uint64_t remote_address, size_t bytes) override {
        EXPECT_EQ(runs, 1);
        if (refuses_next_put) return refuses_next_put = false, Error(ErrorClass::other, "refused");
        std::memcpy(reinterpret_cast<void *>(remote_address), local->iov_base, bytes);
        return {};
    }
    std::atomic<uint64_t> *shared_word(uint32_t owner, uint32_t index) override {
        if (!touches_) return nullptr;
        return owner == number ? &words_[index] : &other->words_[index];
    }
    bool refuses_next_put = false;
    std::string describe() const override { return "hand"; }
    Sent send(uint32_t, const Envelope &envelope, Payload payload) override {
        return put({false, envelope, {}, std::vector<std::byte>(payload.size)}, payload);
    }
    Sent send_bulk(uint32_t, const BulkHeader &header, Payload payload, uint64_t) override {
        return put({true, {}, header, std::vector<std::byte>(payload.size)}, payload);
    }
    Sent send_kept(uint32_t, const Envelope &envelope, const KeptPayload &payload) override {
        Frame frame{false, envelope, {}, std::vector<std::byte>(payload.head_size + payload.size)};
        std::memcpy(frame.payload.data(), payload.head, payload.head_size);
        std::memcpy(frame.payload.data() + payload.head_size, payload.data, payload.size);
        other->in_transit_.push_back(std::move(frame));
        return Sent::done;
    }
    int poll(Sink &sink, int, uint64_t) override {
        int work = 0;
        for (; let_through > 0 && !in_transit_.empty(); --let_through, ++work) {
            Frame frame = std::move(in_transit_.front());
            in_transit_.pop_front();
            if (frame.is_bulk) sink.bulk(1 - own(), frame.header, frame.payload.data(), frame.payload.size());
            else sink.envelope(1 - own(), frame.envelope, frame.payload.data(), frame.payload.size());
        }
        return work;
    }
    uint32_t number = 0;

private:
    struct Frame {
        bool is_bulk;
        Envelope envelope;
        BulkHeader header;
        std::vector<std::byte> payload;
    };
    uint32_t own() const { return number; }
    Sent put(Frame frame, Payload &payload) {
        payload.copy(frame.payload.data(), payload.size);
        other->in_transit_.push_back(std::move(frame));
        return Sent::done;
    }

    bool touches_;
    std::deque<Frame> in_transit_;
    std::atomic<uint64_t> words_[shared_words] = {};
};

class NoIdle final : public Idle {
public:
    Action next(uint32_t, uint64_t, uint64_t) override { return Action::spin; }
    void yield() override {}
    void arm() override {}
    void sleep(uint64_t) override {}
    void disarm() override {}
    void wake() override {}
};

struct SendPlan {
    int32_t tag;
    size_t bytes;
};
struct ReceivePlan {
    int32_t rank, tag;
    size_t room;
    // `persistent`: uses the operation of the previous receive again if that receive is complete.
    enum Kind : uint8_t { posted, probed, persistent } kind = posted;
};
enum Step : uint8_t { send_next, receive_next, cancel_first, one_to_receiver, all_to_receiver, all_to_sender,
                      connection_breaks, receiver_waits, receiver_holds, put_refused, steps };

struct Case {
    std::string protocol = "on";
    bool loses_bulk = false;
    bool touches_memory = false;
    int64_t credit = -1;  // -1: the value of the default settings
    std::vector<SendPlan> sends;
    std::vector<ReceivePlan> receives;
    std::vector<Step> steps;
};

std::byte content(size_t message, size_t i) {
    return static_cast<std::byte>(message * 101 + i * 7 + (i >> 8) + 1);
}

class Play {
public:
    explicit Play(const Case &plan)
        : plan_(plan), paths_{HandPath(plan.loses_bulk, plan.touches_memory),
                              HandPath(plan.loses_bulk, plan.touches_memory)} {
        settings_.eager_limit = eager_limit;
        settings_.first_bytes = plan.loses_bulk ? 100 : 0;
        settings_.write_protocol = plan.protocol;
        settings_.eager_credit = plan.credit;
        for (uint32_t own : {sender, receiver}) {
            paths_[own].number = own;
            paths_[own].other = &paths_[1 - own];
            engines_[own] = std::make_unique<Engine>(idle_);
            messengers_[own] = std::make_unique<Messenger>(*engines_[own], settings_, own, 2);
            engines_[own]->add_path(paths_[own]);
            messengers_[own]->route(1 - own, paths_[own]);
            messengers_[own]->route(own, paths_[own]);
        }
    }

    // Runs the case. Returns a description of the error, or an empty string.
    std::string run() {
        for (Step step : plan_.steps) take(step);
        while (next_send_ < plan_.sends.size()) take(send_next);
        while (next_receive_ < plan_.receives.size()) take(receive_next);
        let_all_through();
        std::string wrong = compare();
        end_rest();
        return wrong;
    }

    uint64_t used() const { return messengers_[sender]->counts().announcements_used; }
    uint64_t crossed() const { return messengers_[sender]->counts().crossed; }

private:
    struct Operation {
        SendOperation out;
        ReceiveOperation in;
        ReceiveOperation *used = nullptr;  // persistent: an earlier receive's operation
        std::vector<std::byte> memory;
        bool exists = true, over = false;
        // A copy of the result, because the operation may be used again.
        size_t received = 0;
        int32_t tag = 0;
        bool cancelled = false, truncated = false;

        ReceiveOperation &own() { return used ? *used : in; }
        void look() {
            if (over || !exists || !own().completion.complete()) return;
            over = true;
            received = static_cast<size_t>(own().received);
            tag = own().matched_tag;
            cancelled = own().cancelled;
            truncated = static_cast<bool>(own().error);
            own().error.discard();
            own().error = {};
        }
    };

    void take(Step step) {
        switch (step) {
            case send_next: return send();
            case receive_next: return receive();
            case cancel_first: return cancel();
            case one_to_receiver: return let_through(receiver, 1);
            case all_to_receiver: return let_through(receiver, 1000);
            case all_to_sender: return let_through(sender, 1000);
            case connection_breaks: return break_connection();
            case receiver_waits: return messengers_[receiver]->withdraw_claims();
            case receiver_holds: return held_ ? held_.reset() : void(held_.emplace(*messengers_[receiver]));
            case put_refused: paths_[sender].refuses_next_put = true; return;
            case steps: return;
        }
    }

    void move() {
        for (int i = 0; i < 4; ++i)
            for (auto &engine : engines_) engine->make_turn();
        for (auto &operation : receives_) operation->look();
    }
    void let_through(uint32_t process, int frames) {
        paths_[process].let_through = frames;
        move();
        paths_[process].let_through = 0;
    }
    void let_all_through() {
        for (int still = 0; still < 3;) {
            bool waiting = paths_[sender].waiting() || paths_[receiver].waiting();
            still = waiting ? 0 : still + 1;
            let_through(receiver, 1000);
            let_through(sender, 1000);
        }
    }
    void break_connection() {
        if (!plan_.loses_bulk) return;
        for (HandPath &path : paths_) path.lose_bulk();
        for (uint32_t own : {sender, receiver}) messengers_[own]->dispatch().renewed(1 - own);
        move();
    }
    void send() {
        if (next_send_ == plan_.sends.size()) return;
        const SendPlan &plan = plan_.sends[next_send_];
        auto operation = std::make_unique<Operation>();
        for (size_t i = 0; i < plan.bytes; ++i) operation->memory.push_back(content(next_send_, i));
        describe(operation->out, *operation, 0, plan.tag);
        operation->out.peer = receiver;
        operation->out.in_call = true;
        messengers_[sender]->send(operation->out);
        sends_.push_back(std::move(operation));
        ++next_send_;
        move();
    }
    void receive() {
        if (next_receive_ == plan_.receives.size()) return;
        const ReceivePlan &plan = plan_.receives[next_receive_++];
        auto operation = std::make_unique<Operation>();
        operation->memory.resize(plan.room + 8);
        if (plan.kind == ReceivePlan::persistent && !receives_.empty() && receives_.back()->over)
            operation->used = &receives_.back()->own();
        describe(operation->own(), *operation, plan.rank, plan.tag);
        operation->own().buffer.count = static_cast<int64_t>(plan.room);
        operation->own().peer = plan.rank == any_source ? no_peer : static_cast<uint32_t>(sender);
        if (plan.kind == ReceivePlan::probed) {
            Unexpected *found = messengers_[receiver]->probe(operation->own());
            operation->exists = found != nullptr;
            if (found) {
                messengers_[receiver]->take(*found);
                messengers_[receiver]->receive_taken(operation->own(), *found);
            }
        } else {
            messengers_[receiver]->receive(operation->own());
        }
        receives_.push_back(std::move(operation));
        move();
    }
    void cancel() {
        if (receives_.empty() || receives_.front()->over || !receives_.front()->exists) return;
        messengers_[receiver]->cancel(receives_.front()->own());
        move();
    }

    template <class Kind>
    static void describe(Kind &transfer, Operation &operation, int32_t rank, int32_t tag) {
        transfer.completion.reset();
        static_cast<MatchKey &>(transfer) = {context, rank, tag};
        transfer.buffer = {operation.memory.data(), static_cast<int64_t>(operation.memory.size()),
                           predefined_datatype(abi::type_byte)};
    }

    // The index of the message that each receive must get; -1 if none.
    std::vector<int> reference() const {
        std::vector<int> message_of(receives_.size(), -1);
        for (size_t message = 0; message < plan_.sends.size(); ++message)
            for (size_t i = 0; i < receives_.size(); ++i) {
                const ReceivePlan &plan = plan_.receives[i];
                if (!receives_[i]->exists || receives_[i]->cancelled || message_of[i] >= 0) continue;
                if (plan.tag != any_tag && plan.tag != plan_.sends[message].tag) continue;
                message_of[i] = static_cast<int>(message);
                break;
            }
        return message_of;
    }
    std::string compare() {
        std::vector<int> message_of = reference();
        std::vector<bool> taken(plan_.sends.size());
        for (size_t i = 0; i < receives_.size(); ++i) {
            Operation &operation = *receives_[i];
            if (!operation.exists || operation.cancelled) continue;
            std::string name = "receive " + std::to_string(i);
            if (operation.over != (message_of[i] >= 0))
                return name + (operation.over ? " is over" : " is not over");
            if (!operation.over) continue;
            auto number = static_cast<size_t>(message_of[i]);
            const SendPlan &sent = plan_.sends[number];
            taken[number] = true;
            size_t received = std::min(sent.bytes, plan_.receives[i].room);
            if (operation.tag != sent.tag || operation.received != received)
                return name + " has another message";
            if (operation.truncated != (sent.bytes > plan_.receives[i].room))
                return name + " should be an error, or not";
            for (size_t k = 0; k < operation.memory.size(); ++k)
                if (operation.memory[k] != (k < received ? content(number, k) : std::byte{0}))
                    return name + " has a wrong byte " + std::to_string(k);
        }
        for (size_t message = 0; message < sends_.size(); ++message) {
            bool over = sends_[message]->out.completion.complete();
            if (taken[message] && !over) return "send " + std::to_string(message) + " is not over";
            if (!taken[message] && over && plan_.sends[message].bytes > eager_limit)
                return "send " + std::to_string(message) + " is over";
        }
        return {};
    }

    // Leaves nothing for the next case: cancels open receives, and receives the messages that are left.
    void end_rest() {
        for (auto &operation : receives_)
            if (operation->exists && !operation->over) messengers_[receiver]->cancel(operation->own());
        for (size_t i = 0; i < plan_.sends.size(); ++i) {
            plan_extra_.receives.push_back({0, any_tag, long_bytes});
            auto operation = std::make_unique<Operation>();
            operation->memory.resize(long_bytes);
            describe(operation->in, *operation, 0, any_tag);
            operation->in.peer = sender;
            messengers_[receiver]->receive(operation->in);
            let_all_through();
            if (!operation->in.completion.complete()) messengers_[receiver]->cancel(operation->in);
            receives_.push_back(std::move(operation));
        }
        let_all_through();
        for (auto &operation : sends_) EXPECT_TRUE(operation->out.completion.complete());
        for (auto &messenger : messengers_) EXPECT_TRUE(messenger->nothing_pending());
    }

    const Case &plan_;
    Case plan_extra_;
    Settings settings_;
    NoIdle idle_;
    std::array<HandPath, 2> paths_;
    std::array<std::unique_ptr<Engine>, 2> engines_;
    std::array<std::unique_ptr<Messenger>, 2> messengers_;
    std::optional<Messenger::HeldClaims> held_;
    std::vector<std::unique_ptr<Operation>> sends_, receives_;
    size_t next_send_ = 0, next_receive_ = 0;
};

std::string words(const Case &plan) {
    std::string text = "protocol " + plan.protocol +
                       (plan.loses_bulk ? ", loses bulk" : plan.touches_memory ? ", touches memory" : "") +
                       "; sends";
    for (const SendPlan &send : plan.sends)
        text += " (" + std::to_string(send.tag) + ", " + std::to_string(send.bytes) + ")";
    text += "; receives";
    for (const ReceivePlan &receive : plan.receives)
        text += " (" + std::to_string(receive.rank) + ", " + std::to_string(receive.tag) + ", " +
                std::to_string(receive.room) + ", kind " + std::to_string(receive.kind) + ")";
    text += "; steps";
    for (Step step : plan.steps) text += " " + std::to_string(step);
    return text;
}

struct Sums {
    uint64_t played = 0, used = 0, crossed = 0;
};

bool holds(const Case &plan, Sums &sums) {
    Play play(plan);
    std::string wrong = play.run();
    ++sums.played;
    sums.used += play.used();
    sums.crossed += play.crossed();
    EXPECT_EQ(wrong, "") << words(plan);
    return wrong.empty() && !::testing::Test::HasFailure();
}

// Runs the case with every order of its operations and cancel, and after each with each step in `arrivals`.
bool each_interleaving(Case &plan, const std::vector<Step> &arrivals, size_t operations, Sums &sums,
                       size_t sends = 0, size_t receives = 0, bool cancelled = true) {
    if (plan.steps.size() == 2 * operations) return holds(plan, sums);
    auto go_on = [&](Step step, size_t more_sends, size_t more_receives, bool now_cancelled) {
        for (Step arrival : arrivals) {
            plan.steps.push_back(step);
            plan.steps.push_back(arrival);
            bool good = each_interleaving(plan, arrivals, operations, sums, sends + more_sends,
                                          receives + more_receives, now_cancelled);
            plan.steps.resize(plan.steps.size() - 2);
            if (!good) return false;
        }
        return true;
    };
    if (sends < plan.sends.size() && !go_on(send_next, 1, 0, cancelled)) return false;
    if (receives < plan.receives.size() && !go_on(receive_next, 0, 1, cancelled)) return false;
    return cancelled || receives == 0 || go_on(cancel_first, 0, 0, true);
}

std::vector<ReceivePlan> receive_kinds() {
    std::vector<ReceivePlan> kinds;
    for (int32_t tag : {1, 2, static_cast<int>(any_tag)})
        for (int32_t rank : {0, static_cast<int>(any_source)})
            for (size_t room : {long_bytes, small_room}) kinds.push_back({rank, tag, room});
    kinds.push_back({0, 1, long_bytes, ReceivePlan::probed});
    kinds.push_back({0, any_tag, long_bytes, ReceivePlan::persistent});
    return kinds;
}

// Runs every `stride`-th case (others in builds with sanitizers), or all if LANYARD_TEST_SECONDS is above 30.
TEST(WriteProtocol, HoldsInEveryInterleavingOfTwoMessagesAndTwoReceives) {
    Sums sums;
    size_t stride = test_seconds() > 30 ? 1 : few_cases() ? 1511 : fewer_wanted() ? 1009 : 307;
    size_t number = few_cases() ? 0 : 5;
    for (const SendPlan &first : {SendPlan{1, long_bytes}, SendPlan{1, short_bytes}, SendPlan{2, long_bytes}})
        for (const SendPlan &second :
             {SendPlan{1, long_bytes}, SendPlan{2, long_bytes}, SendPlan{2, short_bytes}})
            for (const ReceivePlan &one : receive_kinds())
                for (const ReceivePlan &other : receive_kinds())
                    for (bool cancels : {false, true})
                        for (int way : {0, 1, 2}) {
                            if (++number % stride != 0) continue;
                            Case plan{.loses_bulk = way == 1, .touches_memory = way == 2,
                                      .sends = {first, second}, .receives = {one, other}, .steps = {}};
                            // A break has no effect if the path loses no bulk, so the receiver waits instead.
                            std::vector<Step> arrivals{way == 1 ? connection_breaks : receiver_waits,
                                                       one_to_receiver, all_to_receiver, all_to_sender};
                            if (!each_interleaving(plan, arrivals, 4 + (cancels ? 1u : 0u), sums, 0, 0,
                                                   !cancels))
                                return;
                        }
    EXPECT_GT(sums.used, sums.played / 100)
        << "announcements were hardly ever used, of " << sums.played << " plays";
    EXPECT_GT(sums.crossed, sums.played / 100);
}

Case random_plan(Random &random, int64_t least, int64_t most) {
    std::vector<ReceivePlan> kinds = receive_kinds();
    bool loses = random.chance(50);
    Case plan{.protocol = random.chance(80) ? "on" : "auto",
              .loses_bulk = loses, .touches_memory = !loses && random.chance(70),
              .credit = random.chance(50) ? -1 : random.between(0, 200),
              .sends = {}, .receives = {}, .steps = {}};
    for (int64_t i = random.between(least, most); i > 0; --i)
        plan.sends.push_back({random.chance(60) ? 1 : 2, random.chance(70) ? long_bytes : short_bytes});
    for (int64_t i = random.between(least, most); i > 0; --i) plan.receives.push_back(random.pick(kinds));
    return plan;
}

// After each operation, one frame arrives at the receiver, or all waiting frames arrive at the sender.
TEST(WriteProtocol, HoldsInEveryOrderOfThreeOrFourMessagesOfRandomKinds) {
    if (under_valgrind()) GTEST_SKIP() << "one case takes a minute and a half there";
    Sums sums;
    for_seeds(1, 10, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Random random(seed);
        Case plan = random_plan(random, 3, 4);
        bool cancels = plan.sends.size() + plan.receives.size() < 8 && random.chance(50);
        size_t operations = plan.sends.size() + plan.receives.size() + (cancels ? 1u : 0u);
        return each_interleaving(plan, {one_to_receiver, all_to_sender}, operations, sums, 0, 0, !cancels);
    });
    EXPECT_GT(sums.played, 1000u);
}

TEST(WriteProtocol, HoldsInRandomInterleavingsOfUpToFourMessages) {
    Sums sums;
    for_seeds(2000, 20, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Random random(seed);
        Case plan = random_plan(random, 1, 4);
        for (int64_t i = random.between(8, 30); i > 0; --i)
            plan.steps.push_back(static_cast<Step>(random.below(steps)));
        return holds(plan, sums);
    });
    EXPECT_GT(sums.used, sums.played / 30);
}

}  // namespace
}  // namespace lanyard::sim
