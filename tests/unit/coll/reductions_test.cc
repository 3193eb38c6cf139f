// Tests every reduction algorithm. All ranks are simulated in one process, and events happen in random
// order. Results are compared with a simple computation, and the numbers of messages, bytes and rounds
// with those that the algorithm states. Team sizes are P = 1..40 in release builds, and some of these
// with sanitizers.
#include "algorithm_checks.h"

namespace lanyard::testing {
namespace {

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

void check_reduction(Kind kind, const Algorithm<ReduceShape> &algorithm, int size, const Datatype &type,
                     int64_t count, int root, bool in_place, const Op &op, bool exact_work) {
    std::string what =
        describe(algorithm.name, size, count, type, in_place, root) + (op.commutative ? "" : " ordered");
    Machine machine(size, seed() + static_cast<uint64_t>(size * 3 + root),
                    algorithm.needs_area ? shared_for(size, count * 8) : Machine::Shares::nothing);
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
    if (algorithm.work && exact_work && count > 0 && count % size == 0)
        check_work(machine, algorithm.work, size, count * 8, what);
}

void check_reductions(Kind kind, const std::vector<Algorithm<ReduceShape>> &all) {
    for (const auto &algorithm : all)
        for (int size : sizes())
            for (const Datatype *type : datatypes())
                for (int64_t count : counts_with_long(algorithm.needs_area, size))
                    for (const Op *op : {&sum_op(), &compose_op()})
                        for (bool in_place : {false, true})
                            for (int root : {0, size - 1}) {
                                if (algorithm.commutative_only && !op->commutative) continue;
                                if (algorithm.needs_area && (type != &plain_pair() || size == 1)) continue;
                                if (kind != Kind::reduce && root != 0) continue;
                                // The stated work is exact only if the vector divides evenly, as it
                                // does if P is a power of two. Halving sends one more part if another
                                // rank takes the root's place in the exchange.
                                bool power = power_of_two_below(size) == size;
                                bool exact = algorithm.commutative_only
                                                 ? power || algorithm.make == allreduce_ring
                                                 : op->commutative || root == 0;
                                check_reduction(kind, algorithm, size, *type, count, root, in_place, *op,
                                                exact);
                                if (::testing::Test::HasFailure()) return;
                            }
}

TEST(Reduce, RootHasTheResult) {
    check_reductions(Kind::reduce,
                     {{"binomial", reduce_binomial, reduce_binomial_work},
                      {"halving", reduce_halving, reduce_halving_work, true},
                      {"knomial_4", of_radix<reduce_knomial, 4>, of_radix_work<reduce_knomial_work, 4>},
                      {"exchange", reduce_exchange, nullptr, false, true},
                      {"exchange_parts", reduce_exchange_parts, nullptr, false, true}});
}

TEST(Allreduce, EveryoneHasTheResult) {
    check_reductions(Kind::allreduce,
                     {{"recursive_doubling", allreduce_recursive_doubling, allreduce_recursive_doubling_work},
                      {"linear", allreduce_linear, allreduce_linear_work},
                      {"reduce_bcast", allreduce_reduce_bcast, allreduce_reduce_bcast_work},
                      {"halving_doubling", allreduce_halving_doubling, allreduce_halving_doubling_work, true},
                      {"ring", allreduce_ring, allreduce_ring_work, true},
                      {"knomial_3", of_radix<allreduce_knomial, 3>, of_radix_work<allreduce_knomial_work, 3>},
                      {"exchange", allreduce_exchange, nullptr, false, true},
                      {"exchange_parts", allreduce_exchange_parts, nullptr, false, true}});
}

TEST(Scan, IncludesOwnValue) {
    check_reductions(Kind::scan, {{"doubling", scan_doubling, scan_doubling_work},
                                  {"linear", scan_linear, scan_linear_work},
                                  {"exchange", scan_exchange, nullptr, false, true}});
}

TEST(Exscan, ExcludesOwnValue) {
    check_reductions(Kind::exscan, {{"doubling", exscan_doubling, scan_doubling_work},
                                    {"linear", exscan_linear, scan_linear_work},
                                    {"exchange", exscan_exchange, nullptr, false, true}});
}

TEST(AllreduceWork, AlsoForTeamsThatAreNoPowerOfTwo) {
    for (int size : sizes()) {
        int active = power_of_two_below(size);
        check_reduction(Kind::allreduce,
                        {"halving_doubling", allreduce_halving_doubling, allreduce_halving_doubling_work},
                        size, plain_pair(), int64_t{active} * size, 0, false, sum_op(), true);
        check_reduction(Kind::reduce, {"halving", reduce_halving, reduce_halving_work}, size, plain_pair(),
                        int64_t{active} * size, size - 1, false, sum_op(), true);
    }
}

TEST(ReduceScatter, EveryoneHasItsPart) {
    const Algorithm<ReduceScatterShape> all[] = {
        {"halving", reduce_scatter_halving, reduce_scatter_halving_work, true},
        {"pairwise", reduce_scatter_pairwise, reduce_scatter_pairwise_work, true},
        {"ordered", reduce_scatter_ordered, reduce_scatter_ordered_work},
        {"exchange", reduce_scatter_exchange, nullptr, false, true}};
    for (const auto &algorithm : all)
        for (int size : sizes())
            for (const Datatype *type : datatypes())
                for (int each : {-600, -1, 1, 3, 600})  // below 0: different counts, some of them 0
                    for (const Op *op : {&sum_op(), &compose_op()})
                        for (bool in_place : {false, true}) {
                            if (algorithm.commutative_only && !op->commutative) continue;
                            if (algorithm.needs_area && (type != &plain_pair() || size == 1)) continue;
                            bool is_long = each == 600 || each == -600;
                            if (is_long && !(algorithm.needs_area && takes_long_counts(size))) continue;
                            std::string what = describe(algorithm.name, size, each, *type, in_place, 0);
                            std::vector<int> counts(static_cast<size_t>(size));
                            for (int i = 0; i < size; ++i)
                                counts[static_cast<size_t>(i)] = each < 0 ? (i * 5 + 2) % 4 * -each : each;
                            int64_t total = std::accumulate(counts.begin(), counts.end(), int64_t{0});
                            Machine machine(size, seed() + static_cast<uint64_t>(size),
                                            algorithm.needs_area ? shared_for(size, total * 8)
                                                                 : Machine::Shares::nothing);
                            int64_t first = 0;
                            for (int i = 0; i < size; ++i) {
                                int count = counts[static_cast<size_t>(i)];
                                Memory own(in_place ? 0 : total, *type),
                                    result(in_place ? total : count, *type);
                                for (int64_t e = 0; e < total; ++e)
                                    (in_place ? result : own).put(e, value_of(i, e));
                                give(machine.rank(i), own, result);
                                ReduceScatterShape shape;
                                shape.index = i;
                                shape.size = size;
                                shape.op = op;
                                if (each < 0) shape.counts = {counts.data(), 4};
                                shape.result = {Space::receive, 0, count, type};
                                shape.contribution = {in_place ? Space::receive : Space::send, 0, total,
                                                      type};
                                algorithm.make(shape, machine.rank(i).schedule);
                            }
                            ASSERT_EQ(machine.run(), "") << what;
                            for (int i = 0; i < size; ++i) {
                                int count = counts[static_cast<size_t>(i)];
                                Memory result =
                                    result_of(machine.rank(i), Memory(in_place ? total : count, *type));
                                for (int64_t e = 0; e < count; ++e)
                                    ASSERT_EQ(result.get(e),
                                              expected_reduction(Kind::reduce, *op, i, size, first + e))
                                        << what << " rank " << i;
                                first += count;
                            }
                            if (each > 0 && algorithm.work)
                                check_work(machine, algorithm.work, size, total * 8, what);
                        }
}

}  // namespace
}  // namespace lanyard::testing
