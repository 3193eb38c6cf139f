// Tests every algorithm that the selection offers, by name, for teams whose ranks are on several nodes. All
// ranks are simulated in one process. Results are compared with a simple computation, and messages and bytes
// with the numbers that the algorithm states. Bytes and rounds between nodes must not exceed the stated
// numbers. The number of messages between nodes must be the stated one if the algorithm has two levels, or if
// the nodes are aligned (Crew::aligned) and the team size is a power of two. Team sizes are P = 1..40 in
// release builds.
#include <bit>

#include "algorithm_checks.h"
#include "coll/select.h"
#include "placements.h"

namespace lanyard::testing {
namespace {

// The names of the algorithms that a team may use, except those that use the node area, in the order of
// the selection's estimates.
std::vector<std::string> algorithms(const std::string &operation, const Team &team) {
    std::vector<SelectionRow> rows;
    EXPECT_FALSE(describe_selection(Selection(), operation, crew_of(team), 0, rows));
    std::vector<std::string> names;
    for (const auto &estimate : rows.front().estimates)
        if (estimate.algorithm.rfind("exchange", 0) != 0) names.push_back(estimate.algorithm);
    return names;
}

Selection forced(const std::string &operation, const std::string &algorithm) {
    Selection selection;
    EXPECT_FALSE(parse_selection(operation + "=" + algorithm, selection));
    return selection;
}

struct Case {
    std::string operation, algorithm;
    int size;
    const Placement *placement;
    const Nodes *nodes;
    std::string text() const {
        return operation + "=" + algorithm + " P=" + std::to_string(size) + ", " + placement->name +
               " LANYARD_TEST_SEED=" + std::to_string(seed());
    }
};

// Calls check(case) for every size, placement and algorithm.
template <class Check>
void each_case(const std::string &operation, Check check) {
    for (int size : sizes())
        for (const Placement &placement : placements(size)) {
            auto nodes = placement.nodes();
            Team team;
            team.size = size;
            team.nodes = nodes.get();
            for (const std::string &name : algorithms(operation, team)) {
                check(Case{operation, name, size, &placement, nodes.get()});
                if (::testing::Test::HasFailure()) return;
            }
        }
}

void check_far(const Case &c, const Machine &machine, int64_t bytes, bool exact) {
    Crew crew = crew_of([&] {
        Team team;
        team.size = c.size;
        team.nodes = c.nodes;
        return team;
    }());
    Work work;
    ASSERT_TRUE(find_work(c.operation, c.algorithm, crew, bytes, work)) << c.text();
    const Observed &observed = machine.observed();
    if (exact) {
        EXPECT_EQ(observed.messages, work.messages) << c.text();
        EXPECT_EQ(observed.bytes, work.bytes) << c.text();
    }
    if (!c.nodes) {
        EXPECT_EQ(work.far.messages, 0) << c.text();
        return;
    }
    EXPECT_LE(observed.far_rounds, work.far.rounds + work.far.turns) << c.text();
    // If nodes differ in size, Bruck's algorithm can send the blocks of large nodes more often than those of
    // small nodes, so the stated bytes do not apply.
    if (c.algorithm != "two_level_bruck" || crew.most == crew.fewest) {
        EXPECT_LE(static_cast<double>(observed.busiest_node_bytes), work.far.path_bytes) << c.text();
    }
    if (!exact) return;
    int radix = c.algorithm.ends_with("_8") ? 8 : c.algorithm.ends_with("_4") ? 4 : 2;
    bool by_node = c.algorithm.starts_with("two_level");
    if (by_node || (crew.aligned(radix) && std::has_single_bit(static_cast<unsigned>(c.size)) &&
                    c.algorithm != "scatter_allgather")) {
        EXPECT_EQ(observed.far_messages, work.far.messages) << c.text();
    } else if (crew.aligned(radix)) {
        EXPECT_LE(observed.far_messages, work.far.messages) << c.text();
    }
}

TEST(OverNodes, BarrierHearsOfEveryone) {
    each_case("barrier", [](const Case &c) {
        Machine machine(c.size, seed() + static_cast<uint64_t>(c.size));
        machine.place(c.nodes);
        Selection selection = forced(c.operation, c.algorithm);
        for (int i = 0; i < c.size; ++i)
            make_barrier(selection, machine.rank(i).team, {i, c.size, c.nodes}, machine.rank(i).schedule);
        ASSERT_EQ(machine.run(), "") << c.text();
        for (int i = 0; i < c.size; ++i)
            ASSERT_EQ(machine.heard(i), (uint64_t{1} << c.size) - 1) << c.text() << " rank " << i;
        check_far(c, machine, 0, true);
    });
}

TEST(OverNodes, BcastReachesEveryone) {
    each_case("bcast", [](const Case &c) {
        for (int root : {0, c.size / 2, c.size - 1}) {
            int64_t count = 2 * c.size;
            Machine machine(c.size, seed() + static_cast<uint64_t>(c.size + root));
            machine.place(c.nodes);
            Selection selection = forced(c.operation, c.algorithm);
            for (int i = 0; i < c.size; ++i) {
                Memory data(count, gappy_pair());
                for (int64_t e = 0; i == root && e < count; ++e) data.put(e, value_of(root, e));
                give(machine.rank(i), {}, data);
                BcastShape shape{{i, c.size, c.nodes}, root, {Space::receive, 0, count, data.type}};
                make_bcast(selection, machine.rank(i).team, shape, machine.rank(i).schedule);
            }
            ASSERT_EQ(machine.run(), "") << c.text() << " root " << root;
            for (int i = 0; i < c.size; ++i)
                ASSERT_EQ(machine.rank(i).receive, machine.rank(root).receive)
                    << c.text() << " root " << root;
            ASSERT_EQ(result_of(machine.rank(0), Memory(count, gappy_pair())).get(count - 1),
                      value_of(root, count - 1))
                << c.text();
            // The stated work of scatter_allgather is exact only if the bytes divide evenly into
            // one piece for each node.
            bool pieces = c.algorithm == "two_level_scatter_allgather";
            if (root == 0)
                check_far(c, machine, count * 8,
                          !pieces || c.nodes == nullptr || count * 8 % c.nodes->count() == 0);
        }
    });
}

Pair everything(const Op &op, int size, int64_t element) {
    Pair result = value_of(0, element);
    for (int i = 1; i < size; ++i) result = combine(op, result, value_of(i, element));
    return result;
}

void check_reduction(const Case &c, int root, bool in_place, const Op &op, const Datatype &type,
                     int64_t count) {
    bool to_all = c.operation == "allreduce";
    std::string what = c.text() + " root " + std::to_string(root) + (in_place ? " in place" : "") +
                       (op.commutative ? "" : " ordered");
    Machine machine(c.size, seed() + static_cast<uint64_t>(c.size * 3 + root));
    machine.place(c.nodes);
    Selection selection = forced(c.operation, c.algorithm);
    for (int i = 0; i < c.size; ++i) {
        bool here = in_place && (to_all || i == root);
        Memory own(count, type), result(count, type);
        for (int64_t e = 0; e < count; ++e) (here ? result : own).put(e, value_of(i, e));
        give(machine.rank(i), own, result);
        ReduceShape shape;
        static_cast<Members &>(shape) = {i, c.size, c.nodes};
        shape.root = root;
        shape.op = &op;
        shape.result = {Space::receive, 0, count, &type};
        shape.contribution = {here ? Space::receive : Space::send, 0, count, &type};
        (to_all ? make_allreduce : make_reduce)(selection, machine.rank(i).team, shape,
                                                machine.rank(i).schedule);
    }
    ASSERT_EQ(machine.run(), "") << what;
    for (int i = 0; i < c.size; ++i) {
        if (!to_all && i != root) continue;
        Memory result = result_of(machine.rank(i), Memory(count, type));
        for (int64_t e = 0; e < count; ++e)
            ASSERT_EQ(result.get(e), everything(op, c.size, e)) << what << " rank " << i;
    }
    // The stated work is not exact for halving, which divides evenly only for powers of two. It is not exact
    // for operations that do not commute either, because a root other than 0 then costs one more message.
    bool halving = c.algorithm.find("halving") != std::string::npos;
    if (op.commutative && root == 0 && count == c.size)
        check_far(c, machine, count * 8, !halving && c.algorithm != "two_level_ring");
}

void check_reductions(const std::string &operation) {
    each_case(operation, [](const Case &c) {
        std::vector<int> roots = {0};
        if (c.operation == "reduce") roots = {0, c.size / 2, c.size - 1};
        for (int root : roots) {
            check_reduction(c, root, root % 2 == 0, sum_op(), root % 2 ? gappy_pair() : plain_pair(), c.size);
            check_reduction(c, root, root % 2 == 1, sum_op(), gappy_pair(), 1);
            // If the nodes do not follow the order of the ranks, another algorithm must be chosen for
            // an operation that does not commute. The result would be wrong otherwise.
            check_reduction(c, root, root % 2 == 1, compose_op(), plain_pair(), 3);
            if (::testing::Test::HasFailure()) return;
        }
    });
}

TEST(OverNodes, ReduceIsRightAndInOrder) { check_reductions("reduce"); }
TEST(OverNodes, AllreduceIsRightAndInOrder) { check_reductions("allreduce"); }

// The layout of one block for each rank: even blocks of two elements, or uneven blocks in reverse
// order, with gaps.
struct Blocks {
    std::vector<int64_t> counts, displacements;
    int64_t elements = 0;

