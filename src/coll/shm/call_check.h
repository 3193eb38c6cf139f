// What the ranks of a team say of one use of its node area (node_area.h): do all make the same call, and does each bring as many bytes as this
// rank expects? Keeps what does not fit, for the sentence that the program gets. What was posted for another call is not used.
//
// A rank that only posts learns nothing of the others: that it was the only one in its call is seen later, before it waits for anybody, from what
// all tell of their latest uses (CallLog). So a disagreement may be one of an earlier use.
// Used by exchanges (exchange_run.h); by the engine's owner.
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

    // Whether what a rank posted belongs to what this rank does.
    bool compare(int rank, const CollectiveCall &other) { return compare(rank, own_, other); }
    // Uses in which this rank only posted: remembered when it is done with one, and compared before it waits, or where they are many.
    void remember_alone(const AreaTeam &place, uint32_t generation) const {
        NodeUse &use = place.team.node_use;
        use.alone[use.alone_count++] = {generation, place.area.calls(place.team.index).told(generation)};
    }
    void compare_alone(const AreaTeam &place, bool waits) {
        int count = place.team.node_use.alone_count;
        if (count > 0 && (waits || count == NodeUse::most_alone)) compare_remembered(place);
    }
    bool disagrees() const { return other_rank_ >= 0; }

    // Whether a rank's contribution has the length that this rank expects.
    bool fits(int rank, int64_t bytes, int64_t expected) {
        if (bytes == expected) return true;
        misfit_ = rank;
        misfit_bytes_ = bytes;
        expected_bytes_ = expected;
        return false;
    }

    Error error() const;
    // Where that is a mismatch: what this rank did there, and how many collectives ago.
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
    int other_rank_ = -1;  // does something else, here or in an earlier use:
    int misfit_ = -1;      // posted another number of bytes than this rank expects:
    CollectiveCall disputed_ = {}, other_ = {};  // what this rank did there, and what the other
    int64_t misfit_bytes_ = 0, expected_bytes_ = 0;
};

}  // namespace lanyard
