#include "coll/schedule.h"

namespace lanyard {

namespace {
constexpr int64_t scratch_alignment = 64;

int64_t aligned(int64_t bytes) { return (bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment; }
}  // namespace

void Schedule::clear() {
    steps_.clear();
    edges_.clear();
    exchanges_.clear();
    transfers_ = 0;
    scratch_size_ = 0;
    op = nullptr;
}

StepId Schedule::add(const Step &step, After after) {
    auto id = static_cast<StepId>(steps_.size());
    steps_.push_back(step);
    for (StepId first : after) {
        if (first == no_step) continue;
        Step &earlier = steps_[first];
        edges_.push_back({id, earlier.first_edge});
        earlier.first_edge = static_cast<int32_t>(edges_.size()) - 1;
        ++steps_[id].before;
    }
    return id;
}

StepId Schedule::send(int peer, const Block &from, After after, int label) {
    if (from.empty()) return join(after);
    Step step{.kind = StepKind::send, .label = static_cast<uint16_t>(label), .peer = peer, .number = transfers_++};
    step.from = from;
    return add(step, after);
}

StepId Schedule::receive(int peer, const Block &to, After after, int label) {
    if (to.empty()) return join(after);
    Step step{.kind = StepKind::receive, .label = static_cast<uint16_t>(label), .peer = peer, .number = transfers_++};
    step.to = to;
    return add(step, after);
}

StepId Schedule::signal(int peer, After after, int label) {
    Step step{.kind = StepKind::send, .label = static_cast<uint16_t>(label), .peer = peer, .number = transfers_++};
    step.from = {Space::scratch, 0, 0, &packed_bytes()};
    return add(step, after);
}

StepId Schedule::await_signal(int peer, After after, int label) {
    Step step{.kind = StepKind::receive, .label = static_cast<uint16_t>(label), .peer = peer, .number = transfers_++};
    step.to = {Space::scratch, 0, 0, &packed_bytes()};
    return add(step, after);
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

// With nothing or one step to wait for there is nothing to join.
StepId Schedule::join(After after) {
    StepId only = no_step;
    for (StepId first : after) {
        if (first == no_step || first == only) continue;
        if (only != no_step) return add(Step{.kind = StepKind::join}, after);
        only = first;
    }
    return only;
}

StepId Schedule::exchange(const Exchange &exchange, After after) {
    exchanges_.push_back(exchange);
    return add(Step{.kind = StepKind::exchange, .number = static_cast<int32_t>(exchanges_.size()) - 1}, after);
}

Block Schedule::scratch_bytes(int64_t bytes) {
    Block block{Space::scratch, scratch_size_, bytes, &packed_bytes()};
    scratch_size_ += aligned(bytes);
    return block;
}

Block Schedule::scratch(int64_t count, const Datatype &type) {
    int64_t span = count > 0 ? type.true_extent + (count - 1) * (type.extent < 0 ? -type.extent : type.extent) : 0;
    // With a negative extent element i lies below element 0: the block's address is that of the last one in memory.
    int64_t below = type.extent < 0 && count > 0 ? (count - 1) * -type.extent : 0;
    Block block{Space::scratch, scratch_size_ + below - type.true_lower_bound, count, &type};
    scratch_size_ += aligned(span);
    return block;
}

}  // namespace lanyard
