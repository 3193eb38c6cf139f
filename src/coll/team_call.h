// A TeamCall identifies one collective call of a team: its number in the sequence of the team's collectives,
// the tag of its messages, and a word that encodes what all ranks must agree upon (agreement.h). The call is
// reported to other ranks that may be in a different call (executor.h says when).
//
// The creation of a persistent operation is a call in the sequence. The starts of the operation are not, and
// their messages are numbered separately.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/plan_test.cc, tests/failures/test_mismatch.py.
#pragma once

#include <cstdint>

#include "coll/agreement.h"
#include "coll/collective_tag.h"
#include "coll/team.h"
#include "p2p/messenger.h"

namespace lanyard {

// Sends a report to a peer, unless the peer has failed. With kind_awaiting it says in which collective this
// rank waits. With kind_calls it says which collective the rank in `key` calls.
void tell_call(Messenger &messenger, uint32_t peer, EnvelopeKind kind, const MatchKey &key, uint32_t word);

class TeamCall {
public:
    // This rank's call at a place in the sequence. `word` encodes the call (agreement.h).
    struct OwnCall {
        int32_t tag;
        uint32_t word;
    };

    // Begins the team's next collective, or another start of a persistent one.
    void begin(Team &team, uint32_t word) {
        team_ = &team;
        word_ = word;
        if (persistent_) return;
        tag_ = tag_of(team.sequence, false);
        number_ = ++team.sequence;
        team.recent[number_of(tag_) % recent_collectives] = word;
    }
    // Makes the operation persistent: reserves the tag that every later start uses.
    void make_persistent(Team &team, uint32_t word);
    void end() { persistent_ = false; }

    Team &team() const { return *team_; }
    int32_t tag() const { return tag_; }
    uint32_t word() const { return word_; }
    // Counted from 1; 0 for persistent operations, because ranks may start them in different orders.
    uint32_t number() const { return number_; }
    bool persistent() const { return persistent_; }
    OwnCall own_call() const { return {tag_, word_}; }
    // `label`: as in Step, below max_labels.
    MatchKey message_from(int rank, int label = 0) const {
        return {team_->context, rank, tag_ | label};
    }

    // Reports this call to another rank.
    void tell(Messenger &messenger, int rank, EnvelopeKind kind) const;
    // Two ranks make different calls at a place in the sequence: this rank the call `own`, and the rank that
    // `mismatch` names. Reports both calls to all other ranks, because a rank may wait for either of these
    // two ranks. If `mismatch` names no rank, reports only this rank's call. If `own` is an earlier call, the
    // call that this rank makes now is reported as well, because other ranks may wait in the present call.
    void tell_mismatch(Messenger &messenger, const Error &mismatch, const OwnCall &own) const;

private:
    Team *team_ = nullptr;
    int32_t tag_ = 0;
    uint32_t number_ = 0;
    uint32_t word_ = 0;
    uint32_t made_ = 0;        // if persistent: the place of its creation in the sequence
    bool persistent_ = false;  // has a tag of its own
};

}  // namespace lanyard
