// Implements the allgather algorithms, for even and uneven blocks (MPI-5.0 6.7).
// Tested by: tests/unit/coll/moves_test.cc.
#include "coll/algorithms.h"

namespace lanyard {

namespace {

// Copies this rank's own block to its place in the result.
StepId place_own(const MoveShape &s, Schedule &schedule) {
    return s.in_place ? no_step : schedule.copy(s.sent.block(0), s.received.block(s.index), {});
}

}  // namespace

// Collects packed blocks, in the order index, index+1, ... (modulo the size). Before round k a rank has 2^k
// blocks. In round k it receives at most 2^k more blocks from the rank that is 2^k above it.
void allgather_bruck(const MoveShape &s, Schedule &schedule) {
    auto rank_at = [&](int position) { return (s.index + position) % s.size; };
    std::vector<int64_t> start(s.size + 1, 0);
    for (int i = 0; i < s.size; ++i) start[i + 1] = start[i] + s.received.block(rank_at(i)).bytes();
    Block all = schedule.scratch_bytes(start[s.size]);
    auto positions = [&](int first, int last) { return all.slice(start[first], start[last] - start[first]); };

    StepId placed = place_own(s, schedule);
    StepId have =
        schedule.copy(s.in_place ? s.received.block(s.index) : s.sent.block(0), positions(0, 1), placed);
    int label = 0;
    for (int distance = 1; distance < s.size; distance *= 2, ++label) {
        int blocks = std::min(distance, s.size - distance);
        schedule.send((s.index - distance + s.size) % s.size, positions(0, blocks), have, label);
        StepId got = schedule.receive(rank_at(distance), positions(distance, distance + blocks), {}, label);
        have = schedule.join({have, got});
    }
    if (s.received.dense()) {
        int upper = s.size - s.index;  // number of blocks from this rank's own to the last
        schedule.copy(positions(1, upper), s.received.range(s.index + 1, upper - 1), have);
        schedule.copy(positions(upper, s.size), s.received.range(0, s.index), have);
        return;
    }
    for (int i = 1; i < s.size; ++i) schedule.copy(positions(i, i + 1), s.received.block(rank_at(i)), have);
}

Work allgather_bruck_work(const Crew &crew, int64_t bytes) {
    int size = crew.size, rounds = doublings(size);
    double all = double(bytes);
    Far far = far_dissemination(crew, 0);
    far.path_bytes = crew.spread() ? all * crew.most : 0;
    return {.rounds = rounds,
            .messages = int64_t{size} * rounds,
            .bytes = (size - 1) * bytes,
            .path_bytes = 2 * all,
            .copied_in_all = 2.0 * size * all,
            .far = far};
}

// In each round every rank sends to its right neighbour the block that it received in the round before.
void allgather_ring(const MoveShape &s, Schedule &schedule) {
    int right = (s.index + 1) % s.size, left = (s.index - 1 + s.size) % s.size;
    StepId have = place_own(s, schedule);
    for (int round = 0; round + 1 < s.size; ++round) {
        int outgoing = (s.index - round + s.size) % s.size,
            incoming = (s.index - round - 1 + s.size) % s.size;
        schedule.send(right, s.received.block(outgoing), have, round);
        have = schedule.receive(left, s.received.block(incoming), {}, round);
    }
}

Work allgather_ring_work(const Crew &crew, int64_t bytes) {
    int size = crew.size;
    int64_t messages = int64_t{size} * (size - 1);
    return {.rounds = size - 1,
            .messages = messages,
            .bytes = (size - 1) * bytes,
            .path_bytes = double(bytes),
            .far = far_ring(crew, messages, double(bytes))};
}

}  // namespace lanyard
