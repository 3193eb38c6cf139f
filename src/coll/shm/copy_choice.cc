#include "coll/shm/copy_choice.h"

namespace lanyard {

using Among = Exchange::Among;

namespace {

// Of ranks that share processors: an owner and its takers of more would wait for each other many times, a change of process each, and there are few
// uses of such length to learn that from.
constexpr int64_t longest_crowded = 1 << 20;

bool is_auto(const ExchangeTask &task) { return !task.copies || *task.copies == "auto"; }

CopyWays::Kind kind_of(const ExchangeTask &task) { return task.exchange.unit > 1 ? CopyWays::Kind::combined : CopyWays::Kind::copied; }

// Each of `streams` is put once, and what is taken depends on who takes from whom.
bool stage_is_faster(const ExchangeTask &task, int64_t longest, int streams) {
    const Exchange &exchange = task.exchange;
    const Team &team = task.team;
    CopyWays &ways = task.area.ways();
    CopyWays::Kind kind = kind_of(task);
    if (ways.learned(kind, longest) && task.stage->is_time_to_try_anew(kind, longest)) ways.forget(kind, longest);
    bool crowded = is_crowded(team);
    int others = team.size - 1;
    if (exchange.wants != Among::none) return ways.by_stage(kind, longest, {streams, others, true});
    if (exchange.wakes == Among::root) return ways.by_stage(kind, longest, {crowded ? others : 1, others, crowded});
    return ways.by_stage(kind, longest, {streams, crowded || exchange.wakes == Among::higher ? others : 1, crowded});
}

}  // namespace

bool goes_by_stage(const ExchangeTask &task, int64_t longest, int streams) {
    if (!is_auto(task)) return *task.copies != "once";
    return !(is_crowded(task.team) && longest > longest_crowded) && stage_is_faster(task, longest, streams);
}

bool CopyMeter::is_learning(const ExchangeTask &task, int64_t bytes) {
    return task.stage && is_auto(task) && !task.area.ways().learned(kind_of(task), bytes);
}

void CopyMeter::tell(const ExchangeTask &task, CopyWays::Part part, int64_t bytes) {
    if (bytes_ > 0 && is_learning(task, bytes)) task.area.ways().note(kind_of(task), bytes, part, bytes_, ns_);
    *this = {};
}

}  // namespace lanyard
