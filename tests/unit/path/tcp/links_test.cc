// Tests the parts of the TCP path that handle links, without the path itself, on sockets that the test moves
// by hand: what is sent, received, replayed and lost.
#include "path/tcp/links.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "path/tcp/link_keeper.h"
#include "path/tcp/link_reader.h"
#include "unit/path/tcp/frames.h"

namespace lanyard {
namespace {

constexpr int lowest_socket = 7;
constexpr uint32_t peer = 1;

struct Noted final : Sink {
    void envelope(uint32_t, const Envelope &envelope, const std::byte *payload, size_t size) override {
        sequences.push_back(envelope.context);
        EXPECT_EQ(Bytes(payload, payload + size), pattern(size, envelope.context));
    }
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override { ++bulks; }
    void renewed(uint32_t) override { ++renewals; }
    void sent(uint64_t token) override { tokens.push_back(token); }
    void undelivered(uint32_t, const Envelope &envelope) override {
        undelivered_lengths.push_back(envelope.length);
    }
    void lost(uint32_t, Error reason) override { losses.push_back(reason.take().sentence); }
    bool wait_is_over() const override { return has_enough; }

    std::vector<uint64_t> sequences, tokens, undelivered_lengths;
    std::vector<std::string> losses;
    int bulks = 0, renewals = 0;
    bool has_enough = false;
};

class LinksTest : public ::testing::Test {
protected:
    static TcpLimits limits() {
        TcpLimits made;
        made.log_limit = 1000;
        made.most_open = 2;
        return made;
    }
    // Does what poll() does, with `turn` in place of its parts.
    template <class Turn>
    void in_poll(Turn turn) {
        links.sink = &sink;
        links.now_ns = sockets.time_ns;
        turn();
        if (links.now_ns >= links.due_at_ns()) keeper.tend(links.now_ns);
        links.reports.tell(sink);
        writer.flush_all();
        links.sink = nullptr;
    }
    void connect(uint64_t peer_expects, uint32_t number = peer) {
        in_poll([&] { user.connected(number, ++socket, peer_expects); });
    }
    // Does what the greeting of a new connection does.
    void reconnect(uint64_t peer_expects) {
        user.let_go(peer);
        connect(peer_expects);
    }
    Sent send(size_t size) {
        Link &link = links.at(peer);
        payload = pattern(size, link.next_number);
        Envelope envelope{};
        envelope.length = size;
        envelope.context = link.next_number;
        return writer.send(link, envelope, {payload.data(), size});
    }
    void receive(const Bytes &bytes) {
        sockets.sockets[socket].to_read.push_back(bytes);
        in_poll([&] { reader.read_in(links.at(peer), 100); });
    }
    // Returns the frames that were written to the present connection since the last call.
    std::vector<SeenFrame> written() {
        Bytes &bytes = sockets.sockets[socket].written;
        if (bytes.empty()) return {};
        ScriptedSockets other;
        Connection connection(0);
        ReadBuffer buffer;
        Noting noted;
        connection.open(other, 1);
        other.sockets[1].to_read.push_back(std::exchange(bytes, {}));
        while (!other.sockets[1].to_read.empty()) connection.read_in(other, links.form, buffer, 1, noted);
        EXPECT_FALSE(connection.frames.in_frame());
        return noted.frames;
    }
    std::vector<uint32_t> written_envelopes() {
        std::vector<uint32_t> numbers;
        for (const SeenFrame &frame : written())
            if (frame.kind == FrameKind::envelope) {
                EXPECT_EQ(frame.payload, pattern(frame.payload.size(), frame.sequence));
                numbers.push_back(frame.sequence);
            }
        return numbers;
    }

