// Tests properties of the shared-memory path beyond its contract (tests/conformance): cells, many peers, real
// processes.
#include "path/shm/shm_path.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>

#include <algorithm>
#include <vector>

#include "conformance/recorder.h"
#include "conformance/shm_connected.h"
#include "sim/seeds.h"

namespace lanyard {
namespace {

class CountingSink final : public Sink {
public:
    std::vector<uint64_t> next = std::vector<uint64_t>(256);
    uint64_t total = 0, bulk_bytes = 0;
    bool in_order = true;
    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *, size_t size) override {
        in_order &= envelope.context == next[peer]++ && envelope.length == size;
        ++total;
    }
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t size) override { bulk_bytes += size; }
    void sent(uint64_t) override {}
    std::string losses;
    void lost(uint32_t peer, Error reason) override {
        losses += std::to_string(peer) + ": " + reason.take().sentence + "\n";
    }
};

Envelope numbered(uint64_t number, size_t size) {
    Envelope envelope{};
    envelope.context = number;
    envelope.length = size;
    return envelope;
}

TEST(ShmPath, GivesBackCellsOneByOne) {
    conformance::ShmConnected node(3, false);
    uint32_t cells = node.segment().header().cells;
    std::vector<std::byte> payload(cell_bytes);
    CountingSink first, second;
    uint64_t sent = 0;
    while (node.paths[0]->send(1, numbered(sent, cell_bytes), {payload.data(), cell_bytes, nullptr}) ==
           Sent::done)
        ++sent;
    EXPECT_EQ(sent, cells);
    // The cells belong to the sender, so none is left for another peer either. A message that needs no cell
    // still passes.
    EXPECT_EQ(node.paths[0]->send(2, numbered(0, cell_bytes), {payload.data(), cell_bytes, nullptr}),
              Sent::full);
    EXPECT_EQ(node.paths[0]->send_bulk(2, {1, 0}, {payload.data(), 10, nullptr}, 1), Sent::full);
    EXPECT_EQ(node.paths[0]->send(2, numbered(0, most_inlined), {payload.data(), most_inlined, nullptr}),
              Sent::done);
    for (uint64_t back = 0; back < cells; ++back) {
        EXPECT_EQ(node.paths[1]->poll(first, 1, 0) >= 1, true);
        EXPECT_EQ(
            node.paths[0]->send(2, numbered(1 + back, cell_bytes), {payload.data(), cell_bytes, nullptr}),
            Sent::done);
        EXPECT_EQ(node.paths[0]->send_bulk(2, {1, 0}, {payload.data(), 10, nullptr}, 1), Sent::full);
    }
    while (node.paths[2]->poll(second, 64, 0)) {}
    EXPECT_EQ(second.total, 1 + cells);
    EXPECT_TRUE(first.in_order && second.in_order);
}

TEST(ShmPath, TakesAllTheCellsOfAMessageOrNone) {
    conformance::ShmConnected node(3, false);
    uint32_t cells = node.segment().header().cells;
    auto &shm = static_cast<ShmPath &>(*node.paths[0]);
    size_t most = shm.info.max_eager;
    auto each = static_cast<uint32_t>(most / cell_bytes);
    ASSERT_GT(each, 1u);
    std::vector<std::byte> payload(most);
    CountingSink first, second;
    for (uint32_t taken = 1; taken < each; ++taken)
        EXPECT_EQ(
            node.paths[0]->send(1, numbered(taken - 1, cell_bytes), {payload.data(), cell_bytes, nullptr}),
            Sent::done);
    uint64_t sent = 0;
    while (node.paths[0]->send(2, numbered(sent, most), {payload.data(), most, nullptr}) == Sent::done)
        ++sent;
    EXPECT_EQ(sent, (cells - each + 1) / each);
    // The cells that did not suffice for a whole message are still free.
    EXPECT_EQ(shm.cells().in_use(), each - 1 + sent * each);
    EXPECT_EQ(node.paths[0]->send(1, numbered(each - 1, cell_bytes), {payload.data(), cell_bytes, nullptr}),
              Sent::done);
    EXPECT_EQ(node.paths[1]->poll(first, 64, 0) > 0, true);
    EXPECT_EQ(node.paths[0]->send(2, numbered(sent, most), {payload.data(), most, nullptr}), Sent::done);
    while (node.paths[2]->poll(second, 64, 0)) {}
    EXPECT_EQ(second.total, sent + 1);
    EXPECT_EQ(shm.cells().in_use(), 0u);
    EXPECT_TRUE(first.in_order && second.in_order);
}

