// Implements the barrier algorithms (MPI-5.0 6.3).
// Tested by: tests/unit/coll/moves_test.cc.
#include "coll/algorithms.h"

namespace lanyard {

// In round k every rank signals to the rank 2^k above it and receives a signal from the rank 2^k below it.
// After the last round each rank has, directly or indirectly, a signal from all.
void barrier_dissemination(const Members &m, Schedule &schedule) {
    StepId heard = no_step;
    int round = 0;
    for (int distance = 1; distance < m.size; distance *= 2, ++round) {
        schedule.signal((m.index + distance) % m.size, heard, round);
        StepId hear = schedule.await_signal((m.index - distance + m.size) % m.size, {}, round);
        heard = schedule.join({heard, hear});
    }
}

Work barrier_dissemination_work(const Crew &crew, int64_t) {
    int rounds = doublings(crew.size);
    return {.rounds = rounds, .messages = int64_t{crew.size} * rounds, .far = far_dissemination(crew, 0)};
}

// The same with up to `radix` - 1 signals in a round, to the ranks at 1, 2, ... `radix` - 1 times the
// distance.
void barrier_knomial(const Members &m, Schedule &schedule, int radix) {
    StepId heard = no_step;
    int round = 0;
    for (int64_t distance = 1; distance < m.size; distance *= radix, ++round) {
        StepId before = heard;
        for (int64_t away = distance, digit = 1; digit < radix && away < m.size; away += distance, ++digit) {
            auto by = static_cast<int>(away);
            schedule.signal((m.index + by) % m.size, before, round);
            StepId hear = schedule.await_signal((m.index - by + m.size) % m.size, {}, round);
            heard = schedule.join({heard, hear});
        }
    }
}

Work barrier_knomial_work(const Crew &crew, int64_t, int radix) {
    int64_t each = 0;
    for (int64_t distance = 1; distance < crew.size; distance *= radix)
        each += std::min<int64_t>(radix - 1, (crew.size - 1) / distance);
    Work work{.rounds = static_cast<int>(each), .messages = crew.size * each};
    if (!crew.spread()) return work;
    // The messages that a rank sends in one round are under way at the same time.
    int rounds = growths(crew.size, radix);
    work.far = {rounds, static_cast<int>(each) - rounds, 0, 0};
    bool even_runs = crew.runs && crew.most == crew.fewest;
    for (int64_t distance = 1; distance < crew.size; distance *= radix)
        for (int64_t away = distance, digit = 1; digit < radix && away < crew.size; away += distance, ++digit)
            work.far.messages +=
                even_runs ? crew.nodes * std::min({away, int64_t{crew.most}, crew.size - away}) : crew.size;
    return work;
}

}  // namespace lanyard
