// Checks whether the ranks of a team make the same call in one use of its node area (node_area.h), and
// whether each contributes as many bytes as this rank expects. Keeps a mismatch, for the error that the
// program gets. Data that was posted for a different call is not used.
//
// A rank that only posts reads nothing of the other ranks. It compares its call with their calls later,
// before it waits for any of them. For this, every rank records the calls of its latest uses (CallLog). A
// disagreement may therefore concern an earlier use. Used by exchange_run.h.
// Thread rule: the owner of the engine.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "coll/agreement.h"
#include "coll/shm/area_team.h"

namespace lanyard {

class CallCheck {
public:
    // Begins the check of a use. `number`: the number of the collective among the collectives of its team,
    // counted from 0. `word`: this rank's check word.
    void begin(uint32_t word, uint32_t number) {
        number_ = number;
        own_ = {number & Slot::most_numbers, word};
        other_rank_ = misfit_ = -1;
    }
    const CollectiveCall &own() const { return own_; }

    // Does the post of another rank belong to this rank's call? If not, keeps the disagreement.
    bool compare(int rank, const CollectiveCall &other) { return compare(rank, own_, other); }
    // remember_alone() records a use in which this rank only posted, when the rank is done with the use.
    // compare_alone() compares the recorded uses with those of the other ranks, if this rank is about to wait
    // or has recorded as many uses as it can.
    void remember_alone(const AreaTeam &place, uint32_t generation) const {
        NodeUse &use = place.team.node_use;
        use.alone[use.alone_count++] = {generation, CallLog::word_of(generation, own_)};
    }
    void compare_alone(const AreaTeam &place, bool waits) {
        int count = place.team.node_use.alone_count;
        if (count > 0 && (waits || count == NodeUse::most_alone)) compare_remembered(place);
    }
    bool disagrees() const { return other_rank_ >= 0; }

    // Does the contribution of a rank have the length that this rank expects? If not, keeps the mismatch.
    bool fits(int rank, int64_t bytes, int64_t expected) {
        if (bytes == expected) return true;
        misfit_ = rank;
        misfit_bytes_ = bytes;
        expected_bytes_ = expected;
        return false;
    }

    // The error for what has been kept; no error if nothing has.
    Error error() const;
    // After a disagreement: this rank's word for the use in question, and how many collectives ago that was.
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

    uint32_t number_ = 0;
    CollectiveCall own_ = {};
    int other_rank_ = -1;  // the rank that disagrees, in this or an earlier use; -1: none
    int misfit_ = -1;      // the rank that posted an unexpected number of bytes; -1: none
    CollectiveCall disputed_ = {}, other_ = {};  // the calls of this rank and other_rank_ in that use
    int64_t misfit_bytes_ = 0, expected_bytes_ = 0;
};

}  // namespace lanyard
