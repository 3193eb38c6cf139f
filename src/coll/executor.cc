// See executor.h.
#include "coll/executor.h"

namespace lanyard {

namespace {

// Is this the number of one of the team's latest collectives, whose words are still in Team::recent?
bool is_recent(const Team &team, uint32_t number) {
    return ((team.sequence - 1 - number) & (collective_numbers - 1)) < recent_collectives;
}

// If more messages are stored than this, some may be from ranks that are so far ahead that the numbers of
// collectives have come round again and look recent. Then numbers are not compared.
constexpr size_t most_compared = collective_numbers / 64;

constexpr uint8_t told_after_alarms = 2;

}  // namespace

Executor::Executor(Messenger &messenger, NodeReach *reach) : messenger_(messenger), reach_(reach) {
    messenger.set_observer(this);
    for (EnvelopeKind kind : {kind_awaiting, kind_calls}) messenger.dispatch().bind(kind, *this);
    Task::run = [](Task &task) { return static_cast<Executor &>(task).report_long_waits(); };
}

Executor::~Executor() {
    messenger_.set_observer(nullptr);
    messenger_.dispatch().unbind(*this);
    while (spare_) {
        Collective *collective = spare_;
        spare_ = collective->next_spare_;
        delete collective;
    }
}

void Executor::give_back(Collective *collective) {
    engine().check_owner();
    collective->completion.then = nullptr;
    collective->error = {};
    collective->plan.clear();
    TeamCall &call = collective->call_;
    if (call.persistent()) kept_tags_.erase({call.team().context, call.tag()});
    call.end();
    collective->next_spare_ = spare_;
    spare_ = collective;
}

Error Executor::finish(Collective *collective) {
    engine().check_owner();
    look_for_posts(*collective);
    if (!collective->completion.complete()) engine().wait_owned(collective->completion);
    Error error = collective->error;
    give_back(collective);
    return error;
}

Error Executor::compared(uint32_t own, uint32_t other, int32_t other_rank) {
    return agree(own, other) ? Error() : disagreement(own, other, other_rank);
}

Error Executor::judge_early_messages(const Team &team) {
    EarlyMessage message;
    if (early_.empty() || !early_.take_disagreeing(team, team.sequence - 1, message)) return {};
    return disagreement(team.recent[message.number % recent_collectives], message.check, message.source);
}

// Lets collectives that wait long report their call to the ranks for which they wait. A collective does so
// when the executor's timer fires for the second time since its start, so that it has waited for at least one
// whole interval.
int Executor::report_long_waits() {
    bool untold = false;
    for (Collective *one = under_way_.front(); one; one = under_way_.after(*one)) {
        if (one->alarms_ < told_after_alarms && ++one->alarms_ == told_after_alarms) one->tell_awaited();
        untold |= one->alarms_ < told_after_alarms;
    }
    if (untold) engine().set_alarm(engine().now_ns() + alarm_every_ns, *this);
    return 0;
}

void Executor::envelope(uint32_t, const Envelope &envelope, const std::byte *, size_t) {
    if (envelope.kind == kind_awaiting && envelope.check && messenger_.unexpected().count() <= most_compared)
        answer(envelope);
    heard(envelope);
}

void Executor::heard(const Envelope &envelope) {
    if (!envelope.check || messenger_.unexpected().count() > most_compared) return;
    uint32_t number = number_of(envelope.tag);
    bool kept = is_persistent(envelope.tag);
    for (Collective *one = under_way_.front(); one; one = under_way_.after(*one)) {
        const TeamCall &call = one->call_;
        if (call.team().context != envelope.context) continue;
        uint32_t own = call.word();
        if (kept) {
            if (!call.persistent() || number_of(call.tag()) != number) continue;
        } else {
            if (!is_recent(call.team(), number)) continue;
            own = call.team().recent[number % recent_collectives];
        }
        if (!agree(own, envelope.check))
            one->abandon(disagreement(own, envelope.check, envelope.source), {envelope.tag, own});
        return;
    }
    early_.add({envelope.context, number, kept, envelope.check, envelope.source});
}

// Answers a rank that waits in a collective, if this rank made a different call at that place in the
// sequence. That call may have ended.
void Executor::answer(const Envelope &envelope) {
    if (is_persistent(envelope.tag)) return;
    uint32_t number = number_of(envelope.tag), own = 0, peer = 0;
    int index = 0;
    {
        SpinGuard guard(teams_lock_);
        auto known = teams_.find(envelope.context);
        if (known == teams_.end() || !is_recent(*known->second, number)) return;
        const Team &team = *known->second;
        own = team.recent[number % recent_collectives];
        peer = team.peers[envelope.source];
        index = team.index;
    }
    if (!agree(own, envelope.check))
        tell_call(messenger_, peer, kind_calls, {envelope.context, index, envelope.tag}, own);
}

void Executor::know(const Team &team) {
    SpinGuard guard(teams_lock_);
    teams_[team.context] = &team;
}

void Executor::forget(const Team &team) {
    SpinGuard guard(teams_lock_);
    auto known = teams_.find(team.context);
    if (known != teams_.end() && known->second == &team) teams_.erase(known);
}

}  // namespace lanyard
