// Tests frames between mpirun and its agents: what is written is read back, and damaged frames never do harm.
#include "launch/protocol.h"

#include <gtest/gtest.h>

#include <random>

namespace lanyard::launch {
namespace {

Assignment example() {
    Assignment job;
    job.job = "job";
    job.plan.programs = {{2, {{"A", "1"}, {"B", ""}}, "/tmp", {"prog", "x y", "'"}}, {1, {}, "", {"other"}}};
    job.plan.environment = {{"G", "g"}};
    job.plan.timeout_s = 2.5;
    job.plan.stdin_rank = 1;
    job.plan.binding = Binding::core;
    job.plan.placement = {{"a", "b"}, {0, 1, 0}, 1};
    job.environment = {"HOME=/root", std::string("Z=\0x", 4)};
    job.folder = "/work";
    job.agent = "/opt/bin/mpirun";
    job.peer_timeout_s = 7;
    job.below = {2, 3};
    return job;
}

TEST(Protocol, JobTravelsWhole) {
    Assignment sent = example(), got;
    std::string bytes;
    append_frame(bytes, make_frame(Kind::job, sent));
    size_t at = 0;
    bool broken = false;
    for (size_t length = 0; length < bytes.size(); ++length) {
        ASSERT_FALSE(take_frame(bytes.substr(0, length), at, broken) || broken || at) << length;
    }
    Frame frame = take_frame(bytes, at, broken).value_or(Frame{});
    ASSERT_TRUE(frame.kind == Kind::job && at == bytes.size());
    ASSERT_TRUE(read_frame(frame, got));
    EXPECT_EQ(make_frame(Kind::job, got).body, frame.body);
    EXPECT_EQ(got.plan.programs[0].words, sent.plan.programs[0].words);
    EXPECT_EQ(got.plan.programs[0].own, sent.plan.programs[0].own);
    EXPECT_EQ(got.plan.placement.node_of_rank, sent.plan.placement.node_of_rank);
    EXPECT_EQ(got.environment, sent.environment);
    EXPECT_EQ(got.plan.timeout_s, 2.5);
    EXPECT_EQ(got.plan.stdin_rank, 1);
    EXPECT_EQ(got.plan.binding, Binding::core);
    EXPECT_EQ(got.peer_timeout_s, 7u);
    EXPECT_EQ(got.below, sent.below);
}

TEST(Protocol, SmallBodies) {
    RankEnd end{3, 77, 139, true, true, true}, got_end;
    ASSERT_TRUE(read_frame(make_frame(Kind::ended, end), got_end));
    EXPECT_TRUE(got_end.rank == 3 && got_end.pid == 77 && got_end.status == 139 && got_end.inside &&
                got_end.short_of_memory && got_end.left);
    Abort abort{1, -5, true}, got_abort;
    ASSERT_TRUE(read_frame(make_frame(Kind::aborted, abort), got_abort));
    EXPECT_EQ(got_abort.code, -5);
    EXPECT_TRUE(got_abort.for_error);
    Answer unknown{"key", {}}, got;
    ASSERT_TRUE(read_frame(make_frame(Kind::answer, unknown), got));
    EXPECT_TRUE(got.key == "key" && !got.value);
    AllWaits waits{{4, true, true, "rank 4: waits", {true, false, 2, false, true}}}, got_waits;
    ASSERT_TRUE(read_frame(make_frame(Kind::waits, waits), got_waits));
    EXPECT_TRUE(got_waits.size() == 1 && got_waits[0].line == "rank 4: waits" &&
                got_waits[0].stage.barriers_passed == 2 && got_waits[0].stage.ended);
}

TEST(Protocol, WhatIsTooLongOrUnknownIsBroken) {
    size_t at = 0;
    bool broken = false;
    EXPECT_FALSE(take_frame(std::string("\xff\xff\xff\xff\x01", 5), at, broken));
    EXPECT_TRUE(broken);
    EXPECT_FALSE(take_frame(std::string("\0\0\0\0\xee", 5), at, broken));
    EXPECT_TRUE(broken);
    EXPECT_FALSE(take_frame(std::string("\0\0\0\0\0", 5), at, broken));
    EXPECT_TRUE(broken);
}

TEST(Protocol, DamagedBodiesAreRefusedOrRead) {
    const char *text = getenv("LANYARD_TEST_SEED");
    unsigned seed = text ? static_cast<unsigned>(atoi(text)) : 1;
    SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed));
    std::mt19937 random(seed);
    Frame whole = make_frame(Kind::job, example());
    int refused = 0;
    for (int turn = 0; turn < 20000; ++turn) {
        Frame frame = whole;
        for (unsigned i = 1 + random() % 3; i > 0; --i)
            frame.body[random() % frame.body.size()] = static_cast<char>(random());
        if (random() % 2) frame.body.resize(random() % frame.body.size());
        Assignment job;
        if (!read_frame(frame, job)) ++refused;
    }
    EXPECT_GT(refused, 10000);
    Frame longer = whole;
    longer.body += 'x';
    Assignment job;
    EXPECT_FALSE(read_frame(longer, job));
}

}  // namespace
}  // namespace lanyard::launch
