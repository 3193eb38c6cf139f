// Every algorithm, all ranks in one process (machine.h), in random order, against a plain computation; and what the
// algorithm says of its messages, bytes and rounds. P = 1..40 in release builds, some of them with sanitizers.
// The seed is printed on failure; LANYARD_TEST_SEED sets it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>

#include "coll/algorithms.h"
#include "elements.h"
#include "machine.h"

namespace lanyard::testing {
namespace {

uint64_t seed() {
    const char *text = std::getenv("LANYARD_TEST_SEED");
    return text ? std::strtoull(text, nullptr, 10) : 20260;
}

std::vector<int> sizes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return {1, 2, 3, 4, 5, 7, 8, 12, 16, 23};
#else
    std::vector<int> all(40);
    std::iota(all.begin(), all.end(), 1);
    return all;
#endif
}

constexpr size_t area_bytes_per_rank = 64 + 4 * 1088;
size_t area_bytes(int size) { return 64 + static_cast<size_t>(size) * area_bytes_per_rank; }

// The program's memory for some elements of a datatype, beginning at `origin` in `bytes`, filled with a pattern.
struct Memory {
    std::vector<std::byte> bytes;
    int64_t origin = 0;
    const Datatype *type = nullptr;

    Memory() = default;
    Memory(int64_t count, const Datatype &t) : type(&t) {
        int64_t span = count > 0 ? t.true_extent + (count - 1) * std::abs(t.extent) : 0;
        bytes.assign(static_cast<size_t>(span), std::byte{0xEE});
        origin = (t.extent < 0 && count > 0 ? (count - 1) * -t.extent : 0) - t.true_lower_bound;
    }
    void put(int64_t i, Pair pair) {
        std::byte *at = bytes.data() + origin + i * type->extent;
        bool gaps = type == &gappy_pair();
        std::memcpy(at + (gaps ? 4 : 0), &pair.a, 4);
        std::memcpy(at + (gaps ? 12 : 4), &pair.b, 4);
    }
    Pair get(int64_t i) const {
        const std::byte *at = bytes.data() + origin + i * type->extent;
        bool gaps = type == &gappy_pair();
        Pair pair;
        std::memcpy(&pair.a, at + (gaps ? 4 : 0), 4);
        std::memcpy(&pair.b, at + (gaps ? 12 : 4), 4);
        return pair;
    }
};

// What rank `rank` contributes as element i.
Pair value_of(int rank, int64_t i) {
    return {static_cast<uint32_t>(rank * 7919 + i * 104729 + 3), static_cast<uint32_t>(rank * 31 + i * 17 + 1)};
}

void give(Machine::Rank &rank, const Memory &send, const Memory &receive) {
    rank.send = send.bytes;
    rank.send_origin = send.origin;
    rank.receive = receive.bytes;
    rank.receive_origin = receive.origin;
}

Memory result_of(const Machine::Rank &rank, const Memory &like) {
    Memory memory = like;
    memory.bytes = rank.receive;
    return memory;
}

using WorkOf = Work (*)(int, int64_t);

// Exact where blocks divide evenly and are not empty.
void check_work(const Machine &machine, WorkOf work_of, int size, int64_t bytes, const std::string &what) {
    Work work = work_of(size, bytes);
    EXPECT_EQ(machine.observed().messages, work.messages) << what;
    EXPECT_EQ(machine.observed().bytes, work.bytes) << what;
    EXPECT_LE(machine.observed().rounds, work.rounds) << what;
}

std::string describe(const char *name, int size, int64_t count, const Datatype &type, bool in_place, int root) {
    return std::string(name) + " P=" + std::to_string(size) + " count=" + std::to_string(count) +
           (&type == &plain_pair() ? " plain" : &type == &gappy_pair() ? " gappy" : " backward") + (in_place ? " in place" : "") +
           " root=" + std::to_string(root) + " LANYARD_TEST_SEED=" + std::to_string(seed());
}

const std::vector<const Datatype *> &datatypes() {
    static const std::vector<const Datatype *> all{&plain_pair(), &gappy_pair(), &back_pair()};
    return all;
}

template <class Shape>
struct Algorithm {
    const char *name;
    void (*make)(const Shape &, Schedule &);
    WorkOf work;
    bool commutative_only = false;
    bool needs_area = false;
    bool even_only = false;
};

// Which counts: empty, fewer elements than ranks, and many that divide evenly.
std::vector<int64_t> counts_for(int size) { return {0, 1, 3, int64_t{size} * 4, int64_t{size} * 3 + 2}; }

// ---------------------------------------------------------------------------------------------------------- barrier

TEST(Barrier, EveryoneWaitsForEveryone) {
    for (int size : sizes()) {
        for (bool exchange : {false, true}) {
            Machine machine(size, seed(), area_bytes(size));
            for (int i = 0; i < size; ++i)
                (exchange ? barrier_exchange : barrier_dissemination)(Members{i, size}, machine.rank(i).schedule);
            ASSERT_EQ(machine.run(), "") << size;
            if (exchange) continue;
            check_work(machine, barrier_dissemination_work, size, 0, "barrier");
            if (size > 1) {
                EXPECT_EQ(machine.observed().rounds, doublings(size));
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ bcast

TEST(Bcast, EveryoneHasTheRootsData) {
    const Algorithm<BcastShape> all[] = {{"binomial", bcast_binomial, bcast_binomial_work},
                                         {"scatter_allgather", bcast_scatter_allgather, bcast_scatter_allgather_work},
                                         {"exchange", bcast_exchange, nullptr, false, true}};
    for (const auto &algorithm : all)
        for (int size : sizes())
            for (const Datatype *type : datatypes())
                for (int64_t count : counts_for(size))
                    for (int root : {0, size / 2, size - 1}) {
                        std::string what = describe(algorithm.name, size, count, *type, false, root);
                        if (algorithm.needs_area && (count * 8 > 1072 || count == 0)) continue;
                        Machine machine(size, seed() + static_cast<uint64_t>(size), area_bytes(size));
                        for (int i = 0; i < size; ++i) {
                            Memory data(count, *type);
                            // Another layout on every second rank: only the bytes must agree.
                            if (i % 2) data = Memory(count, plain_pair());
                            for (int64_t e = 0; i == root && e < count; ++e) data.put(e, value_of(root, e));
                            give(machine.rank(i), {}, data);
                            algorithm.make({{i, size}, root, {Space::receive, 0, count, data.type}}, machine.rank(i).schedule);
                        }
                        ASSERT_EQ(machine.run(), "") << what;
                        for (int i = 0; i < size; ++i) {
                            Memory expected(count, i % 2 ? plain_pair() : *type);
                            for (int64_t e = 0; e < count; ++e) expected.put(e, value_of(root, e));
                            ASSERT_EQ(machine.rank(i).receive, expected.bytes) << what << " rank " << i;
                        }
                        if (algorithm.work && count > 0) check_work(machine, algorithm.work, size, count * 8, what);
                    }
}

// ------------------------------------------------------------------------------------------------------- reductions

enum class Kind { reduce, allreduce, scan, exscan };

bool has_result(Kind kind, int rank, int root) {
    return kind == Kind::reduce ? rank == root : kind == Kind::exscan ? rank > 0 : true;
}

Pair expected_reduction(Kind kind, const Op &op, int rank, int size, int64_t element) {
    int last = kind == Kind::scan ? rank : kind == Kind::exscan ? rank - 1 : size - 1;
    Pair result = value_of(0, element);
    for (int i = 1; i <= last; ++i) result = combine(op, result, value_of(i, element));
    return result;
}

void check_reduction(Kind kind, const Algorithm<ReduceShape> &algorithm, int size, const Datatype &type, int64_t count, int root,
                     bool in_place, const Op &op, bool exact_work) {
    std::string what = describe(algorithm.name, size, count, type, in_place, root) + (op.commutative ? "" : " ordered");
    Machine machine(size, seed() + static_cast<uint64_t>(size * 3 + root), area_bytes(size));
    std::vector<Memory> before(static_cast<size_t>(size));
    for (int i = 0; i < size; ++i) {
        bool here = in_place && (kind != Kind::reduce || i == root);
        Memory own(count, type), result(count, type);
        for (int64_t e = 0; e < count; ++e) (here ? result : own).put(e, value_of(i, e));
        before[static_cast<size_t>(i)] = result;
        give(machine.rank(i), own, result);
        ReduceShape shape;
        shape.index = i;
        shape.size = size;
        shape.root = root;
        shape.op = &op;
        shape.result = {Space::receive, 0, count, &type};
        shape.contribution = {here ? Space::receive : Space::send, 0, count, &type};
        algorithm.make(shape, machine.rank(i).schedule);
    }
    ASSERT_EQ(machine.run(), "") << what;
    for (int i = 0; i < size; ++i) {
        Memory expected = before[static_cast<size_t>(i)];
        for (int64_t e = 0; has_result(kind, i, root) && e < count; ++e)
            expected.put(e, expected_reduction(kind, op, i, size, e));
        ASSERT_EQ(machine.rank(i).receive, expected.bytes) << what << " rank " << i;
    }
    if (algorithm.work && exact_work && count > 0 && count % size == 0) check_work(machine, algorithm.work, size, count * 8, what);
}

void check_reductions(Kind kind, const std::vector<Algorithm<ReduceShape>> &all) {
    for (const auto &algorithm : all)
        for (int size : sizes())
            for (const Datatype *type : datatypes())
                for (int64_t count : counts_for(size))
                    for (const Op *op : {&sum_op(), &compose_op()})
                        for (bool in_place : {false, true})
                            for (int root : {0, size - 1}) {
                                if (algorithm.commutative_only && !op->commutative) continue;
                                if (algorithm.needs_area && (type != &plain_pair() || count * 8 > 1072)) continue;
                                if (kind != Kind::reduce && root != 0) continue;
                                // Parts per rank divide evenly for a power of two; halving to a represented root sends a part more.
                                bool power = power_of_two_below(size) == size;
                                bool exact = algorithm.commutative_only ? power || algorithm.make == allreduce_ring
                                                                        : op->commutative || root == 0;
                                check_reduction(kind, algorithm, size, *type, count, root, in_place, *op, exact);
                                if (::testing::Test::HasFailure()) return;
                            }
}

TEST(Reduce, RootHasTheResult) {
    check_reductions(Kind::reduce, {{"binomial", reduce_binomial, reduce_binomial_work},
                                    {"halving", reduce_halving, reduce_halving_work, true},
                                    {"exchange", reduce_exchange, nullptr, false, true}});
}

TEST(Allreduce, EveryoneHasTheResult) {
    check_reductions(Kind::allreduce,
                     {{"recursive_doubling", allreduce_recursive_doubling, allreduce_recursive_doubling_work},
                      {"halving_doubling", allreduce_halving_doubling, allreduce_halving_doubling_work, true},
                      {"ring", allreduce_ring, allreduce_ring_work, true},
                      {"exchange", allreduce_exchange, nullptr, false, true}});
}

TEST(Scan, IncludesOwnValue) {
    check_reductions(Kind::scan, {{"doubling", scan_doubling, scan_doubling_work}, {"linear", scan_linear, scan_linear_work}});
}

TEST(Exscan, ExcludesOwnValue) {
    check_reductions(Kind::exscan, {{"doubling", exscan_doubling, scan_doubling_work}, {"linear", exscan_linear, scan_linear_work}});
}

TEST(AllreduceWork, AlsoForTeamsThatAreNoPowerOfTwo) {
    for (int size : sizes()) {
        int active = power_of_two_below(size);
        check_reduction(Kind::allreduce, {"halving_doubling", allreduce_halving_doubling, allreduce_halving_doubling_work}, size,
                        plain_pair(), int64_t{active} * size, 0, false, sum_op(), true);
        check_reduction(Kind::reduce, {"halving", reduce_halving, reduce_halving_work}, size, plain_pair(), int64_t{active} * size,
                        size - 1, false, sum_op(), true);
    }
}

// --------------------------------------------------------------------------------------------------- reduce_scatter

TEST(ReduceScatter, EveryoneHasItsPart) {
    const Algorithm<ReduceScatterShape> all[] = {
        {"halving", reduce_scatter_halving, reduce_scatter_halving_work, true},
        {"pairwise", reduce_scatter_pairwise, reduce_scatter_pairwise_work, true},
        {"ordered", reduce_scatter_ordered, reduce_scatter_ordered_work}};
    for (const auto &algorithm : all)
        for (int size : sizes())
            for (const Datatype *type : datatypes())
                for (int each : {-1, 1, 3})  // -1: different counts, some zero
                    for (const Op *op : {&sum_op(), &compose_op()})
                        for (bool in_place : {false, true}) {
                            if (algorithm.commutative_only && !op->commutative) continue;
                            std::string what = describe(algorithm.name, size, each, *type, in_place, 0);
                            std::vector<int> counts(static_cast<size_t>(size));
                            for (int i = 0; i < size; ++i) counts[static_cast<size_t>(i)] = each < 0 ? (i * 5 + 2) % 4 : each;
                            int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
                            Machine machine(size, seed() + static_cast<uint64_t>(size));
                            int64_t first = 0;
                            for (int i = 0; i < size; ++i) {
                                int count = counts[static_cast<size_t>(i)];
                                Memory own(in_place ? 0 : total, *type), result(in_place ? total : count, *type);
                                for (int64_t e = 0; e < total; ++e) (in_place ? result : own).put(e, value_of(i, e));
                                give(machine.rank(i), own, result);
                                ReduceScatterShape shape;
                                shape.index = i;
                                shape.size = size;
                                shape.op = op;
                                if (each < 0) shape.counts = {counts.data(), 4};
                                shape.result = {Space::receive, 0, count, type};
                                shape.contribution = {in_place ? Space::receive : Space::send, 0, total, type};
                                algorithm.make(shape, machine.rank(i).schedule);
                            }
                            ASSERT_EQ(machine.run(), "") << what;
                            for (int i = 0; i < size; ++i) {
                                int count = counts[static_cast<size_t>(i)];
                                Memory result = result_of(machine.rank(i), Memory(in_place ? total : count, *type));
                                for (int64_t e = 0; e < count; ++e)
                                    ASSERT_EQ(result.get(e), expected_reduction(Kind::reduce, *op, i, size, first + e)) << what << " rank " << i;
                                first += count;
                            }
                            if (each > 0) check_work(machine, algorithm.work, size, total * 8, what);
                        }
}

// ------------------------------------------------------------------------------------ gather, scatter, all to all

// Blocks of `each` elements for each rank; -1: uneven ones with gaps between them, in another order.
struct Layout {
    std::vector<int64_t> counts, displacements;
    int64_t elements = 0;

    Layout(int size, int64_t each, int salt) : counts(static_cast<size_t>(size)), displacements(static_cast<size_t>(size)) {
        for (int i = 0; i < size; ++i) counts[static_cast<size_t>(i)] = each >= 0 ? each : block_length(salt, i);
        for (int k = 0; k < size; ++k) {
            auto i = static_cast<size_t>(each >= 0 ? k : size - 1 - k);
            displacements[i] = elements;
            elements += counts[i] + (each >= 0 ? 0 : 1);
        }
    }
    static int64_t block_length(int from, int to) { return (from + to) % 3; }
    Division division(Space space, int64_t each, const Datatype &type) const {
        return each >= 0 ? Division::even(space, each, type) : Division::uneven(space, {counts.data(), 8}, {displacements.data(), 8}, type);
    }
};

// What rank `from` sends to rank `to` as element i.
Pair sent_value(int from, int to, int64_t i) { return value_of(from * 100 + to, i); }

using MoveCheck = std::function<void(const Algorithm<MoveShape> &, int size, const Datatype &type, int64_t each, int root, bool in_place)>;

void check_moves(const std::vector<Algorithm<MoveShape>> &all, bool rooted, const MoveCheck &check) {
    for (const auto &algorithm : all)
        for (int size : sizes())
            for (const Datatype *type : datatypes())
                for (int64_t each : {-1, 0, 1, 4})
                    for (bool in_place : {false, true})
                        for (int root : {0, size - 1}) {
                            if (algorithm.even_only && each < 0) continue;
                            if (!rooted && root != 0) continue;
                            check(algorithm, size, *type, each, root, in_place);
                            if (::testing::Test::HasFatalFailure()) return;
                        }
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
    auto check = [](const Algorithm<MoveShape> &algorithm, int size, const Datatype &type, int64_t each, int root, bool in_place) {
        std::string what = describe(algorithm.name, size, each, type, in_place, root);
        Machine machine(size, seed() + static_cast<uint64_t>(size));
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
        if (each > 0) check_work(machine, algorithm.work, size, each * 8, what);
    };
    check_moves({{"linear", gather_linear, gather_linear_work}, {"binomial", gather_binomial, gather_binomial_work, false, false, true}},
                true, check);
}

TEST(Scatter, EveryoneHasItsBlock) {
    auto check = [](const Algorithm<MoveShape> &algorithm, int size, const Datatype &type, int64_t each, int root, bool in_place) {
        std::string what = describe(algorithm.name, size, each, type, in_place, root);
        Machine machine(size, seed() + static_cast<uint64_t>(size));
        Layout layout(size, each, root);
        for (int i = 0; i < size; ++i) {
            bool here = in_place && i == root;
            Memory all(i == root ? layout.elements : 0, type), own(here ? 0 : layout.counts[static_cast<size_t>(i)], plain_pair());
            for (int to = 0; i == root && to < size; ++to)
                for (int64_t e = 0; e < layout.counts[static_cast<size_t>(to)]; ++e)
                    all.put(layout.displacements[static_cast<size_t>(to)] + e, sent_value(root, to, e));
            give(machine.rank(i), all, own);
            MoveShape shape = shape_of(i, size, root, here, each);
            if (!here) shape.received = Division::even(Space::receive, layout.counts[static_cast<size_t>(i)], plain_pair());
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
        if (each > 0) check_work(machine, algorithm.work, size, each * 8, what);
    };
    check_moves({{"linear", scatter_linear, scatter_linear_work}, {"binomial", scatter_binomial, scatter_binomial_work, false, false, true}},
                true, check);
}

TEST(Allgather, EveryoneHasAllBlocks) {
    auto check = [](const Algorithm<MoveShape> &algorithm, int size, const Datatype &type, int64_t each, int, bool in_place) {
        std::string what = describe(algorithm.name, size, each, type, in_place, 0);
        if (algorithm.needs_area && each == 0) return;
        Machine machine(size, seed() + static_cast<uint64_t>(size), area_bytes(size));
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
        for (int i = 0; i < size; ++i) ASSERT_EQ(machine.rank(i).receive, expected.bytes) << what << " rank " << i;
        if (algorithm.work && each > 0) check_work(machine, algorithm.work, size, each * 8 * size, what);
    };
    check_moves({{"bruck", allgather_bruck, allgather_bruck_work},
                 {"ring", allgather_ring, allgather_ring_work},
                 {"exchange", allgather_exchange, nullptr, false, true, true}},
                false, check);
}

TEST(Alltoall, EveryoneHasABlockOfEveryone) {
    auto check = [](const Algorithm<MoveShape> &algorithm, int size, const Datatype &type, int64_t each, int, bool in_place) {
        std::string what = describe(algorithm.name, size, each, type, in_place, 0);
        if (each == 0 && algorithm.even_only) return;  // nothing is started for empty blocks of known size
        Machine machine(size, seed() + static_cast<uint64_t>(size));
        std::vector<Memory> expected;
        std::vector<Layout> layouts;
        for (int i = 0; i < size; ++i) layouts.emplace_back(size, each, i);
        for (int i = 0; i < size; ++i) {
            const Layout &layout = layouts[static_cast<size_t>(i)];
            Memory out(in_place ? 0 : layout.elements, plain_pair()), in(layout.elements, type), wanted(layout.elements, type);
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
        for (int i = 0; i < size; ++i) ASSERT_EQ(machine.rank(i).receive, expected[static_cast<size_t>(i)].bytes) << what << " rank " << i;
        if (each > 0) check_work(machine, algorithm.work, size, each * 8, what);
    };
    check_moves({{"pairwise", alltoall_pairwise, alltoall_pairwise_work}, {"bruck", alltoall_bruck, alltoall_bruck_work, false, false, true}},
                false, check);
}

}  // namespace
}  // namespace lanyard::testing
