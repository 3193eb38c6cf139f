// Implements the allreduce algorithms (MPI-5.0 6.9.6).
// Tested by: tests/unit/coll/reductions_test.cc.
#include "coll/running.h"
#include "coll/tree.h"

namespace lanyard {

namespace {

// Returns a running result (running.h) that lies in the result buffer. Its first value is this rank's
// contribution.
Running begin(const ReduceShape &s, Schedule &schedule) {
    schedule.op = s.op;
    StepId own = s.contribution == s.result ? no_step : schedule.copy(s.contribution, s.result, {});
    return Running(schedule, *s.op, s.result, own);
}

constexpr int fold_label = 0, unfold_label = 1, first_label = 2;

// If another rank represents this rank (Folding), adds this rank's steps: it only sends its contribution and
// receives the result. False: this rank is not represented, and no step has been added.
bool represented_part(const Folding &folding, const ReduceShape &s, Schedule &schedule) {
    if (!folding.represented()) return false;
    StepId sent = schedule.send(s.index + 1, s.contribution, {}, fold_label);
    schedule.receive(s.index + 1, s.result, sent, unfold_label);
    return true;
}

}  // namespace

void allreduce_recursive_doubling(const ReduceShape &s, Schedule &schedule) {
    Folding folding(s.index, s.size);
    if (represented_part(folding, s, schedule)) return;
    Running running = begin(s, schedule);
    if (folding.represents()) running.take(s.index - 1, true, no_step, fold_label);

    // Before round k a rank that takes part has the result of its group of 2^k neighbours. In round k it
    // exchanges this result with a partner in the neighbouring group.
    int me = folding.number(), label = first_label;
    for (int distance = 1; distance < folding.active(); distance *= 2, ++label) {
        int partner = folding.rank_of(me ^ distance);
        // As long as no other contribution has been added, sends the program's own buffer and not the copy of
        // it. The partner may still have that buffer in its cache from an earlier call.
        bool first = distance == 1 && !folding.represents();
        StepId sent = schedule.send(partner, first ? s.contribution : running.value(),
                                    first ? no_step : running.ready(), label);
        running.take(partner, (me & distance) != 0, sent, label);
    }
    running.move_to(s.result);
    if (folding.represents()) schedule.send(s.index - 1, s.result, running.ready(), unfold_label);
}

Work allreduce_recursive_doubling_work(const Crew &crew, int64_t bytes) {
    int size = crew.size, active = power_of_two_below(size), extra = size - active,
        rounds = doublings(active);
    int64_t messages = int64_t{2} * extra + int64_t{active} * rounds;
    double path = double(rounds + (extra > 0)) * double(bytes);
    return {.rounds = rounds + 2 * (extra > 0),
            .messages = messages,
            .bytes = messages * bytes,
            .path_bytes = path + double(1 + (extra > 0)) * double(bytes),
            .path_reduced = path,
            .fresh_bytes = path - double(bytes),
            .far = far_butterfly(crew, 2 * (extra > 0), double(bytes))};
}

void allreduce_linear(const ReduceShape &s, Schedule &schedule) {
    constexpr int up_label = 0, down_label = 1;
    Running running = begin(s, schedule);
    if (s.index > 0) {
        StepId sent = schedule.send(0, running.value(), running.ready(), up_label);
        schedule.receive(0, s.result, sent, down_label);
        return;
    }
    for (int other = 1; other < s.size; ++other) running.take(other, false, no_step, up_label);
    running.move_to(s.result);
    for (int other = 1; other < s.size; ++other) schedule.send(other, s.result, running.ready(), down_label);
}

Work allreduce_linear_work(const Crew &crew, int64_t bytes) {
    int size = crew.size, messages = 2 * (size - 1);
    Far half = far_star(crew, double(bytes));
    auto all = static_cast<double>(messages * bytes);
    return {.rounds = messages,
            .messages = messages,
            .waits = size,
            .busiest = messages,
            .bytes = messages * bytes,
            .path_bytes = all,
            .path_reduced = all / 2,
            .reduced_in_all = all / 2,
            .fresh_bytes = double(bytes),
            .far = {2 * half.rounds, 2 * half.turns, 2 * half.messages, 2 * half.path_bytes}};
}

namespace {

template <class Tree>
void reduce_bcast_along(const Tree &tree, const ReduceShape &s, Schedule &schedule) {
    constexpr int up_label = 0, down_label = 1;
    Running running = begin(s, schedule);
    tree.each_child_smallest_first(
        [&](int child, int, int) { running.take(child, false, no_step, up_label); });
    StepId have;
    if (tree.is_root()) {
        running.move_to(s.result);
        have = running.ready();
    } else {
        StepId sent = schedule.send(tree.parent(), running.value(), running.ready(), up_label);
        have = schedule.receive(tree.parent(), s.result, sent, down_label);
    }
    tree.each_child_largest_first(
        [&](int child, int, int) { schedule.send(child, s.result, have, down_label); });
}

// The work of a reduce up a tree and a broadcast down the tree, with `rounds` rounds each. `half`: the part
// of the reduce that crosses nodes. The same part of the broadcast crosses nodes.
Work reduce_bcast_work(int size, int64_t bytes, int rounds, const Far &half) {
    int messages = 2 * (size - 1);
    double path = double(rounds) * double(bytes);
    return {.rounds = 2 * rounds,
            .messages = messages,
            .waits = messages * 3 / 2,
            .bytes = messages * bytes,
            .path_bytes = 2 * path,
            .path_reduced = path,
            .reduced_in_all = double(size - 1) * double(bytes),
            .fresh_bytes = 2 * path,
            .far = {2 * half.rounds, 2 * half.turns, 2 * half.messages, 2 * half.path_bytes}};
}

}  // namespace

void allreduce_reduce_bcast(const ReduceShape &s, Schedule &schedule) {
    reduce_bcast_along(BinomialTree(s.index, s.size, 0), s, schedule);
}

Work allreduce_reduce_bcast_work(const Crew &crew, int64_t bytes) {
    return reduce_bcast_work(crew.size, bytes, doublings(crew.size), far_tree(crew, double(bytes)));
}

void allreduce_knomial(const ReduceShape &s, Schedule &schedule, int radix) {
    reduce_bcast_along(KnomialTree(s.index, s.size, 0, radix), s, schedule);
}

Work allreduce_knomial_work(const Crew &crew, int64_t bytes, int radix) {
    return reduce_bcast_work(crew.size, bytes, (radix - 1) * growths(crew.size, radix),
                             far_tree(crew, double(bytes), radix));
}

void allreduce_halving_doubling(const ReduceShape &s, Schedule &schedule) {
    Folding folding(s.index, s.size);
    if (represented_part(folding, s, schedule)) return;
    Running running = begin(s, schedule);
    if (folding.represents()) running.take(s.index - 1, true, no_step, fold_label);

    std::vector<int64_t> starts(folding.active() + 1);
    for (int i = 0; i <= folding.active(); ++i) starts[i] = part_start(s.result.count, folding.active(), i);
    auto range = [&](int first, int last) {
        return s.result.part(starts[first], starts[last] - starts[first]);
    };
    auto before = static_cast<StepId>(schedule.steps().size());
    int label = reduce_by_halving(schedule, folding, starts, running, first_label);

    // A part that this rank sent away while halving is received again, completely reduced. The part arrives
    // in the memory that the earlier send reads, so that send must be done first.
    std::vector<StepId> given{running.ready()};
    for (StepId id = before; id < static_cast<StepId>(schedule.steps().size()); ++id)
        if (schedule.steps()[id].kind == StepKind::send) given.push_back(id);
    StepId have = schedule.join(given), free = have;
    int me = folding.number();
    for (int distance = 1; distance < folding.active(); distance *= 2, ++label) {
        int partner = me ^ distance;
        int mine = me / distance * distance, theirs = partner / distance * distance;
        schedule.send(folding.rank_of(partner), range(mine, mine + distance), have, label);
        StepId got =
            schedule.receive(folding.rank_of(partner), range(theirs, theirs + distance), free, label);
        have = schedule.join({have, got});
    }
    if (folding.represents()) schedule.send(s.index - 1, s.result, have, unfold_label);
}

Work allreduce_halving_doubling_work(const Crew &crew, int64_t bytes) {
    int size = crew.size, active = power_of_two_below(size), extra = size - active,
        rounds = doublings(active);
    double all = double(bytes);
    Far far = far_butterfly(crew, extra > 0, 0);  // of the halving; the doubling costs the same
    return {.rounds = 2 * rounds + 2 * (extra > 0),
            .messages = int64_t{2} * extra + int64_t{2} * active * rounds,
            .bytes = 2 * bytes * extra + 2 * bytes * (active - 1),
            .path_bytes = all * 2 * (1 + (extra > 0)),
            .path_reduced = all * (1 + (extra > 0)),
            .fresh_bytes = all * 2 * (1 + (extra > 0)),
            .far = {2 * far.rounds, 0, 2 * far.messages,
                    crew.spread() ? all * 2 * (1 + (extra > 0)) * crew.most : 0}};
}

void allreduce_ring(const ReduceShape &s, Schedule &schedule) {
    Running running = begin(s, schedule);
    int right = (s.index + 1) % s.size, left = (s.index - 1 + s.size) % s.size;
    auto wrapped = [&](int part) { return ((part % s.size) + s.size) % s.size; };
    auto part = [&](int number) {
        int64_t start = part_start(s.result.count, s.size, number);
        return s.result.part(start, part_start(s.result.count, s.size, number + 1) - start);
    };

    // Part i starts at rank i and collects contributions on its way round the ring. It is complete at rank
    // i-1, and then travels round the ring again.
    std::vector<StepId> sent(s.size, no_step);
    StepId have = running.ready();
    Block landing[2] = {schedule.scratch(part(0).count, *s.result.type),
                        schedule.scratch(part(0).count, *s.result.type)};
    StepId landing_free[2] = {no_step, no_step};
    int label = 0;
    for (int round = 0; round + 1 < s.size; ++round, ++label) {
        int outgoing = wrapped(s.index - round), incoming = wrapped(s.index - round - 1);
        sent[outgoing] = schedule.send(right, part(outgoing), have, label);
        Block arrived = landing[round % 2].part(0, part(incoming).count);
        StepId got = schedule.receive(left, arrived, landing_free[round % 2], label);
        have = landing_free[round % 2] = schedule.reduce(arrived, part(incoming), {got, running.ready()});
    }
    for (int round = 0; round + 1 < s.size; ++round, ++label) {
        int outgoing = wrapped(s.index + 1 - round), incoming = wrapped(s.index - round);
        schedule.send(right, part(outgoing), have, label);
        have = schedule.receive(left, part(incoming), {sent[incoming], running.ready()}, label);
    }
}

Work allreduce_ring_work(const Crew &crew, int64_t bytes) {
    int size = crew.size;
    Far round = far_ring(crew, int64_t{size} * (size - 1), double(bytes));
    return {.rounds = 2 * (size - 1),
            .messages = 2 * int64_t{size} * (size - 1),
            .bytes = 2 * bytes * (size - 1),
            .path_bytes = 2.0 * double(bytes),
            .path_reduced = double(bytes),
            .fresh_bytes = 2.0 * double(bytes),
            .far = {2 * round.rounds, 0, 2 * round.messages, 2 * round.path_bytes}};
}

}  // namespace lanyard
