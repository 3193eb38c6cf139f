// Implements the scan and exscan algorithms (MPI-5.0 6.11).
// Tested by: tests/unit/coll/reductions_test.cc.
#include "coll/algorithms.h"

namespace lanyard {

// Before round k the value combines the contributions of this rank and of the 2^k - 1 ranks right below it.
// In round k the rank 2^k below sends its value, which combines the next 2^k lower ranks.
void scan_doubling(const ReduceShape &s, Schedule &schedule) {
    schedule.op = s.op;
    StepId ready = s.contribution == s.result ? no_step : schedule.copy(s.contribution, s.result, {});
    Block landing = s.index > 0 ? schedule.scratch(s.result.count, *s.result.type) : Block{};
    StepId landing_free = no_step;
    int label = 0;
    for (int distance = 1; distance < s.size; distance *= 2, ++label) {
        StepId sent = no_step;
        if (s.index + distance < s.size) sent = schedule.send(s.index + distance, s.result, ready, label);
        if (s.index < distance) continue;
        StepId got = schedule.receive(s.index - distance, landing, landing_free, label);
        ready = landing_free = schedule.reduce(landing, s.result, {got, ready, sent});
    }
}

// The same, with the value in scratch memory. The result combines only the values received, without this
// rank's own contribution.
void exscan_doubling(const ReduceShape &s, Schedule &schedule) {
    schedule.op = s.op;
    Block value = schedule.scratch(s.contribution.count, *s.contribution.type);
    Block landing = s.index > 0 ? schedule.scratch(s.contribution.count, *s.contribution.type) : Block{};
    StepId ready = schedule.copy(s.contribution, value, {});
    StepId result = ready, landing_free = no_step;
    int label = 0;
    bool first = true;
    for (int distance = 1; distance < s.size; distance *= 2, ++label) {
        StepId sent = no_step;
        if (s.index + distance < s.size) sent = schedule.send(s.index + distance, value, ready, label);
        if (s.index < distance) continue;
        StepId got = schedule.receive(s.index - distance, landing, landing_free, label);
        result = first ? schedule.copy(landing, s.result, {got, result})
                       : schedule.reduce(landing, s.result, {got, result});
        first = false;
        bool more_to_send = s.index + 2 * distance < s.size;
        if (more_to_send) ready = schedule.reduce(landing, value, {got, ready, sent});
        landing_free = schedule.join({result, more_to_send ? ready : no_step});
    }
}

Work scan_doubling_work(const Crew &crew, int64_t bytes) {
    int size = crew.size, rounds = doublings(size);
    Work work{.rounds = rounds,
              .path_bytes = double(rounds) * double(bytes),
              .path_reduced = double(rounds) * double(bytes),
              .fresh_bytes = double(rounds) * double(bytes),
              .one_way = bytes <= sent_at_once_bytes};
    for (int distance = 1; distance < size; distance *= 2) work.messages += size - distance;
    work.bytes = work.messages * bytes;
    work.reduced_in_all = double(work.bytes);
    work.far = far_dissemination(crew, double(bytes));
    work.far.messages = std::min(work.far.messages, work.messages);
    return work;
}

void scan_linear(const ReduceShape &s, Schedule &schedule) {
    schedule.op = s.op;
    StepId ready = s.contribution == s.result ? no_step : schedule.copy(s.contribution, s.result, {});
    if (s.index > 0) {
        Block landing = schedule.scratch(s.result.count, *s.result.type);
        ready = schedule.reduce(landing, s.result, {schedule.receive(s.index - 1, landing, {}), ready});
    }
    if (s.index + 1 < s.size) schedule.send(s.index + 1, s.result, ready);
}

// The data from the rank below is the result. Combined with this rank's own contribution, it is sent to the
// rank above.
void exscan_linear(const ReduceShape &s, Schedule &schedule) {
    schedule.op = s.op;
    bool last = s.index + 1 == s.size;
    if (s.index == 0) {
        if (!last) schedule.send(1, s.contribution, {});
        return;
    }
    Block value = last ? Block{} : schedule.scratch(s.contribution.count, *s.contribution.type);
    StepId own = last ? no_step : schedule.copy(s.contribution, value, {});
    StepId got = schedule.receive(s.index - 1, s.result, own);
    if (!last) schedule.send(s.index + 1, value, schedule.reduce(s.result, value, {got, own}));
}

Work scan_linear_work(const Crew &crew, int64_t bytes) {
    int size = crew.size, hops = crew.runs ? crew.nodes - 1 : size - 1;
    double path = double(size - 1) * double(bytes);
    return {.rounds = size - 1,
            .messages = size - 1,
            .bytes = (size - 1) * bytes,
            .path_bytes = (size - 1) * moved_in_time(bytes),
            .path_reduced = path,
            .reduced_in_all = path,
            .fresh_bytes = path - double(bytes),
            .busiest_bytes = 2 * double(bytes),
            .one_way = bytes <= sent_at_once_bytes,
            .far = {hops, 0, hops, hops * double(bytes)}};
}

}  // namespace lanyard