// Gives a place to every second long message, except for the first bytes, which it reads itself.
class PlacingSink final : public Sink {
public:
    static constexpr size_t head = 24;
    std::vector<std::byte> memory;
    uint64_t total = 0, placed = 0;
    bool as_sent = true;
    std::byte *begin(uint32_t, const Envelope &envelope, const std::byte *payload, size_t received,
                     size_t size, size_t &from) override {
        as_sent &= size == envelope.length && received < size && matches(envelope, payload, 0, received);
        if (envelope.context % 4) return nullptr;
        memory.assign(size, std::byte{0xee});
        from = head;
        return memory.data();
    }
    void envelope(uint32_t, const Envelope &envelope, const std::byte *payload, size_t size) override {
        as_sent &= envelope.context == total++ && size == envelope.length;
        bool here = payload == memory.data();
        as_sent &= matches(envelope, payload, here ? head : 0, size);
        for (size_t i = 0; here && i < head; ++i) as_sent &= memory[i] == std::byte{0xee};
        placed += here;
        memory.clear();
    }
    void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override {}
    void sent(uint64_t) override {}
    void lost(uint32_t, Error reason) override { reason.discard(); }

private:
    static bool matches(const Envelope &envelope, const std::byte *payload, size_t first, size_t end) {
        while (first < end && payload[first] == conformance::pattern(envelope.context, first)) ++first;
        return first == end;
    }
};

TEST(ShmPath, ReceivesWhatTakesSeveralCellsInPlace) {
    conformance::ShmConnected node(2, false);
    size_t most = node.paths[0]->info.max_eager;
    std::vector<std::byte> payload(most);
    PlacingSink sink;
    for (uint64_t number = 0; number < 400; ++number) {
        size_t size = number % 5 == 4 ? number : most - number * 97 % (most - cell_bytes);
        for (size_t i = 0; i < size; ++i) payload[i] = conformance::pattern(number, i);
        ASSERT_EQ(node.paths[0]->send(1, numbered(number, size), {payload.data(), size, nullptr}),
                  Sent::done);
        ASSERT_EQ(node.paths[0]->send(1, numbered(++number, 0), {}), Sent::done);
        // Nothing of the message is delivered before all of it has arrived.
        for (size_t part = 0; part * cell_bytes < size || part == 0; ++part) {
            ASSERT_EQ(sink.total, number - 1);
            node.paths[1]->poll(sink, 1, 0);
        }
        ASSERT_EQ(sink.total, number);
        node.paths[1]->poll(sink, 1, 0);
    }
    EXPECT_TRUE(sink.as_sent);
    EXPECT_EQ(sink.total, 400u);
    EXPECT_GT(sink.placed, 50u);
}

