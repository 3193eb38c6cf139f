// See schedule.h.
#include "coll/schedule.h"

namespace lanyard {

namespace {
constexpr int64_t scratch_alignment = 64;

int64_t aligned(int64_t bytes) {
    return (bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
}
}  // namespace

void Schedule::clear() {
    steps_.clear();
    edges_.clear();
    exchanges_.clear();
    blocks_.clear();
    transfers_ = 0;
    scratch_size_ = 0;
    first_member_ = 0;
    phase_begin_ = 0;
    before_phase_ = no_step;
    phase_members_ = nullptr;
    phase_gate_ = no_step;
    latest_.clear();
    op = nullptr;
}

StepId Schedule::add(const Step &step, After after) {
    auto id = static_cast<StepId>(steps_.size());
    steps_.push_back(step);
    for (StepId first : after)
        if (first != no_step) order(first, id);
    StepId gate = phase_gate_ != no_step ? phase_gate_ : before_phase_;
    if (gate != no_step && steps_[id].before == 0) order(gate, id);
    return id;
}

void Schedule::order(StepId first, StepId then) {
    Step &earlier = steps_[first];
    edges_.push_back({then, earlier.first_edge});
    earlier.first_edge = static_cast<int32_t>(edges_.size()) - 1;
    ++steps_[then].before;
}

// Adds a send or a receive.
StepId Schedule::transfer(StepKind kind, int peer, const Block &block, After after, int label) {
    Step step{.kind = kind,
              .label = static_cast<uint16_t>(label % max_labels),
              .peer = named(peer),
              .number = transfers_++};
    (kind == StepKind::send ? step.from : step.to) = block;
    StepId id = add(step, after);
    if (label >= max_labels || !latest_.empty()) order_by_label(id, label >= max_labels);
    return id;
}

// Makes the step the latest one of its kind with its peer and label. `waits`: it starts when the latest one
// before it is done.
void Schedule::order_by_label(StepId id, bool waits) {
    auto latest = [&](StepId step) -> StepId & {
        const Step &s = steps_[step];
        return latest_.try_emplace({s.kind, s.peer, s.label}, step).first->second;
    };
    if (latest_.empty())
        for (StepId earlier = 0; earlier < id; ++earlier)
            if (steps_[earlier].kind == StepKind::send || steps_[earlier].kind == StepKind::receive)
                latest(earlier) = earlier;
    StepId &before = latest(id);
    if (waits && before != id) order(before, id);
    before = id;
}

void Schedule::next_phase() {
    std::vector<StepId> last;
    for (size_t id = phase_begin_; id < steps_.size(); ++id)
        if (steps_[id].first_edge < 0) last.push_back(static_cast<StepId>(id));
    if (!last.empty()) before_phase_ = join(last);
    phase_begin_ = steps_.size();
}

void Schedule::enter(const int32_t *members, StepId gate) {
    phase_members_ = members;
    phase_gate_ = gate;
    phase_first_ = static_cast<StepId>(steps_.size());
}

StepId Schedule::leave(Over over) {
    StepId gate = phase_gate_;
    std::vector<StepId> all;
    for (StepId id = phase_first_; id < static_cast<StepId>(steps_.size()); ++id)
        if (over == Over::everything ? steps_[id].first_edge < 0 : steps_[id].kind != StepKind::send)
            all.push_back(id);
    phase_members_ = nullptr;
    phase_gate_ = no_step;
    return all.empty() ? gate : join(all);
}

StepId Schedule::send(int peer, const Block &from, After after, int label) {
    return from.empty() ? join(after) : transfer(StepKind::send, peer, from, after, label);
}

StepId Schedule::receive(int peer, const Block &to, After after, int label) {
    return to.empty() ? join(after) : transfer(StepKind::receive, peer, to, after, label);
}

StepId Schedule::signal(int peer, After after, int label) {
    return transfer(StepKind::send, peer, {Space::scratch, 0, 0, &packed_bytes()}, after, label);
}

StepId Schedule::await_signal(int peer, After after, int label) {
    return transfer(StepKind::receive, peer, {Space::scratch, 0, 0, &packed_bytes()}, after, label);
}

StepId Schedule::copy(const Block &from, const Block &to, After after) {
    if (from.empty()) return join(after);
    Step step{.kind = StepKind::copy};
    step.from = from;
    step.to = to;
    return add(step, after);
}

StepId Schedule::reduce(const Block &from, const Block &to, After after) {
    if (from.count == 0) return join(after);
    Step step{.kind = StepKind::reduce};
    step.from = from;
    step.to = to;
    return add(step, after);
}

// Adds no step if there is at most one step to wait for.
StepId Schedule::join(After after) {
    StepId only = no_step;
    for (StepId first : after) {
        if (first == no_step || first == only) continue;
        if (only != no_step) return add(Step{.kind = StepKind::join}, after);
        only = first;
    }
    return only;
}

Exchange &Schedule::exchange(After after) {
    StepId id =
        add(Step{.kind = StepKind::exchange, .number = static_cast<int32_t>(exchanges_.size())}, after);
    Exchange &exchange = exchanges_.emplace_back();
    exchange.step = id;
    return exchange;
}

int32_t Schedule::list_blocks(int size) {
    auto first = static_cast<int32_t>(blocks_.size());
    blocks_.resize(blocks_.size() + static_cast<size_t>(size));
    return first;
}

Block Schedule::scratch_bytes(int64_t bytes) {
    Block block{Space::scratch, scratch_size_, bytes, &packed_bytes()};
    scratch_size_ += aligned(bytes);
    return block;
}

Block Schedule::scratch(int64_t count, const Datatype &type) {
    int64_t span =
        count > 0 ? type.true_extent + (count - 1) * (type.extent < 0 ? -type.extent : type.extent) : 0;
    // If the extent is negative, element i lies below element 0. The block then begins at its highest
    // element.
    int64_t below = type.extent < 0 && count > 0 ? (count - 1) * -type.extent : 0;
    Block block{Space::scratch, scratch_size_ + below - type.true_lower_bound, count, &type};
    scratch_size_ += aligned(span);
    return block;
}

}  // namespace lanyard
