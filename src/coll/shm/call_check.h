// Checks what the ranks of a team state about one use of its node area (node_area.h): do all make the same
// call, and does each contribute as many bytes as this rank expects? It keeps what does not match, for the
// error that the program gets. What was posted for another call is not used.
//
// A rank that only posts learns nothing about the others. That its call was different from theirs is found
// later, before it waits for any of them, from what all record of their latest uses (CallLog). A disagreement
// may therefore concern an earlier use.
// Used by exchange_run.h.
// Thread rule: the owner of the engine.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "coll/agreement.h"
#include "coll/shm/area_team.h"

namespace lanyard {

class CallCheck {
public:
    // What this rank does: the number of the collective among those of its team, and its check word.
    void begin(uint32_t word, uint32_t number) {
        own_ = {number & Slot::most_numbers, word};
        other_rank_ = misfit_ = -1;
    }
    const CollectiveCall &own() const { return own_; }

    // Does a rank's post belong to the call of this rank?
    bool compare(int rank, const CollectiveCall &other) { return compare(rank, own_, other); }
    // Uses in which this rank only posted. They are remembered when it is done with one, and compared before
    // it waits, or when there are many.
    void remember_alone(const AreaTeam &place, uint32_t generation) const {
        NodeUse &use = place.team.node_use;
        use.alone[use.alone_count++] = {generation, place.area.calls(place.team.index).told(generation)};
    }
    void compare_alone(const AreaTeam &place, bool waits) {
        int count = place.team.node_use.alone_count;
        if (count > 0 && (waits || count == NodeUse::most_alone)) compare_remembered(place);
    }
    bool disagrees() const { return other_rank_ >= 0; }

    // Does a rank's contribution have the length that this rank expects?
    bool fits(int rank, int64_t bytes, int64_t expected) {
        if (bytes == expected) return true;
        misfit_ = rank;
        misfit_bytes_ = bytes;
        expected_bytes_ = expected;
        return false;
    }

    Error error() const;
    // For a mismatch: what this rank did there, and how many collectives ago.
    uint32_t disputed_word() const { return disputed_.word; }
    uint32_t disputed_age() const { return (own_.number - disputed_.number) & Slot::most_numbers; }

private:
    bool compare(int rank, const CollectiveCall &own, const CollectiveCall &other) {
        if (other.number == own.number && agree(own.word, other.word)) [[likely]] return true;
        keep_disagreement(rank, own, other);
        return false;
    }
    void keep_disagreement(int rank, const CollectiveCall &own, const CollectiveCall &other);
    void compare_remembered(const AreaTeam &);

    CollectiveCall own_ = {};
    int other_rank_ = -1;                        // makes another call, here or in an earlier use:
    int misfit_ = -1;                            // posted another number of bytes than this rank expects:
    CollectiveCall disputed_ = {}, other_ = {};  // what this rank did there, and what the other did
    int64_t misfit_bytes_ = 0, expected_bytes_ = 0;
};

}  // namespace lanyard