// Messages that a waiting receive takes and messages that poll() delivers are one sequence, over many laps of
// the ring.
TEST(ShmPath, ShowsTheNextMessageToWhoWaitsForIt) {
    conformance::ShmConnected node(2, false);
    std::vector<std::byte> payload(cell_bytes), taken(most_inlined);
    CountingSink sink;
    uint64_t shown = 0;
    ShortFrame frame;
    EXPECT_FALSE(node.paths[1]->short_lane().peek(0, frame));
    for (uint64_t number = 0; number < 5000; ++number) {
        size_t size = number % 11 == 0 ? most_inlined + 1 : number * 37 % (most_inlined + 1);
        for (size_t i = 0; i < size; ++i) payload[i] = conformance::pattern(number, i);
        ASSERT_EQ(node.paths[0]->send(1, numbered(number, size), {payload.data(), size, nullptr}),
                  Sent::done);
        bool opened = number > 0 || (node.paths[1]->poll(sink, 0, 0), true);  // the first poll finds the ring
        ASSERT_TRUE(opened && node.paths[1]->short_lane().peek(0, frame)) << number;
        ASSERT_EQ(frame.envelope == nullptr, size > most_inlined) << number;
        if (number % 3 == 0 || !frame.envelope) {
            ASSERT_EQ(node.paths[1]->poll(sink, 1, 0), 1);
            continue;
        }
        Envelope envelope;
        std::memcpy(&envelope, frame.envelope, sizeof envelope);
        ASSERT_EQ(envelope.context, number);
        ASSERT_EQ(frame.size, size);
        node.paths[1]->short_lane().take(0, taken.data());
        for (size_t i = 0; i < size; ++i)
            ASSERT_EQ(taken[i], conformance::pattern(number, i)) << number << ", byte " << i;
        ++sink.next[0];
        ++shown;
    }
    EXPECT_TRUE(sink.in_order);
    EXPECT_EQ(sink.total + shown, 5000u);
    EXPECT_GT(shown, 2000u);
    EXPECT_FALSE(node.paths[1]->short_lane().peek(0, frame));
}

TEST(ShmPath, ServesManyPeers) {
    constexpr uint32_t peers = 64;
    conformance::ShmConnected node(peers, false);
    std::vector<CountingSink> sinks(peers);
    std::vector<std::byte> payload(3000);
    for (uint64_t round = 0; round < 3; ++round) {
        for (uint32_t from = 0; from < peers; ++from)
            for (uint32_t to = 0; to < peers; ++to) {
                size_t size = (from * 7 + to * 13) % payload.size();
                while (node.paths[from]->send(to, numbered(round, size), {payload.data(), size, nullptr}) !=
                       Sent::done)
                    for (uint32_t own = 0; own < peers; ++own) node.paths[own]->poll(sinks[own], 64, 0);
            }
    }
    for (int turn = 0; turn < 100; ++turn)
        for (uint32_t own = 0; own < peers; ++own) node.paths[own]->poll(sinks[own], 64, 0);
    for (const CountingSink &sink : sinks) {
        EXPECT_EQ(sink.total, 3 * peers);
        EXPECT_TRUE(sink.in_order);
    }
}

TEST(ShmPath, OpensNoRingBeforeFirstContact) {
    conformance::ShmConnected node(8, false);
    uint64_t before = node.segment().header().appended.load();
    EXPECT_EQ(node.paths[0]->send(5, numbered(0, 0), {}), Sent::done);
    EXPECT_EQ(node.segment().header().appended.load(), before + Segment::ring_room());
}

