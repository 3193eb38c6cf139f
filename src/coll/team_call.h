// The place of an operation among its team's collectives: its number, the tag of its messages, and what all
// ranks must agree upon. It is reported to other ranks that may be in another call (executor.h says when).
//
// Creating a persistent operation is a call in the sequence. Its starts are not, and their messages have
// numbers of their own.
// Thread rule: the owner of the engine.
#pragma once

#include <cstdint>

#include "coll/agreement.h"
#include "coll/collective_tag.h"
#include "coll/team.h"
#include "p2p/messenger.h"

namespace lanyard {

// Reports to a peer in which collective this rank waits (kind_awaiting), or which one the rank of the key
// calls (kind_calls).
void tell_call(Messenger &messenger, uint32_t peer, EnvelopeKind kind, const MatchKey &key, uint32_t word);

class TeamCall {
public:
    // A place in the sequence at which another rank makes another call, and what this rank does there.
    struct Place {
        int32_t tag;
        uint32_t word;
    };

    // This is the team's next collective, or another start of the persistent one.
    void begin(Team &team, uint32_t word) {
        team_ = &team;
        word_ = word;
        if (persistent_) return;
        tag_ = tag_of(team.sequence, false);
        number_ = ++team.sequence;
        team.recent[number_of(tag_) % recent_collectives] = word;
    }
    // Takes the tag of every later start now.
    void make_persistent(Team &team, uint32_t word);
    void end() { persistent_ = false; }

    Team &team() const { return *team_; }
    int32_t tag() const { return tag_; }
    uint32_t word() const { return word_; }
    // From 1; 0 for persistent ones, which have no common order of starts.
    uint32_t number() const { return number_; }
    bool persistent() const { return persistent_; }
    Place place() const { return {tag_, word_}; }
    MatchKey message_from(int rank, int label = 0) const {
        return {team_->context, rank, tag_ | (label & (max_labels - 1))};
    }

    // Reports to a rank what this one calls.
    void tell(Messenger &messenger, int rank, EnvelopeKind kind) const;
    // Reports to all others what this rank calls at that place and what the other rank calls, for whichever
    // of both they wait. If that was an earlier call, also reports this one, in which they may be.
    void tell_mismatch(Messenger &messenger, const Error &mismatch, const Place &place) const;

private:
    Team *team_ = nullptr;
    int32_t tag_ = 0;
    uint32_t number_ = 0;
    uint32_t word_ = 0;
    uint32_t made_ = 0;        // of a persistent one: the number under which it was created
    bool persistent_ = false;  // has a tag of its own
};

}  // namespace lanyard
