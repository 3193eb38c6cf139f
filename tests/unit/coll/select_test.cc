// The choice of algorithms: it follows the model, can be overridden, and is never one that must not be used.
#include "coll/select.h"

#include <gtest/gtest.h>

#include "base/abi_constants.h"
#include "coll/node_area.h"
#include "datatype/predefined.h"

namespace lanyard {
namespace {

struct Choice {
    Selection selection;
    Team team;
    std::vector<std::byte> area;

    explicit Choice(int size, int processors, bool on_one_node) {
        team.size = size;
        team.processors = processors;
        if (!on_one_node) return;
        area.resize(node_area_bytes(size));
        team.node_area = area.data();
        team.node_area_bytes = area.size();
    }
    // The kinds of steps tell which algorithm it was.
    Schedule allreduce(int64_t count, const Op &op) {
        const Datatype &type = *predefined_datatype(abi::type_double);
        ReduceShape shape;
        shape.size = team.size;
        shape.contribution = {Space::send, 0, count, &type};
        shape.result = {Space::receive, 0, count, &type};
        shape.op = &op;
        Schedule schedule;
        make_allreduce(selection, team, shape, schedule);
        return schedule;
    }
};

TEST(Selection, SmallDataOnOneNodeGoesThroughTheArea) {
    Choice choice(8, 2, true);
    EXPECT_EQ(choice.allreduce(1, *predefined_op(abi::op_sum)).exchanges().size(), 1u);
    EXPECT_EQ(choice.allreduce(100'000, *predefined_op(abi::op_sum)).exchanges().size(), 0u);
}

TEST(Selection, LargeDataIsNotSentWhole) {
    Choice choice(16, 0, false);
    int64_t largest = 0;
    Schedule schedule = choice.allreduce(1 << 20, *predefined_op(abi::op_sum));
    for (const Step &step : schedule.steps())
        if (step.kind == StepKind::send) largest = std::max(largest, step.from.bytes());
    EXPECT_LT(largest, int64_t{8} << 20);
    EXPECT_GT(largest, 0);
}

TEST(Selection, OrderIsKeptWhereTheOperationAsksForIt) {
    Op op;
    op.commutative = false;
    Choice choice(16, 0, false);
    Schedule schedule = choice.allreduce(1 << 20, op);
    for (const Step &step : schedule.steps()) {
        if (step.kind == StepKind::send) {
            EXPECT_EQ(step.from.bytes(), int64_t{8} << 20);  // recursive doubling
        }
    }
}

TEST(Selection, IsOverriddenByText) {
    Choice choice(4, 0, true);
    ASSERT_FALSE(parse_selection("allreduce=ring,bcast=binomial", choice.selection));
    EXPECT_EQ(choice.allreduce(1000, *predefined_op(abi::op_sum)).transfers(), 2 * 2 * 3);
    Op op;
    op.commutative = false;  // the ring may not be used
    EXPECT_LT(choice.allreduce(1000, op).transfers(), 12);
}

TEST(Selection, ExplainsWhatItDoesNotKnow) {
    Selection selection;
    Error error = parse_selection("allreduce=rign", selection);
    ASSERT_TRUE(error);
    EXPECT_EQ(error.take().sentence,
              "\"rign\" is no algorithm for allreduce; known are exchange, recursive_doubling, linear, reduce_bcast, halving_doubling, ring");
    error = parse_selection("allredcue=ring", selection);
    ASSERT_TRUE(error);
    EXPECT_EQ(error.take().sentence.rfind("\"allredcue\" is no collective operation; known are barrier, ", 0), 0u);
}

TEST(Selection, DescribesItself) {
    std::string text = describe_selection(Selection(), 8, 2, true);
    EXPECT_NE(text.find("allreduce        from          0 bytes: exchange"), std::string::npos) << text;
    for (const char *name : {"barrier", "bcast", "reduce_scatter", "exscan"}) EXPECT_NE(text.find(name), std::string::npos);
}

}  // namespace
}  // namespace lanyard
