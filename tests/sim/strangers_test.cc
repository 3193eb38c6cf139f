// Processes that do not belong to a job connect to it. They must be counted, their connections must be
// closed, and the job must go on.
#include <gtest/gtest.h>

#include <cstring>

#include "base/log.h"
#include "sim/job.h"
#include "sim/seeds.h"

namespace lanyard::sim {
namespace {

// A job of two processes, and a stranger that connects to it and reads the answers.
class Strangers : public ::testing::Test {
protected:
    Strangers()
        : baton_(first_seed()),
          links_(baton_, SocketBehaviour{.preempt_percent = 0}, TcpLimits(), 2),
          sockets_(links_.internet, 2) {
        seen_[0] = seen_[1] = 0;
    }

    struct Counter final : Sink {
        explicit Counter(int &count) : seen(count) {}
        int &seen;
        void envelope(uint32_t, const Envelope &envelope, const std::byte *, size_t) override {
            EXPECT_EQ(envelope.context, static_cast<uint64_t>(seen));
            ++seen;
        }
        void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override { FAIL(); }
        void sent(uint64_t) override { FAIL(); }
        void lost(uint32_t, Error) override { FAIL(); }
    };

    void poll_all(int turns) {
        for (int turn = 0; turn < turns; ++turn)
            for (uint32_t peer : {0u, 1u}) {
                Counter sink(seen_[peer]);
                links_.path(peer).poll(sink, 100, baton_.now_ns());
            }
    }
    // Lets the two processes of the job exchange one more message.
    void exchange() {
        Envelope envelope{};
        envelope.kind = EnvelopeKind::eager;
        envelope.context = static_cast<uint64_t>(seen_[1]);
        int before = seen_[1];
        ASSERT_EQ(links_.path(0).send(1, envelope, {}), Sent::done);
        for (int turn = 0; turn < 10'000 && seen_[1] == before; ++turn) poll_all(1);
        EXPECT_EQ(seen_[1], before + 1);
    }
    int connect() { return sockets_.connect(SimInternet::address_of(1).with_port(links_.port(1))); }
    void say(int socket, const void *data, size_t bytes) {
        for (int turn = 0; turn < 1000 && sockets_.connect_result(socket) != 0; ++turn) poll_all(1);
        auto *from = static_cast<char *>(const_cast<void *>(data));
        for (size_t said = 0; said < bytes;) {
            iovec rest{from + said, bytes - said};
            ssize_t some = sockets_.write(socket, &rest, 1);
            if (some > 0) said += static_cast<size_t>(some);
            else if (some != -EAGAIN) return;
            poll_all(1);
        }
        poll_all(1000);
    }
    // Returns true if the other side has closed the socket without an answer.
    bool closed(int socket) {
        for (int turn = 0; turn < 10'000; ++turn) {
            char byte;
            iovec place{&byte, 1};
            ssize_t some = sockets_.read(socket, &place, 1);
            if (some != -EAGAIN) return some <= 0;
            poll_all(1);
        }
        return false;
    }
    bool welcomed(int socket) {
        Greeting answer{};
        size_t received = 0;
        for (int turn = 0; turn < 10'000 && received < sizeof answer; ++turn) {
            iovec place{reinterpret_cast<char *>(&answer) + received, sizeof answer - received};
            ssize_t some = sockets_.read(socket, &place, 1);
            if (some > 0) received += static_cast<size_t>(some);
            poll_all(1);
        }
        return received == sizeof answer && answer.kind == GreetingKind::welcome;
    }
    Greeting hello(const WireIdentity &as, uint32_t epoch) {
        Greeting greeting{};
        greeting.kind = GreetingKind::hello;
        greeting.to = 1;
        greeting.epoch = epoch;
        seal(greeting, as, nullptr);
        return greeting;
    }
    uint64_t strangers() { return links_.path(1).connector().counts().strangers; }

    Baton baton_;
    SimLinks links_;
    SimSockets sockets_;
    int seen_[2];
};

TEST_F(Strangers, WhoTalkOtherThingsAreDropped) {
    exchange();
    std::vector<char> garbage(1000);
    for (uint64_t round = 0; round < 20; ++round) {
        for (char &byte : garbage) byte = static_cast<char>(baton_.random().next());
        int socket = connect();
        say(socket, garbage.data(), 80 + baton_.random().below(900));
        EXPECT_TRUE(closed(socket));
        EXPECT_EQ(strangers(), round + 1);
        sockets_.close(socket);
        exchange();
    }
    EXPECT_EQ(links_.path(1).counts().broken, 0u);
}

TEST_F(Strangers, WhoDoNotKnowTheSecretAreDropped) {
    exchange();
    WireIdentity right;
    right.own.number = 0;
    std::vector<WireIdentity> wrong(3, right);
    wrong[0].secret = Secret::random();
    wrong[1].job[3] = 1;  // has the secret of this job, but the name of another job
    wrong[2].job[0] = 1;
    for (size_t i = 0; i < wrong.size(); ++i) {
        int socket = connect();
        Greeting greeting = hello(wrong[i], 100);
        say(socket, &greeting, sizeof greeting);
        EXPECT_TRUE(closed(socket)) << i;
        EXPECT_EQ(strangers(), i + 1);
        exchange();
    }
    EXPECT_EQ(links_.path(1).counts().broken, 0u);
}

TEST_F(Strangers, WhoSaysToHaveOtherSettingsChangesNoConnection) {
    exchange();
    WireIdentity other;
    other.own.number = 0;
    other.settings = checksum_setting;
    int socket = connect();
    Greeting greeting = hello(other, 100), answer{};
    say(socket, &greeting, sizeof greeting);
    for (size_t received = 0; received < sizeof answer;) {  // the answer arrives in portions
        iovec rest{reinterpret_cast<char *>(&answer) + received, sizeof answer - received};
        ssize_t bytes = sockets_.read(socket, &rest, 1);
        ASSERT_GT(bytes, 0);
        received += static_cast<size_t>(bytes);
    }
    EXPECT_EQ(answer.kind, GreetingKind::behind);
    EXPECT_EQ(doubt(answer, other, &greeting), "");
    EXPECT_STREQ(difference(answer, other),
                 "LANYARD_CHECKSUM differs between the processes; set it alike for all");
    EXPECT_TRUE(closed(socket));
    exchange();
    EXPECT_EQ(links_.path(1).counts().broken, 0u);
}

// Two processes of one job have different settings: only the frames of one of them have checksums.
TEST(Settings, ThatDifferKeepBothFromWaiting) {
    struct Told final : Sink {
        std::string why;
        void envelope(uint32_t, const Envelope &, const std::byte *, size_t) override { FAIL(); }
        void bulk(uint32_t, const BulkHeader &, const std::byte *, size_t) override { FAIL(); }
        void sent(uint64_t) override { FAIL(); }
        void lost(uint32_t, Error reason) override { why += reason.take().sentence; }
    };
    detail::log_level = -1;
    for (uint32_t dialer : {0u, 1u}) {
        Baton baton(first_seed());
        SimInternet internet(baton, SocketBehaviour{.preempt_percent = 0});
        SimSockets sockets[] = {{internet, 0}, {internet, 1}};
        uint16_t ports[2];
        auto find = [&](uint32_t peer, std::vector<Address> &list) {
            list.push_back(SimInternet::address_of(peer).with_port(ports[peer]));
            return Error();
        };
        Processes processes(2);
        std::unique_ptr<TcpPath> paths[2];
        Told told[2];
        for (uint32_t own : {0u, 1u}) {
            WireIdentity identity;
            identity.own.number = own;
            paths[own] = std::make_unique<TcpPath>(sockets[own], identity, processes, TcpLimits(), find,
                                                   own ? loaded_crc() : Crc32c());
            ASSERT_FALSE(paths[own]->listen({SimInternet::address_of(own)}, 0, 0, ports[own]));
        }
        Envelope envelope{};
        envelope.kind = EnvelopeKind::eager;
        EXPECT_EQ(paths[dialer]->send(1 - dialer, envelope, {}), Sent::done);
        for (int turn = 0; turn < 10'000; ++turn)
            for (uint32_t own : {0u, 1u}) paths[own]->poll(told[own], 100, baton.now_ns());
        for (uint32_t own : {0u, 1u}) {
            EXPECT_EQ(told[own].why, "process " + std::to_string(1 - own) +
                                         " cannot be reached at all: LANYARD_CHECKSUM differs between the "
                                         "processes; set it alike for all");
            EXPECT_FALSE(paths[own]->activity().io_pending || paths[own]->activity().unacknowledged);
            EXPECT_TRUE(paths[own]->all_acknowledged());
        }
    }
    detail::log_level = 0;
}

// Processes of different versions cannot communicate, but the error message of each side can state
// both versions.
TEST_F(Strangers, OfAnotherVersionAreToldOurs) {
    exchange();
    WireIdentity right;
    Greeting old = hello(right, 100), answer{};
    old.version = wire_version - 1;
    int socket = connect();
    detail::log_level = -1;
    say(socket, &old, sizeof old);
    for (size_t received = 0; received < sizeof answer;) {
        iovec rest{reinterpret_cast<char *>(&answer) + received, sizeof answer - received};
        ssize_t bytes = sockets_.read(socket, &rest, 1);
        ASSERT_GT(bytes, 0);
        received += static_cast<size_t>(bytes);
    }
    detail::log_level = 0;
    EXPECT_TRUE(closed(socket));
    EXPECT_EQ(answer.magic, greeting_magic);
    EXPECT_EQ(answer.version, wire_version);
    EXPECT_EQ(answer.proof, Proof{}) << "nothing is proven to strangers";
    EXPECT_EQ(doubt(old, right, nullptr),
              "it speaks version 2 of what Lanyard says on connections, and this process version 3; all "
              "hosts of a job need the same Lanyard");
    EXPECT_EQ(strangers(), 1u);
    exchange();
    EXPECT_EQ(links_.path(1).counts().broken, 0u);
}

// A process of another job of the same launcher must be dropped. It has the same number as a process of this
// job, but a different name.
TEST_F(Strangers, OfAJobThatIsNotKnownAreDropped) {
    exchange();
    WireIdentity unknown;
    unknown.own = {2, 0};
    int socket = connect();
    Greeting greeting = hello(unknown, 100);
    say(socket, &greeting, sizeof greeting);
    EXPECT_TRUE(closed(socket));
    greeting.to_job = 2;  // addressed to the process of the other job that has the same number as this one
    seal(greeting, WireIdentity(), nullptr);
    int other = connect();
    say(other, &greeting, sizeof greeting);
    EXPECT_TRUE(closed(other));
    EXPECT_EQ(strangers(), 2u);
    exchange();
    EXPECT_EQ(links_.path(1).counts().broken, 0u);
}

TEST_F(Strangers, WhatWasSaidBeforeIsNotBelievedAgain) {
    exchange();
    WireIdentity right;
    right.own.number = 0;
    int socket = connect();
    Greeting old = hello(right, 1);  // the greeting with which the current connection began, sent again
    say(socket, &old, sizeof old);
    exchange();
    EXPECT_EQ(links_.path(1).counts().broken, 0u);
}

// A stranger may overhear a request to measure a connection, and send this request again. The link answers
// the request, drops the bytes that follow, and changes nothing else. The number of such connections is
// limited.
TEST_F(Strangers, WhatIsToBeMeasuredIsDropped) {
    exchange();
    WireIdentity right;
    right.own.number = 0;
    Greeting measure = hello(right, 0);
    measure.kind = GreetingKind::measure;
    seal(measure, right, nullptr);
    std::vector<char> much(10'000'000);
    for (int round = 0; round < 3; ++round) {
        int socket = connect();
        say(socket, &measure, sizeof measure);
        say(socket, much.data(), much.size());
        EXPECT_TRUE(welcomed(socket));
        EXPECT_TRUE(closed(socket));
        sockets_.close(socket);
        exchange();
    }
    std::vector<int> sockets;
    for (int i = 0; i < 200; ++i) {
        sockets.push_back(connect());
        say(sockets.back(), &measure, sizeof measure);
    }
    EXPECT_TRUE(welcomed(sockets.front()));
    EXPECT_TRUE(closed(sockets.front())) << "the oldest makes place";
    EXPECT_TRUE(welcomed(sockets.back()));
    exchange();
    EXPECT_EQ(strangers(), 0u);
    EXPECT_EQ(links_.path(1).counts().broken, 0u);
}

TEST_F(Strangers, HalfAGreetingWaitsOnlySoLong) {
    exchange();
    WireIdentity right;
    Greeting greeting = hello(right, 100);
    int socket = connect();
    say(socket, &greeting, 40);
    EXPECT_EQ(strangers(), 0u);
    uint64_t end = baton_.now_ns() + 11'000'000'000;
    while (baton_.now_ns() < end) {
        baton_.sleep_until(end);
        for (int i = 0; i < 1'000'000 && baton_.now_ns() < end; ++i) baton_.tick();
    }
    EXPECT_TRUE(closed(socket));
    EXPECT_EQ(strangers(), 1u);
    exchange();
}

TEST_F(Strangers, ManyAtOnceKeepNobodyOut) {
    exchange();
    std::vector<int> sockets;
    for (int i = 0; i < 500; ++i) sockets.push_back(connect());
    poll_all(3000);
    exchange();
    EXPECT_GE(strangers(), 500u - 128u);
    EXPECT_EQ(links_.path(1).counts().broken, 0u);
}

}  // namespace
}  // namespace lanyard::sim
