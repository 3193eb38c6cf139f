// Tests the barrier and every algorithm that moves data. All ranks are simulated in one process, and
// events happen in random order. The tests check the contents of all buffers, and compare the numbers of
// messages, bytes and rounds with those that the algorithm states. Team sizes are P = 1..40 in release
// builds, and some of these with sanitizers.
#include <functional>

#include "algorithm_checks.h"

namespace lanyard::testing {
namespace {

TEST(Barrier, EveryoneWaitsForEveryone) {
    for (int size : sizes()) {
        for (bool exchange : {false, true}) {
            if (exchange && size == 1) continue;  // a team of one rank has no node area
            Machine machine(size, seed(), exchange ? shared_for(size, 0) : Machine::Shares::nothing);
            for (int i = 0; i < size; ++i)
                (exchange ? barrier_exchange : barrier_dissemination)(Members{i, size},
                                                                      machine.rank(i).schedule);
            ASSERT_EQ(machine.run(), "") << size;
            if (exchange) continue;
            for (int i = 0; i < size; ++i)
                ASSERT_EQ(machine.heard(i), (uint64_t{1} << size) - 1) << "P=" << size << " rank " << i;
            check_work(machine, barrier_dissemination_work, size, 0, "barrier");
            if (size > 1) {
                EXPECT_EQ(machine.observed().rounds, doublings(size));
            }
        }
    }
}

TEST(Bcast, EveryoneHasTheRootsData) {
    const Algorithm<BcastShape> all[] = {
        {"binomial", bcast_binomial, bcast_binomial_work},
        {"scatter_allgather", bcast_scatter_allgather, bcast_scatter_allgather_work},
        {"knomial_3", of_radix<bcast_knomial, 3>, of_radix_work<bcast_knomial_work, 3>},
        {"knomial_8", of_radix<bcast_knomial, 8>, of_radix_work<bcast_knomial_work, 8>},
        {"exchange", bcast_exchange, nullptr, false, true}};
    for (const auto &algorithm : all)
        for (int size : sizes())
            for (const Datatype *type : datatypes())
                for (int64_t count : counts_with_long(algorithm.needs_area, size))
                    for (int root : {0, size / 2, size - 1}) {
                        std::string what = describe(algorithm.name, size, count, *type, false, root);
                        if (algorithm.needs_area && (count == 0 || size == 1)) continue;
                        Machine machine(
                            size, seed() + static_cast<uint64_t>(size),
                            algorithm.needs_area ? shared_for(size, count * 8) : Machine::Shares::nothing);
                        for (int i = 0; i < size; ++i) {
                            Memory data(count, *type);
                            // Every second rank uses a datatype with another layout. This is allowed,
                            // because only the data must agree.
                            if (i % 2) data = Memory(count, plain_pair());
                            for (int64_t e = 0; i == root && e < count; ++e) data.put(e, value_of(root, e));
                            give(machine.rank(i), {}, data);
                            algorithm.make({{i, size}, root, {Space::receive, 0, count, data.type}},
                                           machine.rank(i).schedule);
                        }
                        ASSERT_EQ(machine.run(), "") << what;
                        for (int i = 0; i < size; ++i) {
                            Memory expected(count, i % 2 ? plain_pair() : *type);
                            for (int64_t e = 0; e < count; ++e) expected.put(e, value_of(root, e));
                            ASSERT_EQ(machine.rank(i).receive, expected.bytes) << what << " rank " << i;
                        }
                        if (algorithm.work && count > 0)
                            check_work(machine, algorithm.work, size, count * 8, what);
                    }
}

// The layout of one block for each rank. Each block has `each` elements. If `each` is -1, the blocks
// have different lengths and are in reverse order, with gaps.
struct Layout {
    std::vector<int64_t> counts, displacements;
    int64_t elements = 0;

