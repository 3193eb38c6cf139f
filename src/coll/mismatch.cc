// How the executor finds out that ranks call different collectives, and how none then waits for ever (executor.h).
#include <algorithm>

#include "coll/collective_tag.h"
#include "coll/executor.h"

namespace lanyard {

namespace {

// Has the team started a collective with this number, and not so many since that it has forgotten what that was?
bool is_recent(const Team &team, uint32_t number) { return ((team.sequence - 1 - number) & (collective_numbers - 1)) < recent_collectives; }

// With more messages stored than this some may be of ranks a round of numbers ahead, whose numbers would be taken for recent ones.
constexpr size_t most_compared = collective_numbers / 64;

constexpr uint8_t told_after_alarms = 2;

}  // namespace

// False, with the error, where messages that are here show that other ranks called something else.
bool Collective::agrees_with_early_messages() {
    EarlyMessages &early = executor_.early_;
    if (early.empty()) return true;
    EarlyMessage message;
    bool of_this = tag_kept_ && early.take_disagreeing_persistent(*team_, number_of(tag_), word_, message);
    if (!of_this && !early.take_disagreeing(*team_, team_->sequence - 1, message)) return true;
    uint32_t own = of_this ? word_ : team_->recent[message.number % recent_collectives];
    error = disagreement(own, message.check, message.source);
    doubt(error, {tag_of(message.number, message.persistent), own});
    return false;
}

Error Executor::compared(uint32_t own, uint32_t other, int32_t other_rank) {
    return agree(own, other) ? Error() : disagreement(own, other, other_rank);
}

Error Executor::judge_early_messages(const Team &team) {
    EarlyMessage message;
    if (early_.empty() || !early_.take_disagreeing(team, team.sequence - 1, message)) return {};
    return disagreement(team.recent[message.number % recent_collectives], message.check, message.source);
}

// False when it was abandoned, as another rank waits for this collective in the node area.
bool Collective::agrees_with_area() {
    uint32_t other = 0;
    int rank = called_by_another(*team_, number_of(tag_), word_, other);
    if (rank >= 0) abandon(disagreement(word_, other, rank), {tag_, word_});
    return rank < 0;
}

// What this rank calls. Of a persistent one also what it was made as, while that number means no other call: who never made it knows
// nothing of its starts.
void Collective::tell(int rank, EnvelopeKind kind) {
    uint32_t peer = team_->peers[rank];
    executor_.tell_call(peer, kind, {team_->context, team_->index, tag_}, word_);
    bool known_by_number = team_->sequence - made_ < collective_numbers / 4;
    if (tag_kept_ && known_by_number) executor_.tell_call(peer, kind, {team_->context, team_->index, tag_of(made_, false)}, word_);
}

void Collective::tell_awaited() {
    const std::vector<Step> &steps = schedule_->steps();
    for (StepId id = 0; id < static_cast<StepId>(steps.size()); ++id)
        if (steps[id].kind == StepKind::receive && before_[id] == 0) tell(steps[id].peer, kind_awaiting);
    for (int rank = 0; rank < team_->size && !polled_.empty(); ++rank)
        if (rank != team_->index) tell(rank, kind_awaiting);
}

void Collective::abandon(Error reason, Place place) {
    doubt(reason, place);
    keep(reason);
    if (!draining_ && !withdrawn_) withdraw();
}

// Nothing is started any more. All others are told what this rank calls there and what that other one does, whichever of both they wait
// for; and, where that was an earlier call, of this one, which they may be in.
void Collective::doubt(const Error &reason, Place place) {
    if (abandoned_) return;
    abandoned_ = true;
    for (int rank = 0; rank < team_->size; ++rank) {
        if (rank == team_->index) continue;
        if (place.tag >> label_bits != tag_ >> label_bits)
            executor_.tell_call(team_->peers[rank], kind_calls, {team_->context, team_->index, place.tag}, place.word);
        tell(rank, kind_calls);
        if (reason.other_rank() < 0 || reason.other_rank() == rank) continue;
        executor_.tell_call(team_->peers[rank], kind_calls, {team_->context, reason.other_rank(), place.tag},
                                       reason.other_word());
    }
}

// What has been started is withdrawn where that is possible.
void Collective::withdraw() {
    withdrawn_ = true;
    for (; next_ready_ < ready_.size(); ++next_ready_) before_[ready_[next_ready_]] = 1;
    for (StepId id : polled_) before_[id] = step_done;
    polled_.clear();
    const std::vector<Step> &steps = schedule_->steps();
    left_ = static_cast<int32_t>(std::count(before_.begin(), before_.end(), 0));
    draining_ = true;
    for (StepId id = 0; id < static_cast<StepId>(steps.size()); ++id)
        if (before_[id] == 0) std::visit([&](auto &operation) { executor_.messenger_.cancel(operation); }, flights_[steps[id].number].operation);
    draining_ = false;
    if (left_ == 0) finish();
}

// Who waits for long, a whole alarm after the one that saw it first, tells those for whom it waits.
int Executor::look_for_patient_ones() {
    bool untold = false;
    for (Collective *one = under_way_.front(); one; one = under_way_.after(*one)) {
        if (one->alarms_ < told_after_alarms && ++one->alarms_ == told_after_alarms) one->tell_awaited();
        untold |= one->alarms_ < told_after_alarms;
    }
    if (untold) engine().set_alarm(engine().now_ns() + alarm_every_ns, *this);
    return 0;
}

void Executor::envelope(uint32_t, const Envelope &envelope, const std::byte *, size_t) {
    if (envelope.kind == kind_awaiting && envelope.check && messenger_.unexpected().count() <= most_compared) answer(envelope);
    heard(envelope);
}

// Tells the peer in which collective this rank waits (kind_awaiting), or which one the rank of the key calls (kind_calls).
void Executor::tell_call(uint32_t number, EnvelopeKind kind, const MatchKey &key, uint32_t word) {
    Peer &peer = messenger_.endpoint().peers[number];
    if (!peer.closed) messenger_.endpoint().channels.post(peer, message_envelope(key, kind, 0, word), nullptr, 0);
}

void Executor::heard(const Envelope &envelope) {
    if (!envelope.check || messenger_.unexpected().count() > most_compared) return;
    uint32_t number = number_of(envelope.tag);
    bool kept = is_persistent(envelope.tag);
    for (Collective *one = under_way_.front(); one; one = under_way_.after(*one)) {
        if (one->team_->context != envelope.context) continue;
        uint32_t own = one->word_;
        if (kept) {
            if (!one->tag_kept_ || number_of(one->tag_) != number) continue;
        } else {
            if (!is_recent(*one->team_, number)) continue;
            own = one->team_->recent[number % recent_collectives];
        }
        if (!agree(own, envelope.check)) one->abandon(disagreement(own, envelope.check, envelope.source), {envelope.tag, own});
        return;
    }
    early_.add({envelope.context, number, kept, envelope.check, envelope.source});
}

// A rank waits for others in a collective in whose place this one called something else, and may be done with that.
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
    if (!agree(own, envelope.check)) tell_call(peer, kind_calls, {envelope.context, index, envelope.tag}, own);
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
