// The place of a collective in the sequence of its team's collectives: its number, the tag of its messages,
// and what all ranks must agree upon. This place is reported to other ranks that may be in another call
// (executor.h says when).
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

// Reports to a peer in which collective this rank waits (kind_awaiting), or which collective the rank in
// `key` calls (kind_calls).
void tell_call(Messenger &messenger, uint32_t peer, EnvelopeKind kind, const MatchKey &key, uint32_t word);

class TeamCall {
public:
    // A place in the sequence at which another rank makes a different call, and this rank's word for the
    // place.
    struct Place {
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
    // Makes the operation persistent: takes the tag that every later start uses.
    void make_persistent(Team &team, uint32_t word);
    void end() { persistent_ = false; }

    Team &team() const { return *team_; }
    int32_t tag() const { return tag_; }
    uint32_t word() const { return word_; }
    // Counted from 1; 0 for persistent operations, because ranks may start them in different orders.
    uint32_t number() const { return number_; }
    bool persistent() const { return persistent_; }
    Place place() const { return {tag_, word_}; }
    MatchKey message_from(int rank, int label = 0) const {
        return {team_->context, rank, tag_ | (label & (max_labels - 1))};
    }

    // Reports this call to another rank.
    void tell(Messenger &messenger, int rank, EnvelopeKind kind) const;
    // Reports to all other ranks what this rank and the rank that disagrees call at `place`, because a rank
    // may wait for either of the two. If `place` is that of an earlier call, this call is reported too,
    // because other ranks may wait in it.
    void tell_mismatch(Messenger &messenger, const Error &mismatch, const Place &place) const;

private:
    Team *team_ = nullptr;
    int32_t tag_ = 0;
    uint32_t number_ = 0;
    uint32_t word_ = 0;
    uint32_t made_ = 0;        // if persistent: the place of its creation in the sequence
    bool persistent_ = false;  // has a tag of its own
};

}  // namespace lanyard