TEST(ShmPath, LosesThosePeersForWhoseRingThereIsNoRoom) {
    conformance::ShmConnected node(4, false);
    std::vector<CountingSink> sinks(4);
    EXPECT_EQ(node.paths[0]->send(1, numbered(0, 0), {}), Sent::done);
    EXPECT_EQ(node.paths[2]->send(1, numbered(0, 0), {}), Sent::done);
    node.segment().header().limit = node.segment().header().appended;
    EXPECT_EQ(node.paths[1]->send(2, numbered(0, 0), {}), Sent::full);
    EXPECT_EQ(node.paths[1]->send_bulk(2, {1, 0}, {}, 1), Sent::full);
    node.segment().header().limit += Segment::ring_room();  // too late: both sides already know
    for (int turn = 0; turn < 3; ++turn)
        for (uint32_t own = 0; own < 4; ++own) node.paths[own]->poll(sinks[own], 64, 0);
    EXPECT_TRUE(sinks[1].losses.starts_with("2: the shared memory of this node") &&
                sinks[1].losses.ends_with("more room\n"))
        << sinks[1].losses;
    EXPECT_TRUE(sinks[2].losses.starts_with("1: ")) << sinks[2].losses;
    EXPECT_EQ(std::ranges::count(sinks[1].losses + sinks[2].losses, '\n'), 2);
    EXPECT_EQ(sinks[0].losses + sinks[3].losses, "");
    EXPECT_EQ(sinks[1].total, 2u);  // what arrived before
    // Nothing passes between these two any more. Other peers are not affected.
    EXPECT_EQ(node.paths[1]->send(2, numbered(0, 0), {}), Sent::done);
    EXPECT_EQ(node.paths[1]->send_bulk(2, {1, 0}, {}, 1), Sent::done);
    EXPECT_EQ(node.paths[0]->send(1, numbered(1, 0), {}), Sent::done);
    // There is room now for the ring from process 3 to process 1.
    EXPECT_EQ(node.paths[3]->send(1, numbered(0, 0), {}), Sent::done);
    for (uint32_t own = 0; own < 4; ++own) node.paths[own]->poll(sinks[own], 64, 0);
    EXPECT_EQ(sinks[1].total, 4u);
    EXPECT_EQ(sinks[2].total, 0u);
    EXPECT_TRUE(sinks[1].in_order);
}

// A process has filled its ring to a peer, and the peer finds no room for a ring to it. The peer still reads
// the ring. Everything that is sent after the report of the loss is discarded.
TEST(ShmPath, TakesEverythingForALostPeerToWhichItHasARing) {
    conformance::ShmConnected node(2, false);
    CountingSink sinks[2];
    std::vector<std::byte> payload(cell_bytes);
    uint64_t sent = 0;
    while (node.paths[0]->send(1, numbered(sent, cell_bytes), {payload.data(), cell_bytes, nullptr}) ==
           Sent::done)
        ++sent;
    while (node.paths[0]->send(1, numbered(sent, 0), {}) == Sent::done) ++sent;
    node.segment().header().limit = node.segment().header().appended;
    EXPECT_EQ(node.paths[1]->send(0, numbered(0, 0), {}), Sent::full);
    EXPECT_EQ(node.paths[0]->send(1, numbered(sent, 0), {}), Sent::full) << "not before the report";
    node.paths[0]->poll(sinks[0], 64, 0);
    EXPECT_TRUE(sinks[0].losses.starts_with("1: ")) << sinks[0].losses;
    EXPECT_FALSE(node.paths[0]->short_lane().ring_to(1)->surely_has_room());
    for (size_t size : {size_t{0}, most_inlined, cell_bytes})
        EXPECT_EQ(node.paths[0]->send(1, numbered(0, size), {payload.data(), size, nullptr}), Sent::done);
    EXPECT_EQ(node.paths[0]->send_bulk(1, {1, 0}, {payload.data(), 10, nullptr}, 1), Sent::done);
    while (node.paths[1]->poll(sinks[1], 64, 0)) {}
    EXPECT_TRUE(sinks[1].losses.starts_with("0: ")) << sinks[1].losses;
    EXPECT_EQ(sinks[1].total, sent);
    EXPECT_TRUE(sinks[1].in_order);
    EXPECT_EQ(static_cast<ShmPath &>(*node.paths[0]).cells().in_use(), 0u);
    EXPECT_EQ(node.paths[0]->poll(sinks[0], 64, 0), 0) << "once";
}

