#include "comm/relay.h"

#include <algorithm>

#include "coll/block.h"

namespace lanyard {
namespace {

// In the binomial tree over 0 .. size - 1 the members below r are r + 1, r + 2, r + 4, ... while that adds a new bit; the
// subtree of r is a run of neighbours beginning with r.
int span_of(int member, int size) {
    int lowest = member == 0 ? size : member & -member;
    return std::min(lowest, size - member);
}
int above(int member) { return member & (member - 1); }

// The object whose member `completion` this is.
template <class T>
T *holder_of(Completion &completion) {
    static const size_t offset = reinterpret_cast<size_t>(&reinterpret_cast<T *>(64)->completion) - 64;
    return reinterpret_cast<T *>(reinterpret_cast<std::byte *>(&completion) - offset);
}

}  // namespace

void Relay::plan_spread(const Meeting &meeting, void *data, size_t bytes) {
    int own = meeting.own;
    if (own != 0) add(receives_, meeting, above(own), data, bytes);
    int largest = 1;
    while (largest < span_of(own, meeting.size())) largest *= 2;
    for (int distance = largest; distance >= 1; distance /= 2)  // the deepest subtree first
        if (distance < span_of(own, meeting.size())) add(sends_, meeting, own + distance, data, bytes);
}

void Relay::plan_gather(const Meeting &meeting, void *data, size_t entry_bytes) {
    int own = meeting.own;
    auto *entries = static_cast<std::byte *>(data);
    auto entry = [&](int member) { return entries + static_cast<size_t>(member) * entry_bytes; };
    auto bytes = [&](int member) { return static_cast<size_t>(span_of(member, meeting.size())) * entry_bytes; };
    for (int distance = 1; distance < span_of(own, meeting.size()); distance *= 2)
        add(receives_, meeting, own + distance, entry(own + distance), bytes(own + distance));
    if (own != 0) add(sends_, meeting, above(own), entry(own), bytes(own));
}

void Relay::add(std::deque<Step> &steps, const Meeting &meeting, int other, void *data, size_t bytes) {
    auto place = static_cast<size_t>(other);
    Step &step = steps.emplace_back();
    step.relay = this;
    step.context = meeting.context;
    step.tag = meeting.tag;
    step.rank = meeting.names[&steps == &receives_ ? place : static_cast<size_t>(meeting.own)];
    step.peer = meeting.peers[place];
    step.buffer = {static_cast<std::byte *>(data), static_cast<int64_t>(bytes), &packed_bytes()};
    step.completion.then = told;
}

void Relay::start() {
    open_ = receives_.size();
    if (open_ == 0) return start_sends();
    for (Step &step : receives_) messenger_.receive(step);
}

void Relay::start_sends() {
    sending_ = true;
    open_ = sends_.size() + 1;  // one more while starting, as a send may complete before it returns
    for (Step &step : sends_) messenger_.send(step);
    if (--open_ == 0) completion.finish();
}

void Relay::step_done(Step &step) {
    if (step.error) {
        if (error) step.error.discard();  // the first one is told
        else error = step.error;
        step.error = {};
    }
    if (--open_ > 0) return;
    if (sending_) return completion.finish();
    task_.run = send_now;
    messenger_.engine().ready(task_);  // not from here: this runs in the middle of a delivery
}

void Relay::told(Completion &completion) {
    Step &step = *holder_of<Step>(completion);
    step.relay->step_done(step);
}

Relay &Relay::of(Completion &completion) { return *holder_of<Relay>(completion); }

int Relay::send_now(Task &task) {
    static_cast<SendTask &>(task).relay->start_sends();
    return 1;
}

Error run(Relay &relay, Engine &engine) {
    EngineGuard guard(engine);
    relay.start();
    engine.wait_owned(relay.completion);
    return relay.error;
}

}  // namespace lanyard
