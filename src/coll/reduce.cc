// Implements the reduce algorithms (MPI-5.0 6.9.1).
// Tested by: tests/unit/coll/reductions_test.cc.
#include <numeric>

#include "coll/running.h"
#include "coll/tree.h"

namespace lanyard {

int reduce_by_halving(Schedule &schedule, const Folding &folding, const std::vector<int64_t> &starts,
                      Running &running, int label) {
    int me = folding.number(), low = 0, high = folding.active();
    for (; high - low > 1; ++label) {
        int middle = (low + high) / 2, distance = middle - low;
        bool keep_low = me < middle;
        int partner = folding.rank_of(keep_low ? me + distance : me - distance);
        int give_low = keep_low ? middle : low, give_high = keep_low ? high : middle;
        int64_t given = starts[give_high] - starts[give_low];
        schedule.send(partner, running.value().part(starts[give_low], given), running.ready(), label);
        (keep_low ? high : low) = middle;
        running.take_part(partner, !keep_low, starts[low], starts[high], no_step, label);
    }
    return label;
}

namespace {

// Returns the rank at the top of the tree: the root of the call or, if the operation does not commute, rank
// 0. Rank 0 then sends the result to the root.
int top_of(const ReduceShape &s) { return s.op->commutative ? s.root : 0; }

// Each rank combines its contribution with those of its subtree, which consists of the ranks right above it.
// It takes the nearest child first, so that rank order is kept.
template <class Tree>
void reduce_along(const Tree &tree, const ReduceShape &s, int top, Schedule &schedule) {
    schedule.op = s.op;
    constexpr int tree_label = 0, move_label = 1;
    bool is_root = s.index == s.root, in_place = s.contribution == s.result;
    Block spare = is_root && !in_place && tree.is_root() ? s.result : Block{};
    Running running = is_root && in_place && tree.is_root()
                          ? Running(schedule, *s.op, s.result, no_step)
                          : Running::reading(schedule, *s.op, s.contribution, spare);
    tree.each_child_smallest_first(
        [&](int child, int, int) { running.take(child, false, no_step, tree_label); });

    StepId sent = no_step;
    if (!tree.is_root()) sent = schedule.send(tree.parent(), running.value(), running.ready(), tree_label);
    if (tree.is_root() && is_root) running.move_to(s.result);
    if (tree.is_root() && !is_root) schedule.send(s.root, running.value(), running.ready(), move_label);
    if (!tree.is_root() && is_root) schedule.receive(top, s.result, sent, move_label);
}

}  // namespace

void reduce_binomial(const ReduceShape &s, Schedule &schedule) {
    reduce_along(BinomialTree(s.index, s.size, top_of(s)), s, top_of(s), schedule);
}

Work reduce_binomial_work(const Crew &crew, int64_t bytes) {
    int size = crew.size, rounds = doublings(size);
    double path = double(rounds) * double(bytes);
    return {.rounds = rounds + 1,
            .messages = size - 1,
            .bytes = (size - 1) * bytes,
            .path_bytes = double(rounds) * moved_in_time(bytes),
            .path_reduced = path,
            .reduced_in_all = double(size - 1) * double(bytes),
            .fresh_bytes = double(rounds - 1) * double(bytes),
            .one_way = bytes <= sent_at_once_bytes,
            .far = far_tree_of_any_root(crew, double(bytes))};
}

void reduce_knomial(const ReduceShape &s, Schedule &schedule, int radix) {
    reduce_along(KnomialTree(s.index, s.size, top_of(s), radix), s, top_of(s), schedule);
}

Work reduce_knomial_work(const Crew &crew, int64_t bytes, int radix) {
    int size = crew.size, rounds = (radix - 1) * growths(size, radix);
    double path = double(rounds) * double(bytes);
    return {.rounds = rounds + 1,
            .messages = size - 1,
            .bytes = (size - 1) * bytes,
            .path_bytes = path,
            .path_reduced = path,
            .reduced_in_all = double(size - 1) * double(bytes),
            .one_way = bytes <= sent_at_once_bytes,
            .far = far_tree_of_any_root(crew, double(bytes), radix)};
}

void reduce_halving(const ReduceShape &s, Schedule &schedule) {
    schedule.op = s.op;
    Folding folding(s.index, s.size);
    int64_t count = s.contribution.count;
    auto start = [&](int number) { return part_start(count, folding.active(), number); };
    auto length = [&](int number) { return start(number + 1) - start(number); };
    constexpr int fold_label = 0, part_label = 1, first_label = 2;

    if (folding.represented()) schedule.send(s.index + 1, s.contribution, {}, fold_label);
    Block mine;
    StepId reduced = no_step;
    // The root combines in its result buffer, even with MPI_IN_PLACE, because its own contribution is not
    // needed after it has been combined.
    if (!folding.represented()) {
        Block value = s.index == s.root ? s.result : schedule.scratch(count, *s.contribution.type);
        StepId own = value == s.contribution ? no_step : schedule.copy(s.contribution, value, {});
        Running running(schedule, *s.op, value, own);
        if (folding.represents()) running.take(s.index - 1, true, no_step, fold_label);
        std::vector<int64_t> starts(folding.active() + 1);
        for (int i = 0; i <= folding.active(); ++i) starts[i] = start(i);
        reduce_by_halving(schedule, folding, starts, running, first_label);
        mine = running.value().part(start(folding.number()), length(folding.number()));
        reduced = running.ready();
        if (s.index != s.root) schedule.send(s.root, mine, reduced, part_label);
    }
    if (s.index != s.root) return;
    // The parts of other ranks arrive in memory that earlier steps of this rank read or send. So all earlier
    // steps must be done.
    std::vector<StepId> over(schedule.steps().size());
    std::iota(over.begin(), over.end(), 0);
    StepId free = schedule.join(over);
    for (int number = 0; number < folding.active(); ++number) {
        if (!folding.represented() && number == folding.number()) continue;
        schedule.receive(folding.rank_of(number), s.result.part(start(number), length(number)), free,
                         part_label);
    }
}

Work reduce_halving_work(const Crew &crew, int64_t bytes) {
    int size = crew.size, active = power_of_two_below(size), extra = size - active;
    Far halves = far_butterfly(crew, extra > 0, 0), parts = far_star(crew, double(bytes) / size);
    double far_bytes = crew.spread() ? double(bytes) * (crew.most + 1 + (extra > 0)) : 0;
    // Assumes that the root is not represented by another rank (Folding). If it is, the root receives one
    // more part.
    return {.rounds = doublings(active) + 1 + (extra > 0),
            .messages = extra + int64_t{active} * doublings(active) + active - 1,
            .bytes = extra * bytes + (active - 1) * bytes + bytes - bytes / active,
            .path_bytes = double(bytes) * (2 + (extra > 0)),
            .path_reduced = double(bytes) * (1 + (extra > 0)),
            .far = {halves.rounds + parts.rounds, parts.turns, halves.messages + parts.messages, far_bytes}};
}

}  // namespace lanyard