// A process has filled a peer's ring and all its own cells, and the peer cannot map the ring. The cells are
// then free for other peers. (An offset at which no page begins cannot be mapped, as if addresses were used
// up.)
TEST(ShmPath, TakesBackTheCellsOfARingThatItsPeerCannotMap) {
    conformance::ShmConnected node(3, false);
    CountingSink sinks[3];
    std::vector<std::byte> payload(cell_bytes);
    uint64_t sent = 0;
    while (node.paths[0]->send(1, numbered(sent, cell_bytes), {payload.data(), cell_bytes, nullptr}) ==
           Sent::done)
        ++sent;
    EXPECT_EQ(node.paths[0]->send(2, numbered(0, cell_bytes), {payload.data(), cell_bytes, nullptr}),
              Sent::full);
    node.segment().member(1).ring_from[0] += 512;
    node.paths[1]->poll(sinks[1], 64, 0);
    EXPECT_TRUE(sinks[1].losses.starts_with("0: this process cannot map a ring")) << sinks[1].losses;
    node.paths[0]->poll(sinks[0], 64, 0);
    EXPECT_TRUE(sinks[0].losses.starts_with("1: the other process cannot map a ring")) << sinks[0].losses;
    EXPECT_EQ(static_cast<ShmPath &>(*node.paths[0]).cells().in_use(), 0u);
    EXPECT_EQ(node.paths[0]->send(1, numbered(0, cell_bytes), {payload.data(), cell_bytes, nullptr}),
              Sent::done);
    EXPECT_EQ(node.paths[0]->send(2, numbered(0, cell_bytes), {payload.data(), cell_bytes, nullptr}),
              Sent::done);
    node.paths[2]->poll(sinks[2], 64, 0);
    EXPECT_EQ(sinks[1].total, 0u);
    EXPECT_EQ(sinks[2].total, 1u);
}

TEST(ShmPath, CountsTheRingsThatItReads) {
    conformance::ShmConnected node(3, false);
    CountingSink sink;
    auto &shm = static_cast<ShmPath &>(*node.paths[2]);
    EXPECT_EQ(node.paths[0]->send(2, numbered(0, 0), {}), Sent::done);
    node.segment().header().limit = node.segment().header().appended;
    EXPECT_EQ(node.paths[1]->send(2, numbered(0, 0), {}), Sent::full);
    shm.poll(sink, 64, 0);
    EXPECT_TRUE(sink.losses.starts_with("1: ")) << sink.losses;
    EXPECT_EQ(shm.inlets().count(), 1u) << "a parting makes no ring";
}

// The child process of the next test. It answers every message, and sleeps and is woken across the border
// between two real processes.
void answer(Path &path, ShmPath &shm, uint64_t frames) {
    CountingSink sink;
    uint64_t answered = 0;
    while (answered < frames) {
        shm.sleep_word().fall_asleep_soon(SleepWord::on_futex);
        if (path.poll(sink, 8, 0) == 0) shm.sleep_word().sleep(no_limit, true);
        shm.sleep_word().wake_up();
        for (; answered < sink.total && path.send(0, numbered(answered, 0), {}) == Sent::done; ++answered) {}
    }
    _exit(sink.in_order ? 0 : 3);
}

TEST(ShmPath, ConnectsRealProcesses) {
    const auto frames = static_cast<uint64_t>(2000 * std::min(sim::test_seconds(), 50.0));
    conformance::ShmConnected node(2, false);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) answer(*node.paths[1], static_cast<ShmPath &>(*node.paths[1]), frames);
    auto &shm = static_cast<ShmPath &>(*node.paths[0]);
    CountingSink sink;
    std::vector<std::byte> payload(cell_bytes);
    uint64_t sent = 0;
    while (sink.total < frames) {
        size_t size = sent % 50 == 0 ? cell_bytes : sent % 600;
        if (sent < frames && sent < sink.total + 100 &&
            shm.send(1, numbered(sent, size), {payload.data(), size, nullptr}) == Sent::done) {
            ++sent;
            continue;
        }
        shm.sleep_word().fall_asleep_soon(SleepWord::on_futex);
        if (shm.poll(sink, 8, 0) == 0) shm.sleep_word().sleep(no_limit, true);
        shm.sleep_word().wake_up();
    }
    EXPECT_TRUE(sink.in_order);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace lanyard
