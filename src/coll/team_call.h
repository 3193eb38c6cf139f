// Which one of its team's collectives an operation is: its number among them, the tag of its messages, and what all ranks must agree upon. Others
// are told of it where they may be in another call (executor.h says when).
//
// Making a persistent operation is a call like others in the sequence; its starts are not, and their messages have numbers apart.
// By the engine's owner.
#pragma once

#include <cstdint>

#include "coll/agreement.h"
#include "coll/collective_tag.h"
#include "coll/team.h"
#include "p2p/messenger.h"

namespace lanyard {

// Tells a peer in which collective this rank waits (kind_awaiting), or which one the rank of the key calls (kind_calls).
void tell_call(Messenger &messenger, uint32_t peer, EnvelopeKind kind, const MatchKey &key, uint32_t word);

class TeamCall {
public:
    // A call in which another rank makes another one, and what this rank does there.
    struct Place {
        int32_t tag;
        uint32_t word;
    };

    // The team's next collective, or again the persistent one that this is.
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
    uint32_t number() const { return number_; }  // from 1; 0 of persistent ones, which are not started in one order
    bool persistent() const { return persistent_; }
    Place place() const { return {tag_, word_}; }
    MatchKey message_from(int rank, int label = 0) const { return {team_->context, rank, tag_ | (label & (max_labels - 1))}; }

    // Tells a rank what this one calls.
    void tell(Messenger &messenger, int rank, EnvelopeKind kind) const;
    // Tells all others what this rank calls there and what that other one does, whichever of both they wait for; and, where that was an earlier
    // call, of this one, which they may be in.
    void tell_mismatch(Messenger &messenger, const Error &mismatch, const Place &place) const;

private:
    Team *team_ = nullptr;
    int32_t tag_ = 0;
    uint32_t number_ = 0;
    uint32_t word_ = 0;
    uint32_t made_ = 0;        // of a persistent one: the number under which it was made
    bool persistent_ = false;  // has a tag of its own
};

}  // namespace lanyard
