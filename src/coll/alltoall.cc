// Implements the alltoall algorithms (MPI-5.0 6.8).
// Tested by: tests/unit/coll/moves_test.cc.
#include "coll/algorithms.h"

namespace lanyard {

Division put_aside(const MoveShape &s, Schedule &schedule, StepId &ready) {
    int64_t bytes = 0;
    for (int rank = 0; rank < s.size; ++rank) bytes += s.received.block(rank).bytes();
    Division blocks =
        Division::packed(Space::scratch, schedule.scratch_bytes(bytes).offset, s.received, s.size);
    std::vector<StepId> aside;
    for (int rank = 0; rank < s.size; ++rank)
        if (rank != s.index) aside.push_back(schedule.copy(s.received.block(rank), blocks.block(rank), {}));
    ready = schedule.join(aside);
    return blocks;
}

namespace {

constexpr int rounds_at_once = 8;

// The blocks to be sent. With MPI_IN_PLACE these are copies in scratch memory, which are complete when
// `ready` is done.
struct BlocksToSend {
    StepId ready = no_step;
    Division blocks;

    BlocksToSend(const MoveShape &s, Schedule &schedule)
        : blocks(s.in_place ? put_aside(s, schedule, ready) : s.sent) {}
};

}  // namespace

// In round k every rank sends to the rank k above and receives from the rank k below. Round k begins when
// round k - rounds_at_once has ended, so that no rank receives too many messages at once.
void alltoall_pairwise(const MoveShape &s, Schedule &schedule) {
    BlocksToSend outgoing(s, schedule);
    if (!s.in_place) schedule.copy(s.sent.block(s.index), s.received.block(s.index), {});
    StepId over[rounds_at_once];
    std::fill_n(over, rounds_at_once, no_step);
    for (int round = 1; round < s.size; ++round) {
        int above = (s.index + round) % s.size, below = (s.index - round + s.size) % s.size;
        StepId &slot = over[round % rounds_at_once];
        StepId got = schedule.receive(below, s.received.block(below), {outgoing.ready, slot});
        StepId sent = schedule.send(above, outgoing.blocks.block(above), {outgoing.ready, slot});
        slot = schedule.join({got, sent, slot});
    }
}

Work alltoall_pairwise_work(const Crew &crew, int64_t bytes) {
    int size = crew.size;
    int64_t blocks = int64_t{size} * (size - 1);
    // Most rounds do not wait for the round before, but each rank handles the messages of all rounds itself,
    // so `rounds` counts all rounds.
    return {.rounds = size - 1,
            .messages = blocks,
            .waits = int64_t{size} * ((size - 2) / rounds_at_once + 1),
            .bytes = blocks * bytes,
            .path_bytes = double(size - 1) * double(bytes),
            .far = far_pairs(crew, double(bytes), rounds_at_once)};
}

// Position j holds a block that has to travel j ranks upwards in total. In round k the blocks at positions
// with bit k set travel 2^k ranks, so that at the end each block has travelled its whole distance.
void alltoall_bruck(const MoveShape &s, Schedule &schedule) {
    BlocksToSend outgoing(s, schedule);
    int64_t length = s.received.block(0).bytes();
    Block held = schedule.scratch_bytes(s.size * length);
    Block bundle_out = schedule.scratch_bytes((s.size + 1) / 2 * length),
          bundle_in = schedule.scratch_bytes((s.size + 1) / 2 * length);
    auto position = [&](int i) { return held.slice(i * length, length); };

    if (!s.in_place) schedule.copy(s.sent.block(s.index), s.received.block(s.index), {});
    std::vector<StepId> at(s.size, no_step);  // the step after which position i holds its block
    for (int i = 1; i < s.size; ++i)
        at[i] = schedule.copy(outgoing.blocks.block((s.index + i) % s.size), position(i), outgoing.ready);

    StepId sent = no_step, emptied = no_step;
    int label = 0;
    std::vector<StepId> bundled, unbundled;
    for (int distance = 1; distance < s.size; distance *= 2, ++label) {
        bundled.clear();
        unbundled.clear();
        int64_t bundle = 0;
        for (int i = distance; i < s.size; ++i) {
            if (!(i & distance)) continue;
            bundled.push_back(schedule.copy(position(i), bundle_out.slice(bundle, length), {at[i], sent}));
            bundle += length;
        }
        sent = schedule.send((s.index + distance) % s.size, bundle_out.slice(0, bundle), bundled, label);
        StepId got = schedule.receive((s.index - distance + s.size) % s.size, bundle_in.slice(0, bundle),
                                      emptied, label);
        for (int i = distance; i < s.size; ++i) {
            if (!(i & distance)) continue;
            auto next = static_cast<int64_t>(unbundled.size());
            at[i] = schedule.copy(bundle_in.slice(next * length, length), position(i), {got, bundled[next]});
            unbundled.push_back(at[i]);
        }
        emptied = schedule.join(unbundled);
    }
    for (int i = 1; i < s.size; ++i)
        schedule.copy(position(i), s.received.block((s.index - i + s.size) % s.size), at[i]);
}

Work alltoall_bruck_work(const Crew &crew, int64_t bytes) {
    int size = crew.size;
    int64_t blocks = 0;  // sent by one rank in all rounds
    for (int distance = 1; distance < size; distance *= 2) {
        int64_t whole = size / (2 * distance), rest = size % (2 * distance);
        blocks += whole * distance + std::max<int64_t>(rest - distance, 0);
    }
    // Every block is also copied into a bundle before it is sent, and out of a bundle afterwards.
    return {.rounds = doublings(size),
            .messages = int64_t{size} * doublings(size),
            .bytes = size * blocks * bytes,
            .path_bytes = 3.0 * double(blocks) * double(bytes),
            .copied_in_all = 2.0 * double(size * blocks) * double(bytes),
            .far = far_dissemination(crew, double(size) / 2 * double(bytes))};
}

}  // namespace lanyard
