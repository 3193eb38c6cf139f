// See processes.h.
#include "base/processes.h"

#include <algorithm>

namespace lanyard {

uint32_t Processes::append(ProcessName name, uint32_t node) {
    LANYARD_MUST(find(name) == nobody);
    uint32_t peer = count();
    size_t runs = runs_.size();
    Run *last = runs ? &runs_[runs - 1] : nullptr;
    bool follows = last && last->first.job == name.job &&
                   last->first.number + last->count.load(std::memory_order_relaxed) == name.number;
    if (!nodes_.make_room() || (!follows && !runs_.append(name, peer))) return nobody;
    nodes_.append(node);
    if (follows) last->count.fetch_add(1, std::memory_order_release);
    return peer;
}

const Processes::Run &Processes::run_of(uint32_t peer) const {
    return std::upper_bound(runs_.begin(), runs_.end(), peer,
                            [](uint32_t at, const Run &each) { return at < each.first_peer; })[-1];
}

uint32_t Processes::find(ProcessName name) const {
    for (const Run &run : runs_)
        if (run.first.job == name.job &&
            name.number - run.first.number < run.count.load(std::memory_order_acquire))
            return run.first_peer + (name.number - run.first.number);
    return nobody;
}

uint32_t Processes::find_later(uint64_t serial) const {
    for (const Run &run : runs_)
        if (serial - run.first.serial() < run.count.load(std::memory_order_acquire))
            return run.first_peer + static_cast<uint32_t>(serial - run.first.serial());
    return nobody;
}

std::string in_words(ProcessName name) {
    return std::to_string(name.number) + (name.job ? " of job " + std::to_string(name.job) : "");
}

}  // namespace lanyard