    Layout(int size, int64_t each, int salt)
        : counts(static_cast<size_t>(size)), displacements(static_cast<size_t>(size)) {
        for (int i = 0; i < size; ++i)
            counts[static_cast<size_t>(i)] = each >= 0 ? each : block_length(salt, i);
        for (int k = 0; k < size; ++k) {
            auto i = static_cast<size_t>(each >= 0 ? k : size - 1 - k);
            displacements[i] = elements;
            elements += counts[i] + (each >= 0 ? 0 : 1);
        }
    }
    static int64_t block_length(int from, int to) { return (from + to) % 3; }
    Division division(Space space, int64_t each, const Datatype &type) const {
        return each >= 0 ? Division::even(space, each, type)
                         : Division::uneven(space, {counts.data(), 8}, {displacements.data(), 8}, type);
    }
};

// The value of element i that rank `from` sends to rank `to`.
Pair sent_value(int from, int to, int64_t i) { return value_of(from * 100 + to, i); }

using MoveCheck = std::function<void(const Algorithm<MoveShape> &, int size, const Datatype &type,
                                     int64_t each, int root, bool in_place)>;

void check_moves(const std::vector<Algorithm<MoveShape>> &all, bool rooted, const MoveCheck &check) {
    for (const auto &algorithm : all)
        for (int size : sizes())
            for (const Datatype *type : datatypes())
                for (int64_t each : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{4}, long_count})
                    for (bool in_place : {false, true})
                        for (int root : {0, size - 1}) {
                            if (algorithm.even_only && each < 0) continue;
                            if (each == long_count && !(algorithm.needs_area && takes_long_counts(size)))
                                continue;
                            // The library does not use the node area for empty blocks or for one
                            // rank.
                            if (algorithm.needs_area && (each == 0 || size == 1)) continue;
                            if (!rooted && root != 0) continue;
                            check(algorithm, size, *type, each, root, in_place);
                            if (::testing::Test::HasFatalFailure()) return;
                        }
}

// Uneven blocks through the node area require that ranks read each other's memory. No rank knows the sizes of
// all blocks, so no rank can know whether all of them fit into slots.
Machine::Shares shares_of(const Algorithm<MoveShape> &algorithm, int size, int64_t each, bool for_each) {
    if (!algorithm.needs_area) return Machine::Shares::nothing;
    return each < 0 ? Machine::Shares::memory : shared_for(size, each * 8, for_each);
}

MoveShape shape_of(int index, int size, int root, bool in_place, int64_t each) {
    MoveShape shape;
    shape.index = index;
    shape.size = size;
    shape.root = root;
    shape.in_place = in_place;
    shape.even = each >= 0;
    return shape;
}

TEST(Gather, RootHasAllBlocks) {
    auto check = [](const Algorithm<MoveShape> &algorithm, int size, const Datatype &type, int64_t each,
                    int root, bool in_place) {
        std::string what = describe(algorithm.name, size, each, type, in_place, root);
        Machine machine(size, seed() + static_cast<uint64_t>(size), shares_of(algorithm, size, each, false));
        Layout layout(size, each, root);
        Memory expected(layout.elements, type);
        for (int i = 0; i < size; ++i) {
            auto at = static_cast<size_t>(i);
            bool here = in_place && i == root;
            Memory own(layout.counts[at], plain_pair()), all(i == root ? layout.elements : 0, type);
            for (int64_t e = 0; e < layout.counts[at]; ++e) {
                own.put(e, sent_value(i, root, e));
                expected.put(layout.displacements[at] + e, sent_value(i, root, e));
                if (here) all.put(layout.displacements[at] + e, sent_value(i, root, e));
            }
            give(machine.rank(i), own, all);
            MoveShape shape = shape_of(i, size, root, here, each);
            if (!here) shape.sent = Division::even(Space::send, layout.counts[at], plain_pair());
            if (i == root) shape.received = layout.division(Space::receive, each, type);
            algorithm.make(shape, machine.rank(i).schedule);
        }
        ASSERT_EQ(machine.run(), "") << what;
        ASSERT_EQ(machine.rank(root).receive, expected.bytes) << what;
        if (each > 0 && algorithm.work) check_work(machine, algorithm.work, size, each * 8, what);
    };
    check_moves({{"exchange", gather_exchange, nullptr, false, true},
                 {"linear", gather_linear, gather_linear_work},
                 {"binomial", gather_binomial, gather_binomial_work, false, false, true},
                 {"knomial_2", of_radix<gather_knomial, 2>, gather_binomial_work, false, false, true},
                 {"knomial_5", of_radix<gather_knomial, 5>, of_radix_work<gather_knomial_work, 5>, false,
                  false, true}},
                true, check);
}

TEST(Scatter, EveryoneHasItsBlock) {
    auto check = [](const Algorithm<MoveShape> &algorithm, int size, const Datatype &type, int64_t each,
                    int root, bool in_place) {
        std::string what = describe(algorithm.name, size, each, type, in_place, root);
        Machine machine(size, seed() + static_cast<uint64_t>(size), shares_of(algorithm, size, each, true));
        Layout layout(size, each, root);
        for (int i = 0; i < size; ++i) {
            bool here = in_place && i == root;
            Memory all(i == root ? layout.elements : 0, type),
                own(here ? 0 : layout.counts[static_cast<size_t>(i)], plain_pair());
            for (int to = 0; i == root && to < size; ++to)
                for (int64_t e = 0; e < layout.counts[static_cast<size_t>(to)]; ++e)
                    all.put(layout.displacements[static_cast<size_t>(to)] + e, sent_value(root, to, e));
            give(machine.rank(i), all, own);
            MoveShape shape = shape_of(i, size, root, here, each);
            if (!here)
                shape.received =
                    Division::even(Space::receive, layout.counts[static_cast<size_t>(i)], plain_pair());
            if (i == root) shape.sent = layout.division(Space::send, each, type);
            algorithm.make(shape, machine.rank(i).schedule);
        }
        ASSERT_EQ(machine.run(), "") << what;
        for (int i = 0; i < size; ++i) {
            int64_t count = in_place && i == root ? 0 : layout.counts[static_cast<size_t>(i)];
            Memory expected(count, plain_pair());
            for (int64_t e = 0; e < count; ++e) expected.put(e, sent_value(root, i, e));
            ASSERT_EQ(machine.rank(i).receive, expected.bytes) << what << " rank " << i;
        }
        if (each > 0 && algorithm.work) check_work(machine, algorithm.work, size, each * 8, what);
    };
    check_moves({{"exchange", scatter_exchange, nullptr, false, true},
                 {"linear", scatter_linear, scatter_linear_work},
                 {"binomial", scatter_binomial, scatter_binomial_work, false, false, true},
                 {"knomial_3", of_radix<scatter_knomial, 3>, of_radix_work<scatter_knomial_work, 3>, false,
                  false, true}},
                true, check);
}

TEST(Allgather, EveryoneHasAllBlocks) {
    auto check = [](const Algorithm<MoveShape> &algorithm, int size, const Datatype &type, int64_t each, int,
                    bool in_place) {
        std::string what = describe(algorithm.name, size, each, type, in_place, 0);
        if (algorithm.needs_area && each == 0) return;
        Machine machine(size, seed() + static_cast<uint64_t>(size), shares_of(algorithm, size, each, false));
        Layout layout(size, each, 1);
        Memory expected(layout.elements, type);
        for (int i = 0; i < size; ++i)
            for (int64_t e = 0; e < layout.counts[static_cast<size_t>(i)]; ++e)
                expected.put(layout.displacements[static_cast<size_t>(i)] + e, sent_value(i, 0, e));
        for (int i = 0; i < size; ++i) {
            int64_t count = layout.counts[static_cast<size_t>(i)];
            Memory own(count, plain_pair()), all(layout.elements, type);
            for (int64_t e = 0; e < count; ++e) {
                own.put(e, sent_value(i, 0, e));
                if (in_place) all.put(layout.displacements[static_cast<size_t>(i)] + e, sent_value(i, 0, e));
            }
            give(machine.rank(i), own, all);
            MoveShape shape = shape_of(i, size, 0, in_place, each);
            if (!in_place) shape.sent = Division::even(Space::send, count, plain_pair());
            shape.received = layout.division(Space::receive, each, type);
            algorithm.make(shape, machine.rank(i).schedule);
        }
        ASSERT_EQ(machine.run(), "") << what;
        for (int i = 0; i < size; ++i)
            ASSERT_EQ(machine.rank(i).receive, expected.bytes) << what << " rank " << i;
        if (algorithm.work && each > 0) check_work(machine, algorithm.work, size, each * 8 * size, what);
    };
    check_moves({{"bruck", allgather_bruck, allgather_bruck_work},
                 {"ring", allgather_ring, allgather_ring_work},
                 {"exchange", allgather_exchange, nullptr, false, true}},
                false, check);
}

TEST(Alltoall, EveryoneHasABlockOfEveryone) {
    auto check = [](const Algorithm<MoveShape> &algorithm, int size, const Datatype &type, int64_t each, int,
                    bool in_place) {
        std::string what = describe(algorithm.name, size, each, type, in_place, 0);
        // if all ranks know that their blocks are empty, the library starts no operation
        if (each == 0 && algorithm.even_only) return;
        Machine machine(size, seed() + static_cast<uint64_t>(size), shares_of(algorithm, size, each, true));
        std::vector<Memory> expected;
        std::vector<Layout> layouts;
        for (int i = 0; i < size; ++i) layouts.emplace_back(size, each, i);
        for (int i = 0; i < size; ++i) {
            const Layout &layout = layouts[static_cast<size_t>(i)];
            Memory out(in_place ? 0 : layout.elements, plain_pair()), in(layout.elements, type),
                wanted(layout.elements, type);
            for (int other = 0; other < size; ++other) {
                auto at = static_cast<size_t>(other);
                for (int64_t e = 0; e < layout.counts[at]; ++e) {
                    (in_place ? in : out).put(layout.displacements[at] + e, sent_value(i, other, e));
                    wanted.put(layout.displacements[at] + e, sent_value(other, i, e));
                }
            }
            expected.push_back(wanted);
            give(machine.rank(i), out, in);
            MoveShape shape = shape_of(i, size, 0, in_place, each);
            if (!in_place) shape.sent = layout.division(Space::send, each, plain_pair());
            shape.received = layout.division(Space::receive, each, type);
            algorithm.make(shape, machine.rank(i).schedule);
        }
        ASSERT_EQ(machine.run(), "") << what;
        for (int i = 0; i < size; ++i)
            ASSERT_EQ(machine.rank(i).receive, expected[static_cast<size_t>(i)].bytes)
                << what << " rank " << i;
        if (each > 0 && algorithm.work) check_work(machine, algorithm.work, size, each * 8, what);
    };
    check_moves({{"exchange", alltoall_exchange, nullptr, false, true},
                 {"pairwise", alltoall_pairwise, alltoall_pairwise_work},
                 {"bruck", alltoall_bruck, alltoall_bruck_work, false, false, true}},
                false, check);
}

}  // namespace
}  // namespace lanyard::testing
