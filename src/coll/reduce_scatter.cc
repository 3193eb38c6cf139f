// Implements the reduce-scatter algorithms, for equal and different counts (MPI-5.0 6.10).
// Tested by: tests/unit/coll/reductions_test.cc.
#include "coll/running.h"
#include "coll/tree.h"

namespace lanyard {

namespace {

// The first element of each rank's part in a contribution, and one more entry for the end.
std::vector<int64_t> starts_of(const ReduceScatterShape &s) {
    std::vector<int64_t> starts(s.size + 1, 0);
    for (int rank = 0; rank < s.size; ++rank)
        starts[rank + 1] = starts[rank] + (s.counts.data ? s.counts[rank] : s.contribution.count / s.size);
    return starts;
}

constexpr int fold_label = 0, unfold_label = 1, first_label = 2;

}  // namespace

void reduce_scatter_halving(const ReduceScatterShape &s, Schedule &schedule) {
    schedule.op = s.op;
    Folding folding(s.index, s.size);
    if (folding.represented()) {
        StepId sent = schedule.send(s.index + 1, s.contribution, {}, fold_label);
        schedule.receive(s.index + 1, s.result, sent, unfold_label);
        return;
    }
    std::vector<int64_t> rank_starts = starts_of(s), starts(folding.active() + 1);
    for (int i = 0; i < folding.active(); ++i) starts[i] = rank_starts[folding.first_rank_of(i)];
    starts[folding.active()] = rank_starts[s.size];

    Block value = schedule.scratch(s.contribution.count, *s.contribution.type);
    Running running(schedule, *s.op, value, schedule.copy(s.contribution, value, {}));
    if (folding.represents()) running.take(s.index - 1, true, no_step, fold_label);
    reduce_by_halving(schedule, folding, starts, running, first_label);
    auto part_of = [&](int rank) {
        return value.part(rank_starts[rank], rank_starts[rank + 1] - rank_starts[rank]);
    };
    schedule.copy(part_of(s.index), s.result, running.ready());
    if (folding.represents()) schedule.send(s.index - 1, part_of(s.index - 1), running.ready(), unfold_label);
}

Work reduce_scatter_halving_work(const Crew &crew, int64_t bytes) {
    int size = crew.size, active = power_of_two_below(size), extra = size - active,
        rounds = doublings(active);
    double all = double(bytes);
    Far far = far_butterfly(crew, 2 * (extra > 0), 0);
    far.path_bytes = crew.spread() ? all * (1 + 2 * (extra > 0)) * crew.most : 0;
    return {.rounds = rounds + 2 * (extra > 0),
            .messages = int64_t{2} * extra + int64_t{active} * rounds,
            .bytes = extra * bytes + (active - 1) * bytes + extra * (bytes / size),
            .path_bytes = all * (2 + (extra > 0)),  // including the copy of the contribution
            .path_reduced = all * (1 + (extra > 0)),
            .fresh_bytes = all * (2 + (extra > 0)),
            .far = far};
}

// In round k every rank sends the part for the rank k above it to that rank, and receives its own part from
// the rank k below it.
void reduce_scatter_pairwise(const ReduceScatterShape &s, Schedule &schedule) {
    schedule.op = s.op;
    std::vector<int64_t> starts = starts_of(s);
    auto part_of = [&](int rank) {
        return s.contribution.part(starts[rank], starts[rank + 1] - starts[rank]);
    };
    Block own = part_of(s.index);
    // With MPI_IN_PLACE the result overwrites parts that must still be sent to other ranks, so the result is
    // stored last.
    bool apart = s.contribution.space == s.result.space;
    Block value = apart ? schedule.scratch(own.count, *own.type) : s.result;
    StepId ready = schedule.copy(own, value, {});
    Block landing[2] = {schedule.scratch(own.count, *own.type), schedule.scratch(own.count, *own.type)};
    StepId landing_free[2] = {no_step, no_step};
    std::vector<StepId> sent;
    for (int round = 1; round < s.size; ++round) {
        int above = (s.index + round) % s.size, below = (s.index - round + s.size) % s.size;
        sent.push_back(schedule.send(above, part_of(above), {}));
        StepId got = schedule.receive(below, landing[round % 2], landing_free[round % 2]);
        ready = landing_free[round % 2] = schedule.reduce(landing[round % 2], value, {got, ready});
    }
    sent.push_back(ready);
    if (apart) schedule.copy(value, s.result, schedule.join(sent));
}

Work reduce_scatter_pairwise_work(const Crew &crew, int64_t bytes) {
    int size = crew.size;
    int64_t messages = int64_t{size} * (size - 1);
    return {.rounds = size - 1,
            .messages = messages,
            .bytes = (size - 1) * bytes,
            .path_bytes = double(bytes),
            .path_reduced = double(bytes),
            .far = far_pairs(crew, double(bytes) / size, size)};
}

void reduce_scatter_ordered(const ReduceScatterShape &s, Schedule &schedule) {
    schedule.op = s.op;
    std::vector<int64_t> starts = starts_of(s);
    constexpr int tree_label = 0, part_label = 1;
    BinomialTree tree(s.index, s.size, 0);
    Running running = Running::reading(schedule, *s.op, s.contribution, {});
    tree.each_child_smallest_first(
        [&](int child, int, int) { running.take(child, false, no_step, tree_label); });
    if (!tree.is_root()) {
        StepId sent = schedule.send(tree.parent(), running.value(), running.ready(), tree_label);
        // With MPI_IN_PLACE the result overwrites the contribution, so the result may be received only when
        // the contribution has been combined and sent.
        schedule.receive(0, s.result, {sent, running.ready()}, part_label);
        return;
    }
    for (int rank = 1; rank < s.size; ++rank)
        schedule.send(rank, running.value().part(starts[rank], starts[rank + 1] - starts[rank]),
                      running.ready(), part_label);
    Block own = running.value().part(0, starts[1]);
    if (!(own == s.result)) schedule.copy(own, s.result, running.ready());
}

Work reduce_scatter_ordered_work(const Crew &crew, int64_t bytes) {
    int size = crew.size;
    Far up = far_tree(crew, double(bytes)), down = far_star(crew, double(bytes) / size);
    double path = double(doublings(size) + 1) * double(bytes);
    return {.rounds = doublings(size) + 1,
            .messages = int64_t{2} * (size - 1),
            .bytes = (size - 1) * bytes + bytes - bytes / size,
            .path_bytes = path,
            .path_reduced = path,
            .far = {up.rounds + down.rounds, down.turns, up.messages + down.messages,
                    up.path_bytes + down.path_bytes}};
}

}  // namespace lanyard
