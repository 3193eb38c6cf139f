// Cables are cut, in virtual time. Nothing reports the cut, and bytes that are written are no longer
// acknowledged. A cut that ends before the peer timeout is only a pause. If one address of a peer stays
// dead, the link changes to another address. A peer that cannot be reached at all must be reported as failed
// after the timeout and not before, and every message to it must then have arrived or be reported as
// possibly lost.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <list>

#include "datatype/predefined.h"
#include "sim/job.h"
#include "sim/p2p_program.h"
#include "sim/seeds.h"
#include "sim/transfer.h"

namespace lanyard::sim {
namespace {

constexpr uint64_t s = 1'000'000'000;

// Returns how many silences of a host on one connection led to attempts to make another one, summed over all
// processes.
uint64_t silences(Job &job) {
    uint64_t sum = 0;
    for (uint32_t own = 0; own < job.shape.ranks; ++own) sum += job.links->path(own).counts().silences;
    return sum;
}

JobShape random_shape(Random &random) {
    JobShape shape{.ranks = static_cast<uint32_t>(random.between(2, 4)), .settings = {}};
    if (random.chance(50)) shape.settings.eager_limit = random.between(0, 20'000);
    if (random.chance(50)) shape.settings.first_bytes = random.between(0, 30'000);
    shape.over_sockets = SocketBehaviour::any(random);
    shape.over_sockets->patience_ns = shape.limits.peer_timeout_ns;
    if (random.chance(30)) shape.limits.most_open = static_cast<uint32_t>(random.between(1, 3));
    return shape;
}

void play(Baton &baton, Job &job, const Program &program) {
    job.each([&program, &baton](Rank &rank) {
        Player(program, rank, baton.seed()).play();
        rank.finish();
    });
    baton.run();
    for (uint32_t own = 0; own < job.shape.ranks; ++own) {
        EXPECT_EQ(job.rank(own).messenger.unexpected().count(), 0u);
        EXPECT_FALSE(job.rank(own).messenger.untold_loss());
    }
}

TEST(Silence, IsAPauseWhereItIsShorterThanTheTimeOut) {
    uint64_t dialed_beside = 0;
    for_seeds(20, 15, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Baton baton(seed);
        Random &random = baton.random();
        JobShape shape = random_shape(random);
        Program program(random, shape.ranks, static_cast<int>(random.between(10, 200)));
        Job job(baton, {}, shape);
        uint64_t left_ns = 40 * s;
        for (auto cuts = random.between(1, 4); cuts > 0; --cuts) {
            uint64_t from_ns = random.below(uint64_t{1} << random.between(10, 24)),
                     for_ns = 1 + random.below(left_ns);
            left_ns -= for_ns;
            job.links->internet.cut(static_cast<uint32_t>(random.below(shape.ranks)), from_ns,
                                    from_ns + for_ns);
        }
        play(baton, job, program);
        dialed_beside += silences(job);
        return !::testing::Test::HasFailure();
    });
    EXPECT_TRUE(dialed_beside > 5 || ::testing::Test::HasFailure());
}

TEST(Silence, OfOneAddressOfSeveralEndsBeforeTheTimeOut) {
    uint64_t dialed_beside = 0;
    for_seeds(20, 10, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Baton baton(seed);
        Random &random = baton.random();
        JobShape shape = random_shape(random);
        shape.over_sockets->addresses = static_cast<uint32_t>(random.between(2, 4));
        shape.over_sockets->refuse_percent = shape.over_sockets->vanish_percent =
            shape.over_sockets->reset_permille = 0;
        Program program(random, shape.ranks, static_cast<int>(random.between(10, 200)));
        Job job(baton, {}, shape);
        auto dead = static_cast<uint32_t>(random.below(shape.over_sockets->addresses));
        for (uint32_t own = 0; own < shape.ranks; ++own)
            job.links->internet.cut(own, random.below(uint64_t{1} << random.between(10, 22)), UINT64_MAX,
                                    dead);
        play(baton, job, program);
        EXPECT_LT(baton.now_ns(), 30 * s);
        dialed_beside += silences(job);
        return !::testing::Test::HasFailure();
    });
    EXPECT_TRUE(dialed_beside > 5 || ::testing::Test::HasFailure());
}

struct Operation : Transfer {
    using Transfer::Transfer;
    std::vector<std::byte> memory;
};

Operation &begin(std::list<Operation> &list, Rank &rank, uint32_t peer, int32_t tag, size_t bytes,
                 bool sends) {
    Operation &made = list.emplace_back(sends);
    made.memory.resize(bytes);
    Buffer buffer{made.memory.data(), static_cast<int64_t>(bytes), predefined_datatype(abi::type_byte)};
    made.describe({rank.world().context, static_cast<int32_t>(sends ? rank.own : peer), tag}, buffer, peer);
    made.start(rank.messenger);
    return made;
}

// Returns how long a long message takes between two processes with two addresses each. From `cut_ns` on, the
// receiver's address number `dead` is dead.
uint64_t bulk_ns(uint64_t cut_ns, uint32_t dead) {
    Baton baton(first_seed());
    JobShape shape{.ranks = 2, .settings = {}};
    shape.settings.eager_limit = shape.settings.first_bytes = 0;
    shape.over_sockets = SocketBehaviour{.preempt_percent = 0, .addresses = 2};
    Job job(baton, {}, shape);
    job.links->internet.cut(1, cut_ns, UINT64_MAX, dead);
    job.each([](Rank &rank) {
        std::list<Operation> one;
        {
            EngineGuard guard(rank.engine);
            rank.engine.wait_owned(
                begin(one, rank, 1 - rank.own, 1, 1'000'000, rank.own == 0).own().completion);
        }
        rank.finish();
    });
    baton.run();
    return baton.now_ns();
}

// A cut during bulk must be noticed, although bulk has no acknowledgement of its own and nothing
// else is under way that would be acknowledged.
TEST(Silence, IsNoticedDuringBulk) {
    uint64_t all_ns = bulk_ns(UINT64_MAX, 0), latest_ns = 0;
    for (uint32_t dead : {0u, 1u})
        for (uint64_t part = 2; part < 10; ++part)
            latest_ns = std::max(latest_ns, bulk_ns(all_ns * part / 10, dead));
    EXPECT_GT(latest_ns, 2 * s);
    EXPECT_LT(latest_ns, 8 * s);
}

// Three processes all send to each other without receiving. Meanwhile the cable of the last process
// is cut for ever.
struct Parted {
    static constexpr uint32_t ranks = 3, cut_off = 2;
    explicit Parted(uint64_t seed) : baton(seed), job(baton, {}, shape(baton.random())) {
        cut_ns = 1 + baton.random().below(uint64_t{1} << baton.random().between(10, 32));
        job.links->internet.cut(cut_off, cut_ns, UINT64_MAX);
    }
    static JobShape shape(Random &random) {
        JobShape shape{.ranks = ranks, .settings = {}};
        shape.settings.eager_credit = 1 << 30;
        shape.over_sockets = SocketBehaviour::any(random);
        shape.over_sockets->refuse_percent = shape.over_sockets->vanish_percent =
            shape.over_sockets->reset_permille = 0;
        shape.over_sockets->patience_ns = shape.limits.peer_timeout_ns;
        if (random.chance(50)) shape.limits.keep_from = random.between(1, 5000);
        if (random.chance(50)) shape.limits.log_limit = random.between(1, 20'000);
        return shape;
    }
    static bool parted(uint32_t one, uint32_t other) { return (one == cut_off) != (other == cut_off); }

    void send_for_a_while(Rank &rank, std::list<Operation> &sends) {
        Random &random = baton.random();
        uint64_t end_ns = cut_ns + random.below(3 * s), turns = 40;
        for (uint64_t turn = 1; turn <= turns; ++turn) {
            auto peer = static_cast<uint32_t>(random.below(ranks));
            if (peer != rank.own)
                begin(sends, rank, peer, 1, random.below(random.chance(20) ? 30'000 : 100), true);
            uint64_t next_ns = end_ns * turn / turns;
            while (baton.now_ns() < next_ns) {
                baton.arm();
                if (rank.engine.make_turn() == 0) baton.sleep_until(next_ns);
            }
        }
        for (uint32_t peer = 0; peer < ranks; ++peer)
            if (peer != rank.own) begin(sends, rank, peer, 1, 10, true);
    }
    // Waits until the loss of `peer` is reported, and checks the message and the time.
    void await_loss(Rank &rank, uint32_t peer) {
        std::list<Operation> one;
        MessageOperation &never = begin(one, rank, peer, 99, 10, false).own();
        rank.engine.wait_owned(never.completion);
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(baton.seed()));
        ASSERT_TRUE(never.error);
        std::string sentence = never.error.take().sentence;
        EXPECT_NE(sentence.find("cannot be reached since 60 s (LANYARD_PEER_TIMEOUT)"), std::string::npos)
            << sentence;
        size_t at = sentence.rfind("; ");
        if (std::sscanf(sentence.c_str() + at, "; %lu messages", &given_up[rank.own][peer]) != 1)
            given_up[rank.own][peer] = sentence.ends_with("before may not have arrived");
        // If the peer was never connected, the timeout began with the first attempt to connect.
        bool was_connected = sentence.find(" at 10.") != std::string::npos;
        // The link checks for the timeout every half second.
        EXPECT_TRUE(!was_connected || baton.now_ns() + s >= cut_ns + 60 * s) << sentence;
        EXPECT_LE(baton.now_ns(), cut_ns + 70 * s) << sentence;
    }
    void live(Rank &rank) {
        std::list<Operation> sends;
        {
            EngineGuard guard(rank.engine);
            send_for_a_while(rank, sends);
            for (uint32_t peer = 0; peer < ranks; ++peer)
                if (parted(rank.own, peer)) await_loss(rank, peer);
            for (Operation &each : sends) {
                rank.engine.wait_owned(each.own().completion);
                bool failed = static_cast<bool>(each.own().error);
                EXPECT_TRUE(!failed || parted(rank.own, each.own().peer));
                each.own().error.discard();
                ++(failed ? failures : sent)[rank.own][each.own().peer];
            }
        }
        rank.finish();
    }
    void compare(uint32_t from, uint32_t to) {
        uint64_t received = 0;
        auto &unexpected = job.rank(to).messenger.unexpected();
        for (Unexpected *message = unexpected.first(); message; message = unexpected.after(*message))
            received += message->peer == from;
        SCOPED_TRACE("from " + std::to_string(from) + " to " + std::to_string(to));
        EXPECT_LE(received, sent[from][to] + failures[from][to]);
        EXPECT_LE(sent[from][to], received + given_up[from][to]) << "something was lost silently";
        EXPECT_LE(given_up[from][to], sent[from][to]) << "told twice, as the send failed too";
        if (!parted(from, to)) {
            EXPECT_EQ(received, sent[from][to]);
        }
    }

    Baton baton;
    Job job;
    uint64_t cut_ns;
    uint64_t sent[ranks][ranks] = {}, failures[ranks][ranks] = {}, given_up[ranks][ranks] = {};
};

TEST(Silence, LongerThanTheTimeOutIsALossAndEveryMessageIsAccountedFor) {
    uint64_t given_up = 0, failures = 0;
    for_seeds(20, 15, [&](uint64_t seed) {
        SCOPED_TRACE("repeat with LANYARD_TEST_SEED=" + std::to_string(seed));
        Parted parted(seed);
        parted.job.each([&parted](Rank &rank) { parted.live(rank); });
        parted.baton.run();
        for (uint32_t from = 0; from < Parted::ranks; ++from)
            for (uint32_t to = 0; to < Parted::ranks; ++to) {
                if (from != to) parted.compare(from, to);
                given_up += parted.given_up[from][to];
                failures += parted.failures[from][to];
            }
        return !::testing::Test::HasFailure();
    });
    if (::testing::Test::HasFailure()) return;
    EXPECT_GT(given_up, 20u);
    EXPECT_GT(failures, 0u);
}

// Processes that have only a path over TCP, each with a timeout of its own.
struct Pollers {
    struct Heard final : Sink {
        void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override { ++envelopes; }
        void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override { FAIL(); }
        void sent(uint64_t) override { FAIL(); }
        void lost(uint32_t, Error reason) override { losses.push_back(reason.take().sentence); }
        int envelopes = 0;
        std::vector<std::string> losses;
    };
    static constexpr uint64_t end_ns = 200 * s;
    static constexpr uint64_t most_dialed = 1000;  // a process that dials more often goes round in circles

    explicit Pollers(uint32_t count)
        : processes(count), ports(count), sockets(count), paths(count), heard(count) {}

    // Creates the path of a process. `find` returns the addresses of the others.
    void create(uint32_t own, uint64_t peer_timeout_ns, Routes::Find find) {
        TcpLimits limits;
        limits.peer_timeout_ns = peer_timeout_ns;
        WireIdentity identity;
        identity.own.number = own;
        sockets[own] = std::make_unique<SimSockets>(internet, own);
        paths[own] =
            std::make_unique<TcpPath>(*sockets[own], identity, processes, limits, std::move(find));
        EXPECT_FALSE(paths[own]->listen({SimInternet::address_of(own)}, 0, 0, ports[own]));
    }
    Address place(uint32_t process) const {
        return SimInternet::address_of(process).with_port(ports[process]);
    }
    void send(uint32_t from, uint32_t to) {
        Envelope envelope{};
        envelope.kind = EnvelopeKind::eager;
        EXPECT_EQ(paths[from]->send(to, envelope, {}), Sent::done);
    }
    // From `begin_ns` on, the process polls, and calls goes_on() before each poll, until this returns false.
    void live(uint32_t own, uint64_t begin_ns, const std::function<bool()> &goes_on) {
        auto body = [this, own, begin_ns, goes_on] {
            while (baton.now_ns() < begin_ns) {
                baton.arm();
                baton.sleep_until(begin_ns);
            }
            TcpPath &path = *paths[own];
            while (goes_on() && baton.now_ns() < end_ns && path.connector().counts().dialed < most_dialed) {
                baton.arm();
                int work = path.poll(heard[own], 100, baton.now_ns());
                path.prepare_to_sleep(true);
                uint64_t wake_ns = work > 0 ? 0 : std::min(path.deadline_ns(), baton.now_ns() + s);
                if (wake_ns > baton.now_ns()) baton.sleep_until(wake_ns);
                else baton.pass();
            }
        };
        internet.drives(own, baton.add("process " + std::to_string(own), body, {}));
    }

    Baton baton{first_seed()};
    SimInternet internet{baton, SocketBehaviour{.preempt_percent = 0}};
    Processes processes;
    std::vector<uint16_t> ports;
    std::vector<std::unique_ptr<SimSockets>> sockets;
    std::vector<std::unique_ptr<TcpPath>> paths;
    std::vector<Heard> heard;
};

// Process 0 gives up process 1 while the cable is cut. Process 1, which notices nothing of the cut, must give
// up process 0 after its own timeout, since it is no longer answered.
TEST(Silence, WhoIsGivenUpGivesUpTheOther) {
    Pollers pair(2);
    auto find = [&](uint32_t peer, std::vector<Address> &list) {
        list.push_back(pair.place(peer));
        return Error();
    };
    pair.create(0, 5 * s, find);
    pair.create(1, 20 * s, find);
    pair.internet.cut(1, 1 * s, 10 * s);
    bool sent_again = false;
    auto goes_on = [&] { return pair.heard[1].losses.empty(); };
    pair.live(0, 0, [&] {
        if (!sent_again && pair.baton.now_ns() >= 2 * s) {
            sent_again = true;
            pair.send(0, 1);
        }
        return goes_on();
    });
    pair.live(1, 0, goes_on);
    pair.send(0, 1);
    pair.baton.run();
    for (uint32_t own : {0u, 1u}) EXPECT_EQ(pair.heard[own].losses.size(), 1u) << own;
    EXPECT_EQ(pair.paths[0]->connector().counts().made, 1u);
    EXPECT_LT(pair.paths[1]->connector().counts().dialed, 100u);
    EXPECT_GE(pair.baton.now_ns(), 30 * s);
    EXPECT_LT(pair.baton.now_ns(), 35 * s);
}

// There is no process 1. At its addresses, process 0 reaches itself and process 2, whose hosts accept.
TEST(Silence, IsNotEndedByAHostThatIsNotThePeers) {
    Pollers some(3);
    auto find = [&](uint32_t, std::vector<Address> &list) {
        list = {some.place(0), some.place(2)};
        return Error();
    };
    auto goes_on = [&] { return some.heard[0].losses.empty(); };
    for (uint32_t own : {0u, 2u}) {
        some.create(own, 5 * s, find);
        some.live(own, 0, goes_on);
    }
    some.send(0, 1);
    some.baton.run();
    EXPECT_EQ(some.heard[0].losses.size(), 1u);
    EXPECT_LT(some.baton.now_ns(), 8 * s);
}

// The host of process 1 accepts connections while the process computes, for longer than the timeout.
TEST(Silence, OfAPeerThatComputesIsNoLoss) {
    Pollers pair(2);
    auto find = [&](uint32_t peer, std::vector<Address> &list) {
        list.push_back(pair.place(peer));
        return Error();
    };
    auto goes_on = [&] { return pair.heard[1].envelopes == 0 && pair.heard[0].losses.empty(); };
    for (uint32_t own : {0u, 1u}) {
        pair.create(own, 5 * s, find);
        pair.live(own, own * 100 * s, goes_on);
    }
    pair.send(0, 1);
    pair.baton.run();
    EXPECT_EQ(pair.heard[1].envelopes, 1);
    EXPECT_EQ(pair.heard[0].losses, std::vector<std::string>());
}

}  // namespace
}  // namespace lanyard::sim
