// See copy_choice.h.
#include "coll/shm/copy_choice.h"

namespace lanyard {

using Among = Exchange::Among;

namespace {

// The longest contribution that goes through the stage if ranks share processors. With a longer contribution,
// the owner and the takers (copy_rates.h) would wait for each other many times, with a switch of processes
// each time. Such contributions are too rare for their rates to be learned, so the limit is fixed.
constexpr int64_t longest_oversubscribed = 1 << 20;

bool is_auto(const ExchangeTask &task) { return !task.copies || *task.copies == "auto"; }

CopyRates::Kind kind_of(const ExchangeTask &task) {
    return task.exchange.combined ? CopyRates::Kind::combined : CopyRates::Kind::copied;
}

// Is the stage faster than direct copies for this contribution? Each of the `streams` streams is put into the
// stage once. How many copies are taken depends on which ranks take from which.
bool stage_is_faster(const ExchangeTask &task, int64_t longest, int streams) {
    const Exchange &exchange = task.exchange;
    const Team &team = task.team;
    CopyRates &rates = task.area.copy_rates();
    CopyRates::Kind kind = kind_of(task);
    if (rates.learned(kind, longest) && task.stage->is_time_to_try_anew(kind, longest))
        rates.forget(kind, longest);
    bool oversubscribed = is_oversubscribed(team);
    int others = team.size - 1;
    if (exchange.wants != Among::none) return rates.by_stage(kind, longest, {streams, others, true});
    if (exchange.wakes == Among::root)
        return rates.by_stage(kind, longest, {oversubscribed ? others : 1, others, oversubscribed});
    return rates.by_stage(
        kind, longest,
        {streams, oversubscribed || exchange.wakes == Among::higher ? others : 1, oversubscribed});
}

}  // namespace

bool goes_by_stage(const ExchangeTask &task, int64_t longest, int streams) {
    if (!is_auto(task)) return *task.copies != "once";
    return !(is_oversubscribed(task.team) && longest > longest_oversubscribed) &&
           stage_is_faster(task, longest, streams);
}

bool CopyMeter::is_learning(const ExchangeTask &task, int64_t bytes) {
    return task.stage && is_auto(task) && !task.area.copy_rates().learned(kind_of(task), bytes);
}

void CopyMeter::tell(const ExchangeTask &task, CopyRates::Part part, int64_t bytes) {
    if (bytes_ > 0 && is_learning(task, bytes))
        task.area.copy_rates().note(kind_of(task), bytes, part, bytes_, ns_);
    *this = {};
}

}  // namespace lanyard
