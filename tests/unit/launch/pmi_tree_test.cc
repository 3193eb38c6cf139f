// Connects the PMI servers of several hosts in one process. What any rank publishes is available everywhere
// after the barrier, with one message for each host and direction.
#include "launch/pmi_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>

namespace lanyard::launch {
namespace {

// A tree of three hosts with two ranks each: a, with b and c below it. The release is made at the top.
class Tree {
public:
    Tree() {
        for (int node = 0; node < 3; ++node) {
            Placement placement{{"a", "b", "c"}, {0, 0, 1, 1, 2, 2}, node};
            PmiServer::Neighbours neighbours;
            if (node == 0) {
                neighbours.remote_hosts = 2;
                neighbours.below = [this](size_t remote, const Frame &frame) { down(remote + 1, frame); };
            } else {
                neighbours.above = [this, node](const Frame &frame) {
                    up(static_cast<size_t>(node - 1), frame);
                };
            }
            servers_.push_back(
                std::make_unique<PmiServer>(loop_, placement, "job", neighbours, [](const Abort &) {}));
        }
        for (int rank = 0; rank < 6; ++rank)
            ranks_[rank] = servers_[static_cast<size_t>(rank / 2)]->connect_rank(rank, 0, 6);
    }
    ~Tree() {
        for (int fd : ranks_) close(fd);
    }
    void say(int rank, const std::string &line) {
        std::string text = line + "\n";
        ASSERT_EQ(send(ranks_[rank], text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
        for (int i = 0; i < 3; ++i) loop_.wait(0);
    }
    // Returns the answer that the rank has received, or "" if none.
    std::string heard(int rank) {
        char text[4096];
        ssize_t count = recv(ranks_[rank], text, sizeof text, MSG_DONTWAIT);
        return count > 0 ? std::string(text, static_cast<size_t>(count - 1)) : "";
    }
    // Reports that the rank's process has ended.
    void end(int rank) { servers_[static_cast<size_t>(rank / 2)]->rank_ended(rank); }
    std::string ask(int rank, const std::string &line) {
        say(rank, line);
        return heard(rank);
    }
    int barriers = 0, releases = 0, asks = 0, departures = 0;

private:
    void up(size_t remote, const Frame &frame) {
        Values values;
        Text key;
        (frame.kind == Kind::barrier ? barriers : frame.kind == Kind::departed ? departures : asks)++;
        if (frame.kind == Kind::departed) servers_[0]->remote_departed();
        if (frame.kind == Kind::barrier && read_frame(frame, values)) servers_[0]->remote_entered(values);
        if (frame.kind == Kind::ask && read_frame(frame, key)) servers_[0]->remote_asks(remote, key.text);
    }
    void down(size_t node, const Frame &frame) {
        Values values;
        Answer answer;
        if (frame.kind == Kind::release && read_frame(frame, values)) {
            ++releases;
            servers_[node]->release(values);
        }
        if (frame.kind == Kind::answer && read_frame(frame, answer)) servers_[node]->answered(answer);
    }

    Loop loop_;
    std::vector<std::unique_ptr<PmiServer>> servers_;
    int ranks_[6];
};

TEST(PmiTree, BarrierSpreadsWhatWasPublished) {
    Tree tree;
    for (int round = 0; round < 3; ++round) {
        auto key = [&](int rank) { return "k" + std::to_string(round) + "-" + std::to_string(rank); };
        for (int rank = 0; rank < 6; ++rank)
            EXPECT_EQ(tree.ask(rank, "cmd=put kvsname=job key=" + key(rank) + " value=v " + key(rank)),
                      "cmd=put_result rc=0 msg=success");
        for (int rank = 5; rank >= 0; --rank) {
            // A host sends its message upwards once both of its ranks have entered.
            EXPECT_EQ(tree.barriers, 2 * round + (rank < 4) + (rank < 2)) << rank;
            tree.say(rank, "cmd=barrier_in");
            if (rank > 0) {
                EXPECT_EQ(tree.heard(rank), "");
            }
        }
        for (int rank = 0; rank < 6; ++rank) EXPECT_EQ(tree.heard(rank), "cmd=barrier_out rc=0");
        for (int rank = 0; rank < 6; ++rank)
            for (int other = 0; other < 6; ++other)
                EXPECT_EQ(tree.ask(rank, "cmd=get kvsname=job key=" + key(other)),
                          "cmd=get_result rc=0 msg=success value=v " + key(other));
        EXPECT_EQ(tree.barriers, 2 * (round + 1));
        EXPECT_EQ(tree.releases, 2 * (round + 1));
    }
    EXPECT_EQ(tree.asks, 0);
}

TEST(PmiTree, WhatIsNotKnownHereIsAskedAbove) {
    Tree tree;
    EXPECT_EQ(tree.ask(4, "cmd=get kvsname=job key=x"),
              "cmd=get_result rc=-1 msg=key_not_found value=unknown");
    tree.ask(0, "cmd=put kvsname=job key=x value=1");
    EXPECT_EQ(tree.ask(4, "cmd=get kvsname=job key=x"), "cmd=get_result rc=0 msg=success value=1");
    EXPECT_EQ(tree.asks, 2);
    EXPECT_EQ(tree.ask(5, "cmd=get kvsname=job key=x"), "cmd=get_result rc=0 msg=success value=1");
    EXPECT_EQ(tree.asks, 2);
}

// A barrier does not wait for ranks that have finalised and ended. Sessions of other ranks may synchronise at
// exit long afterwards.
TEST(PmiTree, WhoHasEndedInOrderIsNotMissed) {
    Tree tree;
    std::string init = "cmd=init pmi_version=1 pmi_subversion=1";
    for (int rank = 0; rank < 6; ++rank) tree.ask(rank, init);
    for (int rank : {1, 2, 3, 4, 5}) tree.ask(rank, "cmd=finalize");
    for (int rank : {2, 3, 4}) tree.end(rank);
    EXPECT_EQ(tree.departures, 1);  // of the second host
    tree.say(0, "cmd=barrier_in");
    EXPECT_EQ(tree.heard(0), "");
    // Rank 5 continues after all.
    EXPECT_EQ(tree.ask(5, init), "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
    tree.end(1);
    EXPECT_EQ(tree.heard(0), "");
    tree.say(5, "cmd=barrier_in");
    EXPECT_EQ(tree.barriers, 1);
    for (int rank : {0, 5}) EXPECT_EQ(tree.heard(rank), "cmd=barrier_out rc=0");

    tree.ask(5, "cmd=finalize");
    tree.say(0, "cmd=barrier_in");
    EXPECT_EQ(tree.heard(0), "");
    tree.end(5);
    EXPECT_EQ(tree.heard(0), "cmd=barrier_out rc=0");
    EXPECT_EQ(tree.departures, 2);
}

// A barrier waits for a rank that has not finalised, even if the rank's process has ended. Such an end is a
// failure, which mpirun reports.
TEST(PmiTree, WhoHasEndedWithinIsMissed) {
    Tree tree;
    for (int rank = 0; rank < 6; ++rank) tree.ask(rank, "cmd=init pmi_version=1 pmi_subversion=1");
    for (int rank = 1; rank < 6; ++rank) tree.end(rank);
    tree.say(0, "cmd=barrier_in");
    EXPECT_EQ(tree.heard(0), "");
    EXPECT_EQ(tree.departures, 0);
}

// A rank closes its connection, and mpirun sends a release into it before it sees this.
TEST(PmiServer, ReportsAConnectionThatIsClosedBeforeARelease) {
    Loop loop;
    PmiServer server(loop, {{"a"}, {0, 0}, 0}, "job", {}, [](const Abort &) {});
    std::vector<int> cut_off;
    server.on_cut_off([&](int rank, pid_t process) {
        cut_off.push_back(rank);
        EXPECT_EQ(process, getpid());
    });
    int ranks[2] = {server.connect_rank(0, 0, 2), server.connect_rank(1, 0, 2)};
    auto say = [&](int rank, const std::string &line) {
        std::string text = line + "\n";
        ASSERT_EQ(send(ranks[rank], text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    };
    auto handle = [&] {
        for (int i = 0; i < 3; ++i) loop.wait(0);
    };
    for (int rank : {0, 1}) say(rank, "cmd=init pmi_version=1 pmi_subversion=1");
    say(1, "cmd=barrier_in");
    handle();
    say(0, "cmd=barrier_in");  // handled first
    close(ranks[1]);
    handle();
    EXPECT_EQ(cut_off, std::vector<int>{1});
    close(ranks[0]);
}

TEST(PmiTree, NodesAreTold) {
    Tree tree;
    for (int rank : {0, 3, 5})
        EXPECT_EQ(tree.ask(rank, "cmd=get kvsname=job key=PMI_process_mapping"),
                  "cmd=get_result rc=0 msg=success value=(vector,(0,3,2))");
    EXPECT_EQ(tree.ask(3, "cmd=get_universe_size"), "cmd=universe_size rc=0 size=6");
}

}  // namespace
}  // namespace lanyard::launch
