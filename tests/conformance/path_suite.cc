// Contains the tests of the conformance suite, and the functions of the fixture that they share. See
// path_suite.h.
#include "conformance/path_suite.h"

#include <algorithm>
#include <cstdlib>

#include "sim/seeds.h"

namespace lanyard::conformance {

namespace {
constexpr uint64_t first_bulk = 1'000'000;

// LANYARD_TEST_FEW reduces the repetitions to an eighth, for runs in which each repetition takes
// much longer, such as under memcheck.
bool few() { return std::getenv("LANYARD_TEST_FEW"); }
int some(int many) { return few() ? many / 8 : many; }

}  // namespace

PathSuite::PathSuite()
    : seed_(sim::first_seed()),
      random_(seed_),
      trace_(__FILE__, __LINE__, "repeat with LANYARD_TEST_SEED=" + std::to_string(seed_)) {}

void PathSuite::connect(uint32_t wanted) {
    recorders_.clear();
    envelopes_sent_.clear();
    bulk_sent_.clear();
    bulk_sizes_.clear();
    connected_ = GetParam().connect(wanted, random_.next());
    ASSERT_NE(connected_, nullptr);
    for (uint32_t peer = 0; peer < connected_->paths.size(); ++peer) {
        recorders_.push_back(std::make_unique<Recorder>(peer));
        recorder(peer).repeats_bulk = connected_->repeats_bulk;
        recorder(peer).bulk_size = [this, peer](uint32_t from, uint64_t id) {
            return bulk_sizes_[{from, peer}].at(id - first_bulk);
        };
    }
}

uint32_t PathSuite::other(uint32_t peer) {
    if (peers() == 1) return peer;
    uint32_t choice = static_cast<uint32_t>(random_.below(peers() - 1));
    return choice < peer ? choice : choice + 1;
}

Sent PathSuite::send(uint32_t from, uint32_t to, size_t size, bool scattered) {
    uint64_t number = envelopes_sent_[{from, to}];
    Content content(key_of(from, to, number), size, scattered);
    Envelope envelope{.context = number,
                      .source = static_cast<int32_t>(from),
                      .tag = static_cast<int32_t>(to),
                      .length = size,
                      .kind = EnvelopeKind::eager,
                      .flags = 0,
                      .credit = 0,
                      .check = static_cast<uint32_t>(number * 77)};
    Sent result = path(from).send(to, envelope, content.payload());
    EXPECT_NE(result, Sent::pending) << "envelopes are never pending";
    if (result == Sent::full) {
        EXPECT_EQ(content.position(), 0) << "nothing may be taken when the answer is full";
    }
    if (result == Sent::done) {
        ++envelopes_sent_[{from, to}];
        EXPECT_EQ(content.position(), content.scattered() ? static_cast<int64_t>(size) : 0)
            << "the cursor is moved past what was sent";
    }
    content.scribble();
    return result;
}

Sent PathSuite::send_bulk(uint32_t from, uint32_t to, size_t size, bool scattered) {
    uint64_t number = first_bulk + bulk_sent_[{from, to}];
    bulk_sizes_[{from, to}].resize(number - first_bulk);
    bulk_sizes_[{from, to}].push_back(size);  // stored before the bulk can arrive
    uint64_t token = next_token_++;
    // The content is moved to its final place before it is sent, because the payload points into it while it
    // is pending.
    auto [place, made] =
        recorder(from).pending.emplace(token, Content(key_of(from, to, number), size, scattered));
    Content &content = place->second;
    Sent result = path(from).send_bulk(to, {number, number * 5 + size}, content.payload(), token);
    if (result != Sent::full) ++bulk_sent_[{from, to}];
    if (result == Sent::full) {
        EXPECT_EQ(content.position(), 0) << "nothing may be taken when the answer is full";
    }
    if (result != Sent::pending) {
        content.scribble();
        recorder(from).pending.erase(place);
    }
    return result;
}

void PathSuite::deliver(uint32_t from, uint32_t to, size_t size, bool scattered) {
    Patience patience;
    for (int turn = 0; send(from, to, size, scattered) != Sent::done; ++turn) {
        ASSERT_FALSE(patience.ends(turn)) << "no room comes though everyone polls";
        poll_all();
    }
}

void PathSuite::deliver_bulk(uint32_t from, uint32_t to, size_t size, bool scattered) {
    Patience patience;
    for (int turn = 0; send_bulk(from, to, size, scattered) == Sent::full; ++turn) {
        ASSERT_FALSE(patience.ends(turn)) << "no room comes though everyone polls";
        poll_all();
    }
}

int PathSuite::poll(uint32_t peer, int budget) {
    Recorder &sink = recorder(peer);
    int before = sink.calls;
    sink.polling = true;
    int work = path(peer).poll(sink, budget, connected_->now_ns());
    sink.polling = false;
    EXPECT_LE(sink.calls - before, budget * path(peer).info.most_at_once)
        << "poll delivered more than its budget";
    EXPECT_GE(work, sink.calls - before) << "poll must count what it delivered";
    return work;
}

void PathSuite::poll_all() {
    for (uint32_t peer = 0; peer < peers(); ++peer) poll(peer);
}

bool PathSuite::all_arrived() {
    for (auto &[pair, count] : envelopes_sent_)
        if (recorder(pair.second).next_envelope[pair.first] != count) return false;
    uint64_t bulk_sent = 0, bulk_seen = 0;
    for (auto &[pair, count] : bulk_sent_) bulk_sent += count;
    for (auto &each : recorders_) {
        if (!each->pending.empty()) return false;
        bulk_seen += each->bulk_seen.size();
    }
    return bulk_sent == bulk_seen;
}

void PathSuite::poll_until_all_arrived() {
    Patience patience;
    for (int turn = 0; !patience.ends(turn); ++turn) {
        if (all_arrived()) return;
        poll_all();
        if (HasFailure()) return;
    }
    FAIL() << "frames are lost, or pending for ever";
}

TEST_P(PathSuite, DescribesItself) {
    connect(2);
    for (uint32_t peer = 0; peer < peers(); ++peer) {
        EXPECT_NE(std::string(path(peer).info.name), "");
        EXPECT_EQ(path(peer).describe().rfind(std::string(path(peer).info.name) + ":", 0), 0u)
            << "a report begins with the name";
        EXPECT_GE(path(peer).info.max_eager, inline_payload)
            << "control envelopes carry up to inline_payload bytes";
        EXPECT_GE(path(peer).info.max_bulk, 1u);
        EXPECT_LE(path(peer).info.max_bulk, max_bulk_frame);
        EXPECT_TRUE(path(peer).reaches(other(peer)));
        EXPECT_FALSE(path(peer).reaches(100'000));
    }
}

TEST_P(PathSuite, CarriesEveryPayloadSize) {
    connect(2);
    size_t most = path(0).info.max_eager;
    std::vector<size_t> sizes;
    for (size_t size = 0; size <= 800 && size <= most; size += few() ? 7 : 1) sizes.push_back(size);
    for (size_t power = 1024; power <= most; power *= 2)
        for (size_t size : {power - 1, power, power + 1})
            if (size <= most) sizes.push_back(size);
    for (size_t size : {most - 2, most - 1, most, most / 3 * 3}) sizes.push_back(size);
    for (size_t size : sizes) {
        deliver(0, other(0), size, false);
        deliver(0, other(0), size, true);
        if (size && size <= path(0).info.max_bulk) deliver_bulk(0, other(0), size, size % 2 == 0);
        if (HasFatalFailure()) return;
    }
    size_t bulk = path(0).info.max_bulk;
    for (size_t size : {bulk, bulk - 1, bulk / 3 * 3}) deliver_bulk(0, other(0), size, true);
    poll_until_all_arrived();
}

TEST_P(PathSuite, KeepsTheOrderOfEnvelopes) {
    connect(3);
    for (int i = 0; i < some(6000); ++i) {
        auto from = static_cast<uint32_t>(random_.below(peers()));
        size_t size = random_.chance(80) ? random_.below(60) : random_.below(path(from).info.max_eager + 1);
        deliver(from, other(from), size, random_.chance(50));
        if (random_.chance(5)) poll(other(from), static_cast<int>(random_.between(1, 9)));
        if (HasFatalFailure()) return;
    }
    poll_until_all_arrived();
}

TEST_P(PathSuite, RecoversFromFull) {
    for (size_t size : {size_t{0}, size_t{24}, size_t{25}, size_t{500}, SIZE_MAX}) {
        connect(2);
        size = std::min(size, path(0).info.max_eager);
        uint32_t to = other(0);
        // Some paths are never full. For such a path, the test checks only that many frames can be under way.
        size_t most = 32'000'000 / (size + 1600);
        for (size_t sent = 0; sent < most && send(0, to, size, false) == Sent::done; ++sent) {}
        // If the path is full, it must take no further frame.
        for (int again = 0; again < 3; ++again) send(0, to, size, true);
        poll_until_all_arrived();
        deliver(0, to, size, false);
        poll_until_all_arrived();
        if (HasFailure()) return;
    }
}

TEST_P(PathSuite, RecoversFromFullOfBulk) {
    connect(2);
    uint32_t to = other(0);
    for (int round = 0; round < 3; ++round) {
        for (int sent = 0; sent < 400 && send_bulk(0, to, path(0).info.max_bulk, false) != Sent::full;
             ++sent) {
        }
        poll_until_all_arrived();
        deliver_bulk(0, to, 1, false);
        poll_until_all_arrived();
        if (HasFailure()) return;
    }
}

TEST_P(PathSuite, SendsFromInsideHandlers) {
    connect(2);
    uint32_t to = other(0);
    constexpr int replies = 300;
    int answered = 0, owed = 0;
    for (uint32_t peer : {0u, to})
        recorder(peer).when_envelope = [&, peer](uint32_t from, const Envelope &) {
            if (++answered <= replies &&
                send(peer, from, 100 + static_cast<size_t>(answered), answered % 2) != Sent::done)
                ++owed;
        };
    deliver(0, to, 33, true);
    Patience patience;
    for (int turn = 0; !patience.ends(turn) && answered <= replies && !HasFailure(); ++turn) {
        poll_all();
        for (; owed > 0 && send(to, 0, 77, false) == Sent::done; --owed) {}
    }
    EXPECT_GT(answered, replies);
    poll_until_all_arrived();
}

TEST_P(PathSuite, RespectsTheBudget) {
    connect(4);
    for (int round = 0; round < 20; ++round) {
        uint32_t to = peers() - 1;
        for (uint32_t from = 0; from < peers(); ++from)
            for (int i = 0; i < 12 && (from != to || peers() == 1); ++i)
                deliver(from, to, random_.below(40), false);
        // The fixture's poll() checks that the path keeps to its budget. This loop polls with a small budget.
        // No frame must be lost, and no peer must be forgotten.
        for (int turn = 0; turn < some(3000); ++turn) poll(to, static_cast<int>(random_.between(1, 3)));
        poll_until_all_arrived();
        if (HasFailure()) return;
    }
}

TEST_P(PathSuite, ForgetsNobodyUnderASmallBudget) {
    connect(4);
    if (peers() < 3) GTEST_SKIP() << "needs three peers";
    // Peer 1 keeps peer 0 busy all the time. The message of peer 2 must arrive nevertheless.
    deliver(2, 0, 8, false);
    for (int turn = 0; turn < 5000 && recorder(0).next_envelope[2] == 0 && !HasFatalFailure(); ++turn) {
        for (int i = 0; i < 3; ++i) send(1, 0, 8, false);
        poll(0, 2);
        poll(1);
        poll(2);
    }
    EXPECT_EQ(recorder(0).next_envelope[2], 1u) << "peer 2 is never looked at while peer 1 has something";
    poll_until_all_arrived();
}

TEST_P(PathSuite, TouchesMemoryWhereItSaysSo) {
    connect(2);
    uint32_t to = other(0);
    if (!path(to).memory().touches(0)) GTEST_SKIP() << "this path does not touch a peer's memory";
    std::vector<std::byte> remote(100'000), local(100'000);
    for (size_t i = 0; i < remote.size(); ++i) remote[i] = pattern(5, i);
    iovec runs[] = {{local.data() + 10, 7}, {local.data() + 100, 50'000}, {local.data() + 60'000, 1}};
    Error error = path(to).memory().get(0, runs, 3, reinterpret_cast<uintptr_t>(remote.data() + 3), 50'008);
    ASSERT_FALSE(error) << error.take().sentence;
    for (size_t i = 0; i < 7; ++i) ASSERT_EQ(local[10 + i], pattern(5, 3 + i));
    for (size_t i = 0; i < 50'000; ++i) ASSERT_EQ(local[100 + i], pattern(5, 10 + i));
    EXPECT_EQ(local[60'000], pattern(5, 50'010));
    EXPECT_EQ(local[60'001], std::byte{0});
    error = path(to).memory().put(0, runs, 3, reinterpret_cast<uintptr_t>(remote.data()), 50'008);
    if (error) {
        EXPECT_NE(error.take().sentence, "") << "what is refused says why";
        return;
    }
    for (size_t i = 0; i < 7; ++i) ASSERT_EQ(remote[i], pattern(5, 3 + i));
    for (size_t i = 0; i < 50'000; ++i) ASSERT_EQ(remote[7 + i], pattern(5, 10 + i));
}

TEST_P(PathSuite, ReportsALostPeerOnce) {
    connect(3);
    if (peers() < 3) GTEST_SKIP() << "needs peers";
    deliver(1, 2, 10, false);
    deliver(0, 1, 10, false);
    deliver(0, 2, 10, false);
    poll_until_all_arrived();
    if (!connected_->kill(1)) GTEST_SKIP() << "this path cannot notice that a peer has died";
    auto poll_both = [&] {
        poll(0);
        poll(2);
    };
    // A path that uses connections tries to connect again for a while before it gives up a peer.
    Patience patience;
    for (int turn = 0;
         !patience.ends(turn) && (recorder(0).lost_peers.empty() || recorder(2).lost_peers.empty()); ++turn)
        poll_both();
    for (int turn = 0; turn < 10'000; ++turn) poll_both();
    EXPECT_EQ(recorder(0).lost_peers, std::set<uint32_t>{1});
    EXPECT_EQ(recorder(2).lost_peers, std::set<uint32_t>{1});
    Envelope envelope{};
    for (int i = 0; i < 5000; ++i)
        ASSERT_EQ(path(0).send(1, envelope, {}), Sent::done) << "sends to a lost peer vanish";
    std::byte byte{1};
    for (int i = 0; i < 5000; ++i)
        ASSERT_EQ(path(0).send_bulk(1, {1, 1}, {&byte, 1, nullptr}, 1), Sent::done);
    deliver(0, 2, 10, false);
    for (int turn = 0; turn < 10'000; ++turn) poll(2);
    EXPECT_EQ(recorder(2).next_envelope[0], 2u) << "the others go on";
}

TEST_P(PathSuite, LosesNothingInRandomInterleavings) {
    for (uint64_t seed : sim::seeds(5)) {
        SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed));
        random_ = sim::Random(seed);
        connect(static_cast<uint32_t>(random_.between(2, 6)));
        int big = static_cast<int>(random_.below(40)), bulk = static_cast<int>(random_.below(60)),
            polls = static_cast<int>(random_.between(2, 60));
        for (int i = 0; i < some(3000) && !HasFailure(); ++i) {
            auto from = static_cast<uint32_t>(random_.below(peers()));
            uint32_t to = other(from);
            bool scattered = random_.chance(30);
            if (random_.chance(bulk))
                send_bulk(from, to, 1 + random_.below(path(from).info.max_bulk), scattered);
            else {
                size_t most = random_.chance(big) ? path(from).info.max_eager
                                                  : std::min<size_t>(path(from).info.max_eager, 89);
                send(from, to, random_.below(most + 1), scattered);
            }
            if (random_.chance(polls))
                poll(static_cast<uint32_t>(random_.below(peers())), static_cast<int>(random_.between(1, 20)));
        }
        poll_until_all_arrived();
        if (HasFailure()) return;
    }
}

}  // namespace lanyard::conformance
