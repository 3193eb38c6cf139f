// Tests when a link acknowledges frames that have arrived: after a while, or at once if the peer requests it.
// The same holds on a new connection. The test plays the peer itself: it sends the frames byte by byte and
// counts the acknowledgements.
#include <gtest/gtest.h>

#include <cstring>

#include "fuzz/caller.h"
#include "path/tcp/frame.h"
#include "sim/job.h"

namespace lanyard::sim {
namespace {

struct Ignore final : Sink {
    void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override { ++envelopes; }
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override {}
    void sent(uint64_t) override {}
    void lost(uint32_t, Error reason) override { reason.discard(); }
    uint32_t envelopes = 0;
};

class Answers : public ::testing::Test {
protected:
    void turn(int turns = 100) {
        while (turns--) links_.path(1).poll(sink_, budget_, baton_.now_ns() + ahead_ns_);
    }
    void greet() {
        Greeting hello{}, welcome{}, confirm{};
        caller_.dial(SimInternet::address_of(1).with_port(links_.port(1)));
        hello.kind = GreetingKind::hello;
        confirm.kind = GreetingKind::confirm;
        hello.to = confirm.to = 1;
        hello.epoch = confirm.epoch = ++epoch_;
        seal(hello, WireIdentity(), nullptr);
        ASSERT_TRUE(caller_.say(&hello, sizeof hello) && caller_.hear(welcome));
        ASSERT_EQ(welcome.expects, sink_.envelopes);
        seal(confirm, WireIdentity(), &welcome);
        ASSERT_TRUE(caller_.say(&confirm, sizeof confirm));
        turn();
    }
    std::string envelope() {
        EnvelopeFrame frame{{FrameKind::envelope, 0, 0, 0, next_++, 0}, {}};
        frame.envelope.kind = EnvelopeKind::eager;
        return {reinterpret_cast<char *>(&frame), sizeof frame};
    }
    std::string question() {
        FrameHeader header{FrameKind::acknowledge, answer_now, 0, 0, next_, 0};
        return {reinterpret_cast<char *>(&header), sizeof header};
    }
    void say(const std::string &bytes) {
        caller_.say(bytes.data(), bytes.size());
        turn();
    }
    uint64_t answers() { return links_.path(1).counts().acknowledgements; }

    Baton baton_{1};
    SimLinks links_{
        baton_,
        {.usual_delay_ns = 1, .long_delay_percent = 0, .portion_percent = 0, .preempt_percent = 0},
        TcpLimits(),
        2};
    SimSockets sockets_{links_.internet, 0};
    fuzz::Caller caller_{sockets_, [this] { turn(1); }};
    Ignore sink_;
    int budget_ = 100;
    uint64_t ahead_ns_ = 0;  // by how much the link's clock is ahead of the clock of the sockets
    uint32_t epoch_ = 0, next_ = 0;
};

TEST_F(Answers, ComeAfterAWhile) {
    greet();
    say(envelope());
    EXPECT_EQ(answers(), 0u);
    ahead_ns_ += TcpLimits().answer_within_ns;
    turn();
    EXPECT_EQ(answers(), 1u);
}

TEST_F(Answers, ComeAfterAWhileOnAConnectionMadeAnew) {
    greet();
    say(envelope());
    greet();  // the link's answer in this greeting states what has arrived so far
    ahead_ns_ += TcpLimits().answer_within_ns;
    turn();
    say(envelope());
    ahead_ns_ += TcpLimits().answer_within_ns;
    turn();
    EXPECT_EQ(answers(), 1u);
}

TEST_F(Answers, ComeAtOnceWhereAskedForThoughOneFrameIsTakenAtATime) {
    for (int budget : {100, 1}) {
        budget_ = budget;
        if (!epoch_) greet();
        uint64_t before = answers();
        std::string frames = envelope();
        frames += envelope();
        frames += question();
        say(frames);
        EXPECT_EQ(answers(), before + 1) << "budget " << budget;
    }
}

}  // namespace
}  // namespace lanyard::sim
