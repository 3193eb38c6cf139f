// Barrier algorithms (MPI-5.0 6.3).
#include "coll/algorithms.h"

namespace lanyard {

// In round k every rank tells the one 2^k above it and hears from the one 2^k below: after the last round each has heard,
// directly or not, from all.
void barrier_dissemination(const Members &m, Schedule &schedule) {
    StepId heard = no_step;
    int round = 0;
    for (int distance = 1; distance < m.size; distance *= 2, ++round) {
        schedule.signal((m.index + distance) % m.size, heard, round);
        StepId hear = schedule.await_signal((m.index - distance + m.size) % m.size, {}, round);
        heard = schedule.join({heard, hear});
    }
}

Work barrier_dissemination_work(int size, int64_t) {
    int rounds = doublings(size);
    return {.rounds = rounds, .messages = int64_t{size} * rounds};
}

void barrier_exchange(const Members &, Schedule &schedule) {
    schedule.exchange({.posts = true, .wants = Exchange::Wants::everyone, .wakes = Exchange::Wants::everyone}, {});
}

Work barrier_exchange_work(int size, int64_t) { return {.slots_read = size, .slots_read_in_all = int64_t{size} * size}; }

}  // namespace lanyard
