// The queue decides which steps may start. Whatever the order in which steps are done, each step
// must start once, and after its predecessors. After the queue has been stopped, no further step
// may start.
#include "coll/step_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace lanyard {
namespace {

// A first step, two steps that depend on it, and a last step that depends on these two.
Schedule diamond() {
    Schedule schedule;
    StepId first = schedule.signal(1, {});
    StepId left = schedule.await_signal(1, first), right = schedule.await_signal(2, first);
    schedule.signal(2, {left, right});
    return schedule;
}

TEST(StepQueue, AStepIsReadyWhenThoseBeforeItAreDone) {
    Schedule schedule = diamond();
    StepQueue queue;
    for (int turn = 0; turn < 2; ++turn) {
        queue.begin(schedule);
        EXPECT_EQ(queue.left(), 4);
        ASSERT_TRUE(queue.any_ready());
        EXPECT_EQ(queue.next(), 0);
        EXPECT_EQ(queue.take(), 0);
        EXPECT_FALSE(queue.any_ready());
        EXPECT_TRUE(queue.is_under_way(0));
        queue.done(0);
        EXPECT_FALSE(queue.is_under_way(0));
        EXPECT_EQ(queue.take() + queue.take(), 1 + 2);  // steps 1 and 2, in either order
        queue.done(2);
        EXPECT_FALSE(queue.any_ready());
        queue.done(1);
        EXPECT_EQ(queue.take(), 3);
        queue.done(3);
        EXPECT_FALSE(queue.any_ready());
        EXPECT_EQ(queue.left(), 0);
    }
}

TEST(StepQueue, RandomSchedulesAreDoneInOrder) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        Schedule schedule;
        std::vector<std::vector<StepId>> before;
        for (StepId id = 0; id < 60; ++id) {
            std::vector<StepId> after;
            for (StepId earlier = 0; earlier < id; ++earlier)
                if (random() % 10 == 0) after.push_back(earlier);
            schedule.signal(1, after);
            before.push_back(after);
        }
        ASSERT_EQ(schedule.steps().size(), 60u);
        StepQueue queue;
        queue.begin(schedule);
        std::vector<StepId> under_way;
        std::vector<bool> done(60, false);
        while (queue.left() > 0) {
            if (queue.any_ready() && (under_way.empty() || random() % 2)) {
                under_way.push_back(queue.take());
                for (StepId earlier : before[static_cast<size_t>(under_way.back())])
                    EXPECT_TRUE(done[static_cast<size_t>(earlier)]);
                continue;
            }
            ASSERT_FALSE(under_way.empty());
            std::swap(under_way[random() % under_way.size()], under_way.back());
            queue.done(under_way.back());
            done[static_cast<size_t>(under_way.back())] = true;
            under_way.pop_back();
        }
        EXPECT_TRUE(under_way.empty());
        EXPECT_EQ(std::count(done.begin(), done.end(), true), 60);
    }
}

TEST(StepQueue, OnlyWhatHasBeenStartedIsLeftOnceStopped) {
    Schedule schedule;
    for (int i = 0; i < 4; ++i) schedule.signal(1, {});
    schedule.signal(1, StepId{0});
    StepQueue queue;
    queue.begin(schedule);
    for (StepId id : {0, 1, 2}) EXPECT_EQ(queue.take(), id);
    queue.stop();
    EXPECT_FALSE(queue.any_ready());  // although step 3 was ready
    queue.done(0);
    queue.leave_the_rest({1});
    EXPECT_EQ(queue.left(), 1);
    EXPECT_TRUE(queue.is_under_way(2));
    for (StepId id : {0, 1, 3, 4}) EXPECT_FALSE(queue.is_under_way(id)) << id;
    queue.done(2);
    EXPECT_EQ(queue.left(), 0);
    queue.resume();
    queue.begin(schedule);
    EXPECT_EQ(queue.left(), 5);
    EXPECT_EQ(queue.take(), 0);
}

TEST(StepQueue, TheOnlyStepMayHaveBeenStarted) {
    Schedule schedule;
    schedule.exchange({});
    StepQueue queue;
    queue.begin_started(schedule);
    EXPECT_FALSE(queue.any_ready());
    EXPECT_TRUE(queue.is_under_way(0));
    queue.done(0);
    EXPECT_EQ(queue.left(), 0);
}

}  // namespace
}  // namespace lanyard
