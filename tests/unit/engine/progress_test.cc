// Tests one turn of Progress (engine/progress.h), and the parts of a turn, without threads. The clock stands
// still until the test moves it.
#include "engine/progress.h"

#include <gtest/gtest.h>

#include "engine/batching.h"
#include "engine/test_pace.h"
#include "unit/engine/stubs.h"

namespace lanyard {
namespace {

class StandingClock final : public Idle {
public:
    Action next(uint32_t, uint64_t, uint64_t) override { return Action::spin; }
    void yield() override {}
    uint64_t now_ns() override { return time_ns; }
    void arm() override {}
    void sleep(uint64_t) override {}
    void disarm() override {}
    void wake() override {}

    uint64_t time_ns = 1;
};

// Lets a test see the paths.
class OpenProgress final : public Progress {
public:
    using Progress::paths, Progress::Progress;
};

// Counts its polls, and reports what the test has set.
class CountedPath final : public StubPath {
public:
    explicit CountedPath(int descriptor) : StubPath(descriptor) {}
    int poll(Sink &, int frames, uint64_t) override {
        ++polls;
        most = frames;
        return 0;
    }
    PathActivity activity() const override { return now; }
    uint64_t deadline_ns() const override { return due_ns; }
    void prepare_to_sleep(bool process_sleeps) override { asleep = process_sleeps; }

    PathActivity now{};
    uint64_t due_ns = no_deadline;
    int polls = 0, most = 0;
    bool asleep = false;
};

struct CountingTask : Task {
    explicit CountingTask(Progress &owner) : progress(owner) {
        run = [](Task &task) {
            auto &self = static_cast<CountingTask &>(task);
            ++self.runs;
            if (self.removes && self.removes->hook.linked()) self.removes->hook.unlink();
            if (self.again-- > 0) self.progress.ready(self);
            return 1;
        };
    }
    Progress &progress;
    int runs = 0, again = 0;
    CountingTask *removes = nullptr;
};

struct CountingPoller : Poller {
    CountingPoller() {
        poll = [](Poller &poller, uint64_t) {
            auto &self = static_cast<CountingPoller &>(poller);
            if (++self.polls == self.most) self.hook.unlink();
            return 0;
        };
    }
    int polls = 0, most = 0;
};

class ProgressTest : public ::testing::Test {
protected:
    ProgressTest() { progress.set_sink(no_sink); }
    int turn(bool system_calls = true) { return progress.turn(64, system_calls); }

