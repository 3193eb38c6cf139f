// How far the ranks of a team are with the uses of its node area (node_area.h). Each counts its own uses in
// order (Team::node_use) and states in its header through which one it is done. Its slots repeat this. A slot
// is written again, and memory that others read is released, only when all are done.
//
// A rank that waits for this first counts itself in the area's awaited word, and then checks once more. A
// rank that is done states this first, and then reads the word. So it either sees the waiting rank or is seen
// by it. The last of those for which all wait wakes them.
// Used by exchanges (exchange_run.h).
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/shm/area_team.h"

namespace lanyard {

// The most uses that are counted beyond the one through which this rank is done; later ones wait.
constexpr uint32_t most_uses_ahead = 64;

// This rank is done with all uses through this one.
void tell_done_through(const AreaTeam &, uint32_t through);
// This rank is done with this use, perhaps not with earlier ones.
void tell_done(const AreaTeam &, uint32_t generation);

// Slots also state how far ranks are. A rank that posts this number of bytes reads it well before it needs
// it, once all have posted.
void read_who_is_done(const AreaTeam &, uint32_t generation);
inline void learn_who_is_done(const AreaTeam &place, uint32_t generation, size_t bytes) {
    if (generation - place.team.node_use.known_done >= place.area.uses_apart(bytes) / 2)
        read_who_is_done(place, generation);
}

// The wait of one exchange until all ranks are done with a use.
class DoneWait {
public:
    // Is every rank done with all uses through this one? Until the answer is yes, this rank counts among
    // those that wait.
    bool all_done(const AreaTeam &place, uint32_t generation) {
        if (!reached(generation, place.team.node_use.known_done) && !look(place, generation)) return false;
        if (counted_) stop(place);
        return true;
    }
    bool waits() const { return counted_; }

private:
    bool look(const AreaTeam &, uint32_t generation);
    void stop(const AreaTeam &);

    bool counted_ = false;  // this rank is counted in the awaited word
};

}  // namespace lanyard
