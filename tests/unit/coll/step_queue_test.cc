// The queue decides which steps may start. Whatever the order in which steps are done, each step
// must start once, and after its predecessors. After the queue has been stopped, no further step
// may start. Messages between two ranks that have the same label must start in the same order at both ranks.
#include "coll/step_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/abi_constants.h"
#include "coll/algorithms.h"
#include "datatype/predefined.h"

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

// The steps of a schedule that send to a rank, or receive from it, in the order in which they were added, as
// labels and numbers of bytes.
using Messages = std::vector<std::pair<int, int64_t>>;
Messages messages(const Schedule &schedule, StepKind kind, int peer) {
    Messages found;
    for (const Step &step : schedule.steps())
        if (step.kind == kind && step.peer == peer)
            found.push_back({step.label % max_labels,
                             (kind == StepKind::send ? step.from : step.to).bytes()});
    return found;
}

// Runs the schedule. Ready steps start in the order of the queue, and end in random order.
void expect_equal_labels_start_in_order(const Schedule &schedule, const std::string &what) {
    std::mt19937 random(1);
    StepQueue queue;
    queue.begin(schedule);
    std::vector<StepId> under_way;
    std::map<std::tuple<StepKind, int, int>, StepId> latest;
    while (queue.left() > 0) {
        if (queue.any_ready() && (under_way.empty() || random() % 4)) {
            StepId id = queue.take();
            under_way.push_back(id);
            const Step &step = schedule.steps()[static_cast<size_t>(id)];
            if (step.kind != StepKind::send && step.kind != StepKind::receive) continue;
            auto [place, is_first] = latest.try_emplace({step.kind, step.peer, step.label % max_labels}, id);
            ASSERT_TRUE(is_first || place->second < id) << what << ", step " << id;
            place->second = id;
            continue;
        }
        ASSERT_FALSE(under_way.empty()) << what << ": a deadlock";
        std::swap(under_way[random() % under_way.size()], under_way.back());
        queue.done(under_way.back());
        under_way.pop_back();
    }
}

// These algorithms number their messages by rounds, and here there are more rounds than labels.
TEST(StepQueue, MessagesWithEqualLabelsStartInTheOrderOfTheRounds) {
    constexpr int size = max_labels + 500;
    const Datatype &type = *predefined_datatype(abi::type_uint8_t);
    std::vector<int32_t> everyone(size);
    std::iota(everyone.begin(), everyone.end(), 0);
    using Write = void (*)(int index, const Datatype &, const int32_t *members, Schedule &);
    const std::pair<const char *, Write> all[] = {
        {"allreduce_ring",
         [](int index, const Datatype &bytes, const int32_t *, Schedule &schedule) {
             ReduceShape shape;
             shape.index = index;
             shape.size = size;
             shape.contribution = {Space::send, 0, 2 * size + 7, &bytes};
             shape.result = {Space::receive, 0, 2 * size + 7, &bytes};
             shape.op = predefined_op(abi::op_sum);
             allreduce_ring(shape, schedule);
         }},
        {"bcast_scatter_allgather",
         [](int index, const Datatype &bytes, const int32_t *, Schedule &schedule) {
             bcast_scatter_allgather({{index, size}, 0, {Space::receive, 0, 2 * size - 7, &bytes}}, schedule);
         }},
        // An inner phase, whose first steps all become ready at once.
        {"allgather_ring behind a gate",
         [](int index, const Datatype &bytes, const int32_t *members, Schedule &schedule) {
             MoveShape shape;
             shape.index = index;
             shape.size = size;
             shape.received = Division::even(Space::receive, 1, bytes);
             shape.in_place = true;
             StepId gate = schedule.await_signal((index + 2) % size, {});
             schedule.enter(members, gate);
             allgather_ring(shape, schedule);
             schedule.leave();
         }}};
    for (const auto &[name, write] : all)
        for (int index : {0, 1, 512, size - 1}) {
            Schedule schedule, of_right;
            write(index, type, everyone.data(), schedule);
            write((index + 1) % size, type, everyone.data(), of_right);
            std::string what = name + (" of rank " + std::to_string(index));
            EXPECT_EQ(messages(schedule, StepKind::send, (index + 1) % size),
                      messages(of_right, StepKind::receive, index))
                << what;
            expect_equal_labels_start_in_order(schedule, what);
            if (HasFatalFailure()) return;
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
