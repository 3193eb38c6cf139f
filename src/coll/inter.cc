// See inter.h.
#include "coll/inter.h"

#include "base/abi_constants.h"
#include "coll/running.h"

namespace lanyard {

namespace {

// Both functions begin a phase. Steps that are added from now on start when all earlier steps are done, and
// their `peer` is counted from the first member of the named group. The first function returns the team of
// the own group.
Team &phase_in_own_group(Team &team, Schedule &schedule) {
    schedule.next_phase();
    schedule.number_from(own_begin(team));
    return *team.own_group;
}
void phase_with_other_group(Team &team, Schedule &schedule) {
    schedule.next_phase();
    schedule.number_from(other_begin(team));
}

constexpr int first = 0;  // the member of a group that exchanges messages with the other group

// Combines the contributions of the own group at its first member. Returns the block that contains the result
// at that member.
Block reduce_in_own_group(const Selection &selection, Team &team, const Op &op, const Block &contribution,
                          Schedule &schedule) {
    Team &own = phase_in_own_group(team, schedule);
    ReduceShape shape{{own.index, own.size, own.nodes}, first, contribution, contribution, &op};
    if (own.size == 1) return contribution;
    // At other members no result is written.
    shape.result = own.index == first ? schedule.scratch(contribution.count, *contribution.type)
                                      : Block{Space::receive, 0, contribution.count, contribution.type};
    make_reduce(selection, own, shape, schedule);
    return shape.result;
}

void bcast_in_own_group(const Selection &selection, Team &team, const Block &data, Schedule &schedule) {
    Team &own = phase_in_own_group(team, schedule);
    if (own.size > 1) make_bcast(selection, own, {{own.index, own.size, own.nodes}, first, data}, schedule);
}

// Do the blocks travel through the first of the `size` members of their group? False: they are uneven, or it
// costs less if each member exchanges its block with the root directly.
bool goes_by_first(const Selection &selection, const Team &team, int size, const MoveShape &s,
                   int64_t bytes) {
    if (!s.even || size == 1) return false;
    Work collected = gather_binomial_work(size, bytes);
    ++collected.rounds;
    ++collected.messages;
    collected.bytes += size * bytes;
    collected.path_bytes += double(size) * double(bytes);
    Work straight = gather_linear_work(size + 1, bytes);
    auto estimate = [&](const Work &work) {
        return estimate_ns(work, selection.costs, size + 1, team.processors);
    };
    return estimate(collected) < estimate(straight);
}

// One block for the blocks of all `size` ranks of a division: these blocks themselves if they are dense, else
// scratch memory for their packed bytes.
Block as_one(const Division &blocks, int size, int64_t bytes, Schedule &schedule) {
    return blocks.dense() ? blocks.range(0, size) : schedule.scratch_bytes(size * bytes);
}

}  // namespace

void inter_bcast(const Selection &selection, Team &team, const Block &data, int root, Schedule &schedule) {
    if (data.empty() || root == abi::proc_null) return;
    phase_with_other_group(team, schedule);
    if (root == abi::root) {
        schedule.send(first, data, {});
        return;
    }
    if (team.own_group->index == first) schedule.receive(root, data, {});
    bcast_in_own_group(selection, team, data, schedule);
}

void inter_reduce(const Selection &selection, Team &team, const ReduceShape &s, Schedule &schedule) {
    if (s.result.empty() || s.root == abi::proc_null) return;
    if (s.root == abi::root) {
        phase_with_other_group(team, schedule);
        schedule.receive(first, s.result, {});
        return;
    }
    Block combined = reduce_in_own_group(selection, team, *s.op, s.contribution, schedule);
    phase_with_other_group(team, schedule);
    if (s.index == first) schedule.send(s.root, combined, {});
}

void inter_allreduce(const Selection &selection, Team &team, const ReduceShape &s, Schedule &schedule) {
    if (s.result.empty()) return;
    Block combined = reduce_in_own_group(selection, team, *s.op, s.contribution, schedule);
    phase_with_other_group(team, schedule);
    if (s.index == first) {
        schedule.send(first, combined, {});
        schedule.receive(first, s.result, {});
    }
    bcast_in_own_group(selection, team, s.result, schedule);
}

void inter_reduce_scatter(const Selection &selection, Team &team, const ReduceScatterShape &s,
                          Schedule &schedule) {
    if (s.contribution.empty()) return;
    const Datatype &type = *s.contribution.type;
    Block combined = reduce_in_own_group(selection, team, *s.op, s.contribution, schedule);
    Block landing = s.index == first ? schedule.scratch_bytes(s.contribution.bytes()) : Block{};
    phase_with_other_group(team, schedule);
    if (s.index == first) {
        schedule.send(first, combined, {});
        schedule.receive(first, landing, {});
    }
    Team &own = phase_in_own_group(team, schedule);
    bool even = s.counts.data == nullptr;
    Division parts = even ? Division::even(Space::receive, s.contribution.count / s.size, type)
                          : Division::uneven(Space::receive, s.counts, s.counts, type);
    MoveShape scatter{{s.index, s.size, s.nodes},
                      first,
                      {},
                      Division::even(Space::receive, s.result.count, type),
                      false,
                      even};
    if (s.index == first) scatter.sent = Division::packed(Space::scratch, landing.offset, parts, s.size);
    make_scatter(selection, own, scatter, even ? s.result.bytes() : 0, schedule);
}

void inter_gather(const Selection &selection, Team &team, const MoveShape &s, int64_t bytes,
                  Schedule &schedule) {
    if (s.root == abi::proc_null || (s.even && bytes == 0)) return;
    phase_with_other_group(team, schedule);
    bool at_root = s.root == abi::root;
    int size = at_root ? other_size(team) : own_size(team);
    if (!goes_by_first(selection, team, size, s, bytes)) {
        if (!at_root) schedule.send(s.root, s.sent.block(0), {});
        for (int rank = 0; at_root && rank < size; ++rank) schedule.receive(rank, s.received.block(rank), {});
        return;
    }
    if (at_root) {
        Block all = as_one(s.received, size, bytes, schedule);
        StepId got = schedule.receive(first, all, {});
        for (int rank = 0; all.space == Space::scratch && rank < size; ++rank)
            schedule.copy(all.slice(rank * bytes, bytes), s.received.block(rank), got);
        return;
    }
    Block all = s.index == first ? schedule.scratch_bytes(size * bytes) : Block{};
    MoveShape gather{{s.index, size, s.nodes}, first, s.sent, {}, false, true};
    if (s.index == first)
        gather.received = Division::packed(Space::scratch, all.offset,
                                           Division::even(Space::scratch, bytes, packed_bytes()), size);
    phase_in_own_group(team, schedule);
    gather_binomial(gather, schedule);
    phase_with_other_group(team, schedule);
    if (s.index == first) schedule.send(s.root, all, {});
}

void inter_scatter(const Selection &selection, Team &team, const MoveShape &s, int64_t bytes,
                   Schedule &schedule) {
    if (s.root == abi::proc_null || (s.even && bytes == 0)) return;
    phase_with_other_group(team, schedule);
    bool at_root = s.root == abi::root;
    int size = at_root ? other_size(team) : own_size(team);
    if (!goes_by_first(selection, team, size, s, bytes)) {
        if (!at_root) schedule.receive(s.root, s.received.block(0), {});
        for (int rank = 0; at_root && rank < size; ++rank) schedule.send(rank, s.sent.block(rank), {});
        return;
    }
    if (at_root) {
        Block all = as_one(s.sent, size, bytes, schedule);
        std::vector<StepId> packed;
        for (int rank = 0; all.space == Space::scratch && rank < size; ++rank)
            packed.push_back(schedule.copy(s.sent.block(rank), all.slice(rank * bytes, bytes), {}));
        schedule.send(first, all, packed);
        return;
    }
    Block all = s.index == first ? schedule.scratch_bytes(size * bytes) : Block{};
    if (s.index == first) schedule.receive(s.root, all, {});
    MoveShape scatter{{s.index, size, s.nodes}, first, {}, s.received, false, true};
    if (s.index == first)
        scatter.sent = Division::packed(Space::scratch, all.offset,
                                        Division::even(Space::scratch, bytes, packed_bytes()), size);
    phase_in_own_group(team, schedule);
    scatter_binomial(scatter, schedule);
}

// If the other group has n members and the own group m, member j of the own group receives the blocks of the
// ranks from part_start(n, m, j) to before part_start(n, m, j + 1). An allgather in the own group follows.
void inter_allgather(const Selection &selection, Team &team, const MoveShape &s, Schedule &schedule) {
    int own = own_size(team), others = other_size(team);
    phase_with_other_group(team, schedule);
    int taker = 0;
    while (part_start(own, others, taker + 1) <= s.index) ++taker;
    schedule.send(taker, s.sent.block(0), {});

    std::vector<int64_t> starts(static_cast<size_t>(others) + 1, 0);
    for (int rank = 0; rank < others; ++rank)
        starts[rank + 1] = starts[rank] + s.received.block(rank).bytes();
    bool in_place = s.received.dense() || own == 1;
    Block all = in_place ? s.received.block(0) : schedule.scratch_bytes(starts[others]);
    auto packed = [&](int rank) { return all.slice(starts[rank], starts[rank + 1] - starts[rank]); };
    std::vector<int64_t> counts(static_cast<size_t>(own)), places(static_cast<size_t>(own));
    for (int member = 0; member < own; ++member) {
        auto begin = static_cast<int>(part_start(others, own, member)),
             end = static_cast<int>(part_start(others, own, member + 1));
        counts[member] = starts[end] - starts[begin];
        places[member] = all.offset + starts[begin];
        for (int rank = begin; member == s.index && rank < end; ++rank)
            schedule.receive(rank, in_place ? s.received.block(rank) : packed(rank), {});
    }
    if (own == 1 || starts[others] == 0) return;
    Team &group = phase_in_own_group(team, schedule);
    Division parts = Division::uneven(all.space, {counts.data(), 8}, {places.data(), 8}, packed_bytes());
    MoveShape spread{{s.index, own, s.nodes}, 0, {}, parts, true, false};
    make_allgather(selection, group, spread, starts[others], schedule);
    schedule.next_phase();
    for (int rank = 0; !in_place && rank < others; ++rank)
        schedule.copy(packed(rank), s.received.block(rank), {});
}

// In round r the ranks i and j of the two groups exchange blocks if i + j = r, modulo the size of the larger
// group.
void inter_alltoall(Team &team, const MoveShape &s, Schedule &schedule) {
    constexpr int rounds_at_once = 8;
    phase_with_other_group(team, schedule);
    int others = other_size(team), rounds = std::max(own_size(team), others);
    StepId over[rounds_at_once];
    std::fill_n(over, rounds_at_once, no_step);
    for (int round = 0; round < rounds; ++round) {
        int other = (round - s.index + rounds) % rounds;
        if (other >= others) continue;
        StepId &slot = over[round % rounds_at_once];
        StepId got = schedule.receive(other, s.received.block(other), slot);
        StepId sent = schedule.send(other, s.sent.block(other), slot);
        slot = schedule.join({got, sent, slot});
    }
}

}  // namespace lanyard
