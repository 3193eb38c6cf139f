// See team_call.h.
#include "coll/team_call.h"

namespace lanyard {

void tell_call(Messenger &messenger, uint32_t number, EnvelopeKind kind, const MatchKey &key, uint32_t word) {
    Peer &peer = messenger.endpoint().peers[number];
    if (!peer.closed)
        messenger.endpoint().channels.post(peer, message_envelope(key, kind, 0, word), nullptr, 0);
}

void TeamCall::make_persistent(Team &team, uint32_t word) {
    team_ = &team;
    tag_ = tag_of(team.persistent++, true);
    word_ = word;
    made_ = team.sequence++;
    team.recent[made_ % recent_collectives] = word;
    number_ = 0;
    persistent_ = true;
}

// A persistent operation is also reported by the number of its creation, because a rank that never created it
// does not expect its starts. This is done only as long as that number stands for no later call.
void TeamCall::tell(Messenger &messenger, int rank, EnvelopeKind kind) const {
    uint32_t peer = team_->peers[rank];
    tell_call(messenger, peer, kind, message_from(team_->index), word_);
    bool known_by_number = team_->sequence - made_ < collective_numbers / 4;
    if (persistent_ && known_by_number)
        tell_call(messenger, peer, kind, {team_->context, team_->index, tag_of(made_, false)}, word_);
}

void TeamCall::tell_mismatch(Messenger &messenger, const Error &mismatch, const OwnCall &own) const {
    for (int rank = 0; rank < team_->size; ++rank) {
        if (rank == team_->index) continue;
        uint32_t peer = team_->peers[rank];
        auto tell_there = [&](int who, uint32_t word) {
            tell_call(messenger, peer, kind_calls, {team_->context, who, own.tag}, word);
        };
        if (own.tag >> label_bits != tag_ >> label_bits) tell_there(team_->index, own.word);
        tell(messenger, rank, kind_calls);
        if (mismatch.other_rank() >= 0 && mismatch.other_rank() != rank)
            tell_there(mismatch.other_rank(), mismatch.other_word());
    }
}

}  // namespace lanyard