    StandingClock clock;
    OpenProgress progress{clock};
};

TEST_F(ProgressTest, RunsEachTaskOnceATurn) {
    CountingTask first(progress), second(progress), third(progress);
    first.again = 5;
    for (CountingTask *task : {&first, &second, &third, &second}) progress.ready(*task);
    EXPECT_TRUE(progress.work_left());
    EXPECT_EQ(turn(), 3);
    EXPECT_EQ(turn(), 1);
    EXPECT_EQ(first.runs, 2);
    EXPECT_EQ(second.runs, 1);
    // A task may remove another task from the queue, even the last one in it.
    first.again = 0;
    first.removes = &third;
    progress.ready(third);
    EXPECT_EQ(turn(), 1);
    EXPECT_EQ(turn(), 0);
    EXPECT_EQ(third.runs, 1);
    EXPECT_FALSE(progress.work_left());
}

TEST_F(ProgressTest, RunsWhatWasHandedInBehindWhatIsReady) {
    CountingTask handed_in(progress), ready(progress);
    ready.removes = &handed_in;
    progress.hand_in(handed_in);
    EXPECT_TRUE(progress.has_posted());
    EXPECT_TRUE(progress.under_way());
    progress.ready(ready);
    EXPECT_EQ(turn(), 1);
    EXPECT_FALSE(progress.has_posted());
    EXPECT_FALSE(progress.under_way());
    EXPECT_EQ(handed_in.runs, 0);
}

TEST_F(ProgressTest, PollsThroughThatUnlinkThemselves) {
    CountingPoller once, always, twice;
    once.most = 1;
    twice.most = 2;
    for (CountingPoller *poller : {&once, &always, &twice}) progress.watch(*poller);
    for (int i = 0; i < 4; ++i) turn();
    EXPECT_EQ(once.polls, 1);
    EXPECT_EQ(always.polls, 4);
    EXPECT_EQ(twice.polls, 2);
}

TEST_F(ProgressTest, RingsOneAlarmAtATime) {
    CountingTask first(progress), second(progress);
    progress.set_alarm(1'000, first);
    progress.set_alarm(500, second);  // no effect, because an alarm is set already
    EXPECT_EQ(progress.deadline_ns(), 1'000u);
    clock.time_ns = 999;
    progress.read_clock();
    EXPECT_EQ(turn(), 0);
    clock.time_ns = 1'000;
    EXPECT_EQ(turn(), 0) << "the clock has not been read";
    for (int i = 0; i < 8; ++i) progress.read_clock_sometimes();
    EXPECT_EQ(turn(), 1);
    EXPECT_EQ(first.runs, 1);
    EXPECT_EQ(progress.deadline_ns(), no_deadline);
    progress.set_alarm(500, second);
    EXPECT_EQ(turn(), 1);
    EXPECT_EQ(second.runs, 1);
}

TEST_F(ProgressTest, IsDueWhenAReadyTaskIs) {
    CountingTask later(progress), sooner(progress), whenever(progress);
    later.due_ns = 800;
    sooner.due_ns = 700;
    sooner.again = 1;
    EXPECT_EQ(progress.deadline_ns(), no_deadline) << "no task is ready";
    for (CountingTask *task : {&later, &sooner, &whenever}) progress.ready(*task);
    EXPECT_EQ(progress.deadline_ns(), 700u);
    sooner.hook.unlink();
    EXPECT_EQ(progress.deadline_ns(), 800u);
    progress.ready(sooner);
    EXPECT_EQ(turn(), 3);
    EXPECT_EQ(progress.deadline_ns(), 700u) << "this task has made itself ready again";
    EXPECT_EQ(turn(), 1);
    EXPECT_EQ(progress.deadline_ns(), no_deadline);
}

TEST_F(ProgressTest, KeepsPathsThatNeedSystemCallsApart) {
    CountedPath memory(-1), socket(7);
    for (CountedPath *path : {&memory, &socket}) progress.paths().add(*path);
    turn(false);
    EXPECT_EQ(memory.polls, 1);
    EXPECT_EQ(memory.most, 64);
    EXPECT_EQ(socket.polls, 0);
    turn(true);
    EXPECT_EQ(memory.polls, 2);
    EXPECT_EQ(socket.polls, 1);

    EXPECT_FALSE(progress.under_way());
    socket.now.io_pending = true;
    EXPECT_TRUE(progress.under_way());
    EXPECT_FALSE(progress.has_unacknowledged());
    socket.now.unacknowledged = true;
    EXPECT_TRUE(progress.has_unacknowledged());
    EXPECT_FALSE(progress.paths().prefer_sleep());
    socket.now.prefers_sleep = true;
    EXPECT_TRUE(progress.paths().prefer_sleep());
    memory.due_ns = 70;
    socket.due_ns = 60;
    EXPECT_EQ(progress.deadline_ns(), 60u);
    progress.paths().prepare_to_sleep(true);
    EXPECT_TRUE(memory.asleep && socket.asleep);

    CountedPath other(8);
    progress.paths().replace(socket, other);
    turn(true);
    EXPECT_EQ(socket.polls, 1);
    EXPECT_EQ(other.polls, 1);
    EXPECT_FALSE(progress.under_way());
}

TEST_F(ProgressTest, CountsWhatIsUnderWay) {
    progress.begin_under_way();
    progress.begin_under_way();
    progress.end_under_way();
    EXPECT_TRUE(progress.under_way());
    progress.end_under_way();
    EXPECT_FALSE(progress.under_way());
}

// TestPace polls once every 8 us, measured in ticks of the processor. Its first few calls of is_due() find
// out how many ticks that is.
TEST_F(ProgressTest, HasSocketsTestedNowAndThen) {
    TestPace pace;
    clock.time_ns = clock_ns();
    EXPECT_TRUE(pace.is_due(progress));
    uint64_t begin_ns = clock_ns(), asked = 0, due = 0;
    while (clock_ns() < begin_ns + 20'000'000) {
        clock.time_ns = clock_ns();
        ++asked;
        due += pace.is_due(progress);
    }
    EXPECT_GT(asked, due);
    EXPECT_GT(due, 1u);
    EXPECT_LE(due, 20'000u / 8 + 100);
}

// Counts the calls that concern batches.
class BatchingPath final : public StubPath {
public:
    BatchingPath() : StubPath(-1, true) {}
    int poll(Sink &, int, uint64_t) override { return 0; }
    void more_follows() override { ++held; }
    void flush() override { ++flushed; }

    int held = 0, flushed = 0;
};

TEST(Batching, LastsUntilAThreadLeavesThatIsInNoSuchCall) {
    PolledPaths paths;
    Batching batching(paths);
    batching.allow(true);
    EXPECT_FALSE(batching.possible());  // no path batches
    BatchingPath path;
    paths.add(path);
    batching.allow(false);
    EXPECT_FALSE(batching.possible());
    batching.allow(true);
    EXPECT_TRUE(batching.possible());
    for (int call = 0; call < 3; ++call) {
        batching.begin();
        batching.leave();
    }
    EXPECT_EQ(path.held, 1);
    EXPECT_EQ(path.flushed, 0);
    batching.leave();
    EXPECT_EQ(path.flushed, 1);
    batching.begin();
    batching.end();
    EXPECT_EQ(path.flushed, 2);
    batching.begin();
    batching.allow(false);  // the helper has ended
    EXPECT_EQ(path.flushed, 3);
    EXPECT_EQ(path.held, 3);
}

}  // namespace
}  // namespace lanyard