    Blocks(int size, bool even) {
        for (int i = 0; i < size; ++i) counts.push_back(even ? 2 : 1 + i % 3);
        displacements.resize(counts.size());
        for (int k = 0; k < size; ++k) {
            auto i = static_cast<size_t>(even ? k : size - 1 - k);
            displacements[i] = elements;
            elements += counts[i] + (even ? 0 : 1);
        }
    }
    Division division(Space space, bool even, const Datatype &type) const {
        return even ? Division::even(space, 2, type)
                    : Division::uneven(space, {counts.data(), 8}, {displacements.data(), 8}, type);
    }
    void fill(Memory &memory, int rank) const {
        for (int64_t e = 0; e < counts[static_cast<size_t>(rank)]; ++e)
            memory.put(displacements[static_cast<size_t>(rank)] + e, value_of(rank, e));
    }
    static Memory of(int rank, int64_t count) {
        Memory memory(count, plain_pair());
        for (int64_t e = 0; e < count; ++e) memory.put(e, value_of(rank, e));
        return memory;
    }
};

MoveShape move_shape(const Case &c, int index, int root, bool in_place, bool even) {
    MoveShape shape;
    static_cast<Members &>(shape) = {index, c.size, c.nodes};
    shape.root = root;
    shape.in_place = in_place;
    shape.even = even;
    return shape;
}

TEST(OverNodes, AllgatherCollectsAllBlocks) {
    each_case("allgather", [](const Case &c) {
        for (bool even : {true, false})
            for (bool in_place : {false, true})
                for (const Datatype *type : {&plain_pair(), &gappy_pair()}) {
                    Blocks blocks(c.size, even);
                    Memory expected(blocks.elements, *type);
                    for (int i = 0; i < c.size; ++i) blocks.fill(expected, i);
                    Machine machine(c.size, seed() + static_cast<uint64_t>(c.size));
                    machine.place(c.nodes);
                    Selection selection = forced(c.operation, c.algorithm);
                    int64_t bytes = 0;
                    for (int64_t count : blocks.counts) bytes += count * 8;
                    for (int i = 0; i < c.size; ++i) {
                        Memory all(blocks.elements, *type),
                            own = Blocks::of(i, blocks.counts[static_cast<size_t>(i)]);
                        if (in_place) blocks.fill(all, i);
                        give(machine.rank(i), own, all);
                        MoveShape shape = move_shape(c, i, 0, in_place, even);
                        if (!in_place)
                            shape.sent = Division::even(Space::send, blocks.counts[static_cast<size_t>(i)],
                                                        plain_pair());
                        shape.received = blocks.division(Space::receive, even, *type);
                        make_allgather(selection, machine.rank(i).team, shape, bytes,
                                       machine.rank(i).schedule);
                    }
                    ASSERT_EQ(machine.run(), "") << c.text();
                    for (int i = 0; i < c.size; ++i)
                        ASSERT_EQ(machine.rank(i).receive, expected.bytes) << c.text() << " rank " << i;
                    if (even) check_far(c, machine, bytes, true);
                }
    });
}

void check_gather(const Case &c, int root, bool in_place, const Datatype &type) {
    Blocks blocks(c.size, true);
    Memory expected(blocks.elements, type);
    for (int i = 0; i < c.size; ++i) blocks.fill(expected, i);
    Machine machine(c.size, seed() + static_cast<uint64_t>(c.size));
    machine.place(c.nodes);
    Selection selection = forced(c.operation, c.algorithm);
    for (int i = 0; i < c.size; ++i) {
        bool here = in_place && i == root;
        Memory all(i == root ? blocks.elements : 0, type);
        if (here) blocks.fill(all, i);
        give(machine.rank(i), Blocks::of(i, 2), all);
        MoveShape shape = move_shape(c, i, root, here, true);
        if (!here) shape.sent = Division::even(Space::send, 2, plain_pair());
        if (i == root) shape.received = blocks.division(Space::receive, true, type);
        make_gather(selection, machine.rank(i).team, shape, 16, machine.rank(i).schedule);
    }
    ASSERT_EQ(machine.run(), "") << c.text();
    ASSERT_EQ(machine.rank(root).receive, expected.bytes) << c.text() << " root " << root;
    if (root == 0)
        check_far(c, machine, 16, c.algorithm != "two_level" || !c.nodes || c.nodes->most == c.nodes->fewest);
}

void check_scatter(const Case &c, int root, bool in_place, const Datatype &type) {
    Blocks blocks(c.size, true);
    Machine machine(c.size, seed() + static_cast<uint64_t>(c.size));
    machine.place(c.nodes);
    Selection selection = forced(c.operation, c.algorithm);
    for (int i = 0; i < c.size; ++i) {
        bool here = in_place && i == root;
        Memory all(i == root ? blocks.elements : 0, type), own(here ? 0 : 2, plain_pair());
        for (int r = 0; i == root && r < c.size; ++r) blocks.fill(all, r);
        give(machine.rank(i), all, own);
        MoveShape shape = move_shape(c, i, root, here, true);
        if (!here) shape.received = Division::even(Space::receive, 2, plain_pair());
        if (i == root) shape.sent = blocks.division(Space::send, true, type);
        make_scatter(selection, machine.rank(i).team, shape, 16, machine.rank(i).schedule);
    }
    ASSERT_EQ(machine.run(), "") << c.text();
    for (int i = 0; i < c.size; ++i) {
        if (in_place && i == root) continue;
        ASSERT_EQ(machine.rank(i).receive, Blocks::of(i, 2).bytes)
            << c.text() << " root " << root << " rank " << i;
    }
    if (root == 0)
        check_far(c, machine, 16, c.algorithm != "two_level" || !c.nodes || c.nodes->most == c.nodes->fewest);
}

TEST(OverNodes, GatherCollectsAtTheRoot) {
    each_case("gather", [](const Case &c) {
        for (int root : {0, c.size / 2, c.size - 1})
            for (const Datatype *type : {&plain_pair(), &gappy_pair()})
                check_gather(c, root, type == &gappy_pair(), *type);
    });
}

TEST(OverNodes, ScatterReachesEveryone) {
    each_case("scatter", [](const Case &c) {
        for (int root : {0, c.size / 2, c.size - 1})
            for (const Datatype *type : {&plain_pair(), &gappy_pair()})
                check_scatter(c, root, type == &gappy_pair(), *type);
    });
}

TEST(Nodes, AreNumberedByTheirLowestMembers) {
    const uint32_t hosts[] = {9, 4, 9, 9, 4, 1};
    auto nodes = find_nodes(hosts, true);
    ASSERT_NE(nodes, nullptr);
    EXPECT_EQ(nodes->node_of, (std::vector<int32_t>{0, 1, 0, 0, 1, 2}));
    EXPECT_EQ(nodes->members, (std::vector<int32_t>{0, 2, 3, 1, 4, 5}));
    EXPECT_EQ(nodes->count(), 3);
    EXPECT_EQ(nodes->most, 3);
    EXPECT_EQ(nodes->fewest, 1);
    EXPECT_FALSE(nodes->runs);
    EXPECT_EQ(find_nodes(std::vector<uint32_t>{5, 5, 5}, true), nullptr);
    EXPECT_EQ(find_nodes(std::vector<uint32_t>{5}, false), nullptr);
}

TEST(Nodes, AreRanksThemselvesWithoutSharedMemory) {
    auto nodes = find_nodes(std::vector<uint32_t>{5, 5, 6}, false);
    ASSERT_NE(nodes, nullptr);
    EXPECT_EQ(nodes->count(), 3);
    EXPECT_EQ(nodes->most, 1);
    EXPECT_EQ(nodes->most_on_host, 2);
    EXPECT_TRUE(nodes->runs);
}

}  // namespace
}  // namespace lanyard::testing