    ScriptedSockets sockets;
    int socket = lowest_socket - 1;
    WireIdentity identity;
    Links links{sockets, 4, limits(), {}};
    Processes processes{4};
    Connector connector{sockets, identity, processes, user_of_connector()};
    Routes routes{sockets, connector, 0, 0, [](uint32_t, std::vector<Address> &) { return Error(); }};
    LinkWriter writer{links, connector, routes};
    LinkReader reader{links, writer};
    LinkKeeper keeper{links, connector, routes, writer};
    Connector::User &user = keeper;
    Noted sink;
    Bytes payload;
    const FrameForm &form = links.form;

private:
    Connector::User &user_of_connector() { return keeper; }
};

TEST_F(LinksTest, WritesAtOnceOutsidePollAndAtItsEndInside) {
    connect(0);
    EXPECT_EQ(send(10), Sent::done);
    EXPECT_EQ(written_envelopes(), std::vector<uint32_t>{0});
    in_poll([&] {
        send(10);
        send(5);
        EXPECT_TRUE(written().empty());
    });
    EXPECT_EQ(written_envelopes(), (std::vector<uint32_t>{1, 2}));
}

TEST_F(LinksTest, KeepsEnvelopesUntilThereIsAConnection) {
    EXPECT_EQ(send(10), Sent::done);
    EXPECT_EQ(send(20), Sent::done);
    EXPECT_EQ(links.unacknowledged(), 1u);
    EXPECT_EQ(links.busy(), 1u);
    connect(0);
    EXPECT_EQ(written_envelopes(), (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(links.busy(), 0u);
    EXPECT_EQ(links.unacknowledged(), 1u);
    receive(acknowledge_frame(form, 0, 2));
    EXPECT_EQ(links.unacknowledged(), 0u);
}

TEST_F(LinksTest, IsFullWhenTheLogIs) {
    connect(0);
    sockets.sockets[socket].room = 0;
    while (send(100) == Sent::done) ASSERT_LT(links.at(peer).next_number, 20u);
    EXPECT_GE(links.at(peer).log.bytes(), 1000u);
    sockets.sockets[socket].room = SIZE_MAX;
    writer.write_out(links.at(peer));
    EXPECT_EQ(send(100), Sent::full) << "written, but not acknowledged";
    receive(acknowledge_frame(form, 0, 3));
    EXPECT_EQ(send(100), Sent::done);
}

TEST_F(LinksTest, ReplaysFromTheEnvelopeThatThePeerExpects) {
    connect(0);
    for (size_t size : {10, 20, 30, 40}) send(size);
    receive(acknowledge_frame(form, 0, 1));
    EXPECT_EQ(written_envelopes(), (std::vector<uint32_t>{0, 1, 2, 3}));
    reconnect(2);
    EXPECT_EQ(written_envelopes(), (std::vector<uint32_t>{2, 3}));
    EXPECT_EQ(sink.renewals, 1);
    reconnect(2);
    EXPECT_EQ(written_envelopes(), (std::vector<uint32_t>{2, 3})) << "it had not said more";
    reconnect(4);
    EXPECT_TRUE(written_envelopes().empty());
    EXPECT_TRUE(links.at(peer).log.empty());
}

TEST_F(LinksTest, ReplaysWhatWasHalfWritten) {
    connect(0);
    sockets.sockets[socket].room = 70;  // the first envelope, and a part of the second
    send(10);
    send(200);
    reconnect(1);
    EXPECT_EQ(written_envelopes(), std::vector<uint32_t>{1});
}

TEST_F(LinksTest, TakesNoConnectionWhosePeerExpectsWhatWasNeverSent) {
    send(10);
    connect(2);
    EXPECT_FALSE(links.at(peer).connection.is_open());
    EXPECT_TRUE(sockets.sockets[socket].closed);
}

TEST_F(LinksTest, DeliversInOrderAndSaysWhatIsHere) {
    connect(0);
    receive(envelope_frame(form, 0, pattern(10, 0)));
    receive(envelope_frame(form, 1, pattern(0, 1), 0, answer_now));
    EXPECT_EQ(sink.sequences, (std::vector<uint64_t>{0, 1}));
    auto answers = written();
    ASSERT_EQ(answers.size(), 1u) << "the peer has asked once";
    EXPECT_EQ(answers[0].acknowledged, 2u);
    receive(envelope_frame(form, 2, pattern(10, 2)));
    EXPECT_TRUE(written().empty());
    sockets.time_ns += limits().answer_within_ns;
    in_poll([] {});
    answers = written();
    ASSERT_EQ(answers.size(), 1u) << "after a while it is told unasked";
    EXPECT_EQ(answers[0].acknowledged, 3u);
    EXPECT_EQ(user.let_go(peer).expects, 3u);
}

TEST_F(LinksTest, TakesNoEnvelopeButTheNext) {
    for (uint64_t wrong : {1, 3}) {
        connect(0);
        if (sink.sequences.empty()) {
            receive(envelope_frame(form, 0, pattern(0, 0)));
            receive(envelope_frame(form, 1, pattern(0, 1)));
        }
        receive(envelope_frame(form, wrong, pattern(0, wrong)));
        EXPECT_EQ(sink.sequences, (std::vector<uint64_t>{0, 1}));
        EXPECT_FALSE(links.at(peer).connection.is_open()) << "it is closed, to be made anew";
    }
    EXPECT_EQ(links.counts.garbled, 2u);
}

TEST_F(LinksTest, BelievesNoAcknowledgementOfWhatWasNotWritten) {
    connect(0);
    sockets.sockets[socket].room = 100;
    send(10);
    send(200);
    receive(acknowledge_frame(form, 0, 2));
    EXPECT_EQ(links.counts.garbled, 1u);
    EXPECT_EQ(links.at(peer).next_number, 2u);
    connect(0);
    EXPECT_EQ(written_envelopes(), (std::vector<uint32_t>{0, 1}));
}

TEST_F(LinksTest, ToldTokensOfKeptPayloadOnceItIsAcknowledgedOrCopied) {
    connect(0);
    Bytes kept = pattern(300, 0), copied = pattern(300, 1);
    auto send_kept = [&](const Bytes &bytes, uint64_t token) {
        Envelope envelope{};
        envelope.length = bytes.size();
        return writer.send_kept(links.at(peer), envelope,
                                {bytes.data(), 10, bytes.data() + 10, bytes.size() - 10, token, 0});
    };
    EXPECT_EQ(send_kept(kept, 5), Sent::pending);
    in_poll([] {});
    EXPECT_TRUE(sink.tokens.empty());
    receive(acknowledge_frame(form, 0, 1));
    EXPECT_EQ(sink.tokens, std::vector<uint64_t>{5});
    EXPECT_EQ(send_kept(copied, 6), Sent::pending);
    in_poll([&] { writer.copy_kept(); });
    EXPECT_EQ(sink.tokens, (std::vector<uint64_t>{5, 6}));
    std::fill(copied.begin(), copied.end(), std::byte{0xee});
    reconnect(1);
    EXPECT_EQ(written_envelopes(), std::vector<uint32_t>{1}) << "from the copy";
}

TEST_F(LinksTest, BulkIsDoneOrToldOnce) {
    connect(0);
    Link &link = links.at(peer);
    Bytes data = pattern(500, 1);
    EXPECT_EQ(writer.send_bulk(link, {4, 0}, {data.data(), data.size()}, 1), Sent::done);
    sockets.sockets[socket].room = 100;
    EXPECT_EQ(writer.send_bulk(link, {4, 0}, {data.data(), data.size()}, 2), Sent::pending);
    EXPECT_EQ(writer.send_bulk(link, {4, 0}, {data.data(), data.size()}, 3), Sent::full) << "one at a time";
    sockets.sockets[socket].room = SIZE_MAX;
    in_poll([&] { writer.write_out(link); });
    EXPECT_EQ(sink.tokens, std::vector<uint64_t>{2});
    ASSERT_EQ(written().size(), 2u);
    sockets.sockets[socket].room = 100;
    EXPECT_EQ(writer.send_bulk(link, {4, 0}, {data.data(), data.size()}, 4), Sent::pending);
    reconnect(0);
    EXPECT_EQ(sink.tokens, (std::vector<uint64_t>{2, 4})) << "lost with its connection, and not kept";
    EXPECT_TRUE(written().empty());
}

TEST_F(LinksTest, APeerThatCannotBeReachedIsLostWithWhatItMayNotHave) {
    connect(0);
    send(10);
    send(20);
    receive(acknowledge_frame(form, 0, 1));
    sockets.sockets[socket].ended = true;
    in_poll([&] { reader.read_in(links.at(peer), 10); });
    EXPECT_FALSE(links.at(peer).connection.is_open());
    sockets.time_ns += limits().peer_timeout_ns - second_ns;
    in_poll([] {});
    EXPECT_TRUE(sink.losses.empty());
    sockets.time_ns += second_ns;
    in_poll([] {});
    ASSERT_EQ(sink.losses.size(), 1u);
    EXPECT_NE(sink.losses[0].find("cannot be reached since 60 s"), std::string::npos) << sink.losses[0];
    EXPECT_EQ(sink.undelivered_lengths, std::vector<uint64_t>{20});
    EXPECT_TRUE(links.at(peer).lost);
    EXPECT_EQ(links.unacknowledged(), 0u);
    connect(0);
    EXPECT_FALSE(links.at(peer).connection.is_open()) << "for ever";
}

TEST_F(LinksTest, ASilentHostIsDialedBeside) {
    connect(0);
    send(10);
    for (sockets.silent_ns = 0; sockets.silent_ns < 5 * second_ns; sockets.silent_ns += second_ns / 2) {
        in_poll([] {});
        sockets.time_ns += second_ns / 2;
    }
    EXPECT_EQ(links.counts.silences, 1u) << "though several checks have found the host silent";
    EXPECT_TRUE(links.at(peer).connection.is_open()) << "until there is another";
    EXPECT_EQ(connector.counts().dialed, 1u);
}

TEST_F(LinksTest, ClosesTheConnectionThatWasQuietLongestForAnother) {
    connect(0, 1);
    ++sockets.time_ns;
    connect(0, 2);
    ++sockets.time_ns;
    connect(0, 3);
    EXPECT_FALSE(links.at(1).connection.is_open());
    EXPECT_TRUE(links.at(1).idle_closed);
    EXPECT_TRUE(links.at(2).connection.is_open());
    EXPECT_EQ(links.open, 2u);
    EXPECT_EQ(links.counts.broken, 0u);
    Envelope envelope{};
    sockets.sockets[lowest_socket + 1].room = 10;
    writer.send(links.at(2), envelope, {nullptr, 0});
    in_poll([&] { keeper.close_idle(); });
    EXPECT_TRUE(links.at(2).connection.is_open()) << "it is not idle";
    EXPECT_FALSE(links.at(3).connection.is_open());
}

TEST_F(LinksTest, ClosesNoConnectionOnWhichSomethingIsUnderWay) {
    connect(0, 1);
    ++sockets.time_ns;
    connect(0, 2);
    ++sockets.time_ns;
    sockets.sockets[lowest_socket].to_read.push_back(bulk_frame(form, {4, 0}, pattern(100, 1)));
    connect(0, 3);
    EXPECT_TRUE(links.at(1).connection.is_open()) << "something is unread there";
    EXPECT_FALSE(links.at(2).connection.is_open()) << "though it was used later";
    sockets.silent_ns = 1;
    connect(0, 2);
    EXPECT_EQ(links.open, 3u) << "the other hosts have not acknowledged everything";
}

TEST_F(LinksTest, StatesInAnIdleCloseHowMuchBulkItHas) {
    connect(0);
    Bytes bulk = bulk_frame(form, {4, 0}, pattern(100, 1));
    for (int i = 0; i < 2; ++i) receive(bulk);
    EXPECT_EQ(sink.bulks, 2);
    in_poll([&] { keeper.close_idle(); });
    EXPECT_FALSE(links.at(peer).connection.is_open());
    std::vector<SeenFrame> frames = written();
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].kind, FrameKind::acknowledge);
    EXPECT_EQ(frames[0].sequence, 2 * bulk.size());
}

TEST_F(LinksTest, AnIdleCloseThatDoesNotCoverAllBulkIsABreak) {
    Bytes data = pattern(500, 1);
    for (bool covered : {true, false}) {
        connect(0);
        EXPECT_EQ(writer.send_bulk(links.at(peer), {4, 0}, {data.data(), data.size()}, 1), Sent::done);
        uint64_t bytes = sockets.sockets[socket].written.size();
        receive(acknowledge_frame(form, covered ? bytes : 0, 0, idle_close));
        EXPECT_FALSE(links.at(peer).connection.is_open()) << "at once, since the other side reads no more";
        EXPECT_EQ(links.counts.broken, covered ? 0u : 1u);
        EXPECT_EQ(connector.counts().dialed, covered ? 0u : 1u);
    }
    connect(0);
    sockets.sockets[socket].room = 100;
    EXPECT_EQ(writer.send_bulk(links.at(peer), {4, 0}, {data.data(), data.size()}, 2), Sent::pending);
    receive(acknowledge_frame(form, 100, 0, idle_close));
    EXPECT_EQ(links.counts.broken, 2u) << "a part of a frame is lost with the frame";
    EXPECT_EQ(sink.tokens, std::vector<uint64_t>{2});
}

TEST_F(LinksTest, AnIdleCloseThatIsHalfWrittenIsABreak) {
    connect(0);
    sockets.sockets[socket].room = 5;
    in_poll([&] { keeper.close_idle(); });
    EXPECT_FALSE(links.at(peer).connection.is_open());
    EXPECT_FALSE(links.at(peer).idle_closed);
    EXPECT_EQ(links.counts.broken, 1u);
    EXPECT_TRUE(links.at(peer).log.empty());
}

TEST_F(LinksTest, WatchesAnAttemptForRoomOnlyWhileAGreetingWaitsForIt) {
    constexpr int attempt = 20;
    sockets.connects = attempt;
    sockets.sockets[attempt].room = 0;
    connector.move(peer, Address());
    sockets.connected = 0;
    in_poll([&] { connector.poll(); });
    EXPECT_TRUE(sockets.sockets[attempt].for_room);
    sockets.sockets[attempt].room = SIZE_MAX;
    in_poll([&] { connector.poll(); });
    EXPECT_EQ(sockets.sockets[attempt].written.size(), sizeof(Greeting));
    EXPECT_TRUE(sockets.sockets[attempt].watched);
    EXPECT_FALSE(sockets.sockets[attempt].for_room) << "while the answer is awaited";
}

TEST_F(LinksTest, CountsNoMoveThatFails) {
    connect(0);
    in_poll([&] { connector.move(peer, Address()); });
    EXPECT_EQ(sockets.dialed, 1);
    EXPECT_EQ(connector.counts().moves, 0u);
}

TEST_F(LinksTest, AListenerRestsWhileThereIsNoSocketForWhoConnects) {
    constexpr int listener = 30;
    uint16_t port;
    sockets.listens = listener;
    ASSERT_FALSE(connector.listen({Address()}, 0, 0, port));
    EXPECT_TRUE(sockets.sockets[listener].watched);
    sockets.accepts = -EMFILE;
    in_poll([&] { EXPECT_EQ(connector.poll(), 0); });
    EXPECT_FALSE(sockets.sockets[listener].watched) << "it would keep the process from sleeping";
    EXPECT_GT(connector.deadline_ns(), sockets.time_ns);
    EXPECT_LT(connector.deadline_ns(), sockets.time_ns + second_ns);
    sockets.time_ns = connector.deadline_ns();
    sockets.accepts = -EAGAIN;
    in_poll([&] { connector.poll(); });
    EXPECT_TRUE(sockets.sockets[listener].watched);
    EXPECT_EQ(connector.deadline_ns(), UINT64_MAX);
}

TEST_F(LinksTest, AnswersAtOnceWhereMuchHasCome) {
    connect(0);
    Bytes much;
    uint64_t next = 0;
    while (much.size() < limits().answer_after) {
        Bytes frame = envelope_frame(form, next, pattern(50'000, next));
        append(much, frame.data(), frame.size());
        ++next;
    }
    receive(much);
    for (int i = 0; i < 100 && sink.sequences.size() < next; ++i)
        in_poll([&] { reader.read_in(links.at(peer), 100); });
    EXPECT_EQ(sink.sequences.size(), next);
    auto answers = written();
    ASSERT_FALSE(answers.empty());
    EXPECT_EQ(answers.back().acknowledged, next);
}

TEST_F(LinksTest, LeavesTheRestForTheNextPollWhereTheOwnerHasEnough) {
    connect(0);
    Bytes two = envelope_frame(form, 0, pattern(8, 0)), next = envelope_frame(form, 1, pattern(8, 1));
    append(two, next.data(), next.size());
    sink.has_enough = true;
    receive(two);
    EXPECT_EQ(sink.sequences, std::vector<uint64_t>{0});
    in_poll([&] { reader.take_rest(100); });
    EXPECT_EQ(sink.sequences, (std::vector<uint64_t>{0, 1}));
    EXPECT_EQ(links.buffer.owner(), nullptr);
}

TEST_F(LinksTest, HotLinksAreReadUnwatchedForAWhile) {
    HotLinks hot(sockets, 1000);
    connect(0);
    Link &link = links.at(peer);
    int reads = 0;
    auto read = [&](Link &, int) { return ++reads; };
    receive(envelope_frame(form, 0, pattern(0, 0)));
    for (int i = 0; i < 2; ++i) hot.note_arrival(link);
    hot.prepare_to_sleep(true);
    hot.note_arrival(link);
    EXPECT_TRUE(hot.empty()) << "arrivals before a sleep do not count";
    for (int i = 0; i < 2; ++i) hot.note_arrival(link);
    EXPECT_FALSE(hot.empty());
    EXPECT_TRUE(link.heat.hot);
    EXPECT_FALSE(sockets.sockets[socket].watched);
    hot.read(10, links.now_ns + 999, read);
    EXPECT_EQ(reads, 1);
    hot.read(10, links.now_ns + 1000, read);
    EXPECT_EQ(reads, 1);
    EXPECT_TRUE(hot.empty());
    EXPECT_TRUE(sockets.sockets[socket].watched);
    HotLinks none(sockets, 1000);
    none.disable();
    for (int i = 0; i < 10; ++i) none.note_arrival(link);
    EXPECT_TRUE(none.empty());
}

TEST(IncomingOrder, KnowsTheNextAndWhenToTell) {
    IncomingOrder incoming;
    FrameHeader header{FrameKind::envelope, 0, 0, 0, 0, 0};
    EXPECT_TRUE(incoming.is_next(header));
    EXPECT_EQ(incoming.answer_due_ns(), no_deadline);
    incoming.take(100, 50);
    incoming.take(100, 70);
    EXPECT_FALSE(incoming.is_next(header));
    EXPECT_EQ(incoming.expected(), 2u);
    EXPECT_EQ(incoming.answer_due_ns(), 50u) << "of the first that is untold";
    EXPECT_FALSE(incoming.wants_answer(201));
    EXPECT_TRUE(incoming.wants_answer(200));
    incoming.told();
    EXPECT_FALSE(incoming.wants_answer(1));
    EXPECT_EQ(incoming.answer_due_ns(), no_deadline);
    incoming.ask();
    EXPECT_TRUE(incoming.wants_answer(1000));
}

}  // namespace
}  // namespace lanyard
