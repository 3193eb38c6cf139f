// Tests the choice of algorithms. It follows the cost model, can be overridden, and never takes an algorithm
// that must not be used.
#include "coll/select.h"

#include <gtest/gtest.h>

#include <set>

#include "base/abi_constants.h"
#include "coll/shm/node_area.h"
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
    // Returns the schedule of an allreduce. The kinds of steps in it show which algorithm was
    // chosen.
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
            EXPECT_EQ(step.from.bytes(), int64_t{8} << 20);  // recursive doubling sends the whole vector
        }
    }
}

std::vector<SelectionRow> rows_for(const std::string &operation, const Crew &crew, int processors) {
    std::vector<SelectionRow> rows;
    EXPECT_FALSE(describe_selection(Selection(), operation, crew, processors, rows));
    return rows;
}

TEST(Selection, TakesHigherRadixOnlyWhereMessagesAreDear) {
    for (int size = 2; size <= 64; ++size)
        for (int processors : {0, 1, 2, 4})
            for (const SelectionRow &row : rows_for("", size, processors))
                EXPECT_EQ(row.chosen.find("knomial"), std::string::npos)
                    << row.operation << " of " << size << " sharing " << processors;
    EXPECT_EQ(rows_for("bcast", Crew(64, 64), 0).front().chosen, "knomial_4");
    EXPECT_EQ(rows_for("bcast", Crew(8, 8), 0).front().chosen, "knomial_8");
}

TEST(Selection, TakesTwoLevelsForSmallDataOnSeveralNodes) {
    for (const char *operation : {"barrier", "allreduce", "allgather"})
        for (Crew crew : {Crew(8, 2), Crew(64, 8), Crew(10, 3), Crew(512, 16)})
            EXPECT_TRUE(rows_for(operation, crew, 0).front().chosen.starts_with("two_level"))
                << operation << " of " << crew.size;
    // If each node has only one rank, there are no two levels.
    for (const SelectionRow &row : rows_for("", Crew(16, 16), 0))
        for (const auto &estimate : row.estimates)
            EXPECT_FALSE(estimate.algorithm.starts_with("two_level")) << row.operation;
    // If consecutive ranks are on different nodes, a binomial tree crosses the network repeatedly,
    // so an algorithm with two levels is chosen.
    Crew in_turns(64, 8);
    in_turns.runs = false;
    EXPECT_TRUE(rows_for("bcast", in_turns, 0).front().chosen.starts_with("two_level"));
    EXPECT_TRUE(rows_for("reduce", in_turns, 0).front().chosen.starts_with("two_level"));
    EXPECT_EQ(rows_for("allreduce", in_turns, 0).back().chosen, "ring_by_node");
}

TEST(Selection, DependsOnTheNetworksSpeed) {
    Costs slow, fast;
    set_network(slow, 1000);
    set_network(fast, 10'000);
    EXPECT_NEAR(slow.far_byte_ns, 10 * fast.far_byte_ns, 1e-9);
    EXPECT_GT(slow.far_byte_ns, 8);
    Costs unknown;
    set_network(unknown, 0);
    EXPECT_EQ(unknown.far_byte_ns, Costs().far_byte_ns);
    Work work;
    ASSERT_TRUE(find_work("bcast", "two_level", Crew(16, 4), 1 << 20, work));
    EXPECT_GT(estimate_ns(work, slow, Crew(16, 4), 0), 5 * estimate_ns(work, fast, Crew(16, 4), 0));
    EXPECT_FALSE(find_work("bcast", "tree", Crew(16, 4), 1, work));
}

TEST(Selection, IsOverriddenByText) {
    Choice choice(4, 0, true);
    ASSERT_FALSE(parse_selection("allreduce=ring,bcast=binomial", choice.selection));
    EXPECT_EQ(choice.allreduce(1000, *predefined_op(abi::op_sum)).transfers(), 2 * 2 * 3);
    Op op;
    op.commutative = false;  // the ring must then not be used
    EXPECT_LT(choice.allreduce(1000, op).transfers(), 12);
}

TEST(Selection, IsOverriddenFromASizeOn) {
    Choice choice(4, 0, false);
    ASSERT_FALSE(parse_selection("allreduce:1k=ring", choice.selection));
    EXPECT_EQ(choice.allreduce(1024, *predefined_op(abi::op_sum)).transfers(), 2 * 2 * 3);
    EXPECT_LT(choice.allreduce(8, *predefined_op(abi::op_sum)).transfers(), 2 * 2 * 3);
    for (const char *wrong : {"allreduce:=ring", "allreduce:k=ring", "allreduce:1x=ring"}) {
        Error error = parse_selection(wrong, choice.selection);
        ASSERT_TRUE(error) << wrong;
        EXPECT_NE(error.take().sentence.find("no number of bytes"), std::string::npos);
    }
}

TEST(Selection, ExplainsWhatItDoesNotKnow) {
    Selection selection;
    Error error = parse_selection("allreduce=rign", selection);
    ASSERT_TRUE(error);
    EXPECT_EQ(error.take().sentence,
              "LANYARD_COLL=allreduce=rign cannot be used: "
              "\"rign\" is no algorithm for allreduce; known are exchange, exchange_parts, "
              "recursive_doubling, linear, reduce_bcast, halving_doubling, ring, knomial_4, knomial_8, "
              "ring_by_node, two_level, two_level_knomial_4, "
              "two_level_halving_doubling, two_level_ring");
    error = parse_selection("allreduce", selection);
    ASSERT_TRUE(error);
    EXPECT_EQ(
        error.take().sentence,
        "LANYARD_COLL=allreduce cannot be used: \"allreduce\" names no algorithm; write allreduce=ALGORITHM, "
        "'lanyard info --coll' lists them");
    error = parse_selection("allredcue=ring", selection);
    ASSERT_TRUE(error);
    EXPECT_NE(error.take().sentence.find(
                  "cannot be used: \"allredcue\" is no collective operation; known are barrier, "),
              std::string::npos);
}

TEST(Selection, DescribesItself) {
    std::vector<SelectionRow> rows;
    ASSERT_FALSE(describe_selection(Selection(), "", 8, 2, rows));
    std::set<std::string> operations;
    for (const SelectionRow &row : rows) {
        operations.insert(row.operation);
        ASSERT_FALSE(row.estimates.empty());
        EXPECT_EQ(row.chosen, row.estimates.front().algorithm);
        EXPECT_FALSE(row.overridden);
    }
    EXPECT_EQ(operations.size(), static_cast<size_t>(Operation::count_of_them));

    Selection selection;
    ASSERT_FALSE(parse_selection("allreduce:64k=linear", selection));
    rows.clear();
    ASSERT_FALSE(describe_selection(selection, "allreduce", 8, 2, rows));
    EXPECT_EQ(rows.front().chosen, "exchange");
    EXPECT_EQ(rows.back().chosen, "linear");
    EXPECT_EQ(rows.back().from_bytes, 64 << 10);
    EXPECT_TRUE(rows.back().overridden);
    Error error = describe_selection(selection, "allredcue", 8, 2, rows);
    ASSERT_TRUE(error);
    error.discard();
}

}  // namespace
}  // namespace lanyard
