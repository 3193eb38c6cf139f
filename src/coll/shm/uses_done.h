// How far the ranks of a team are with the uses of its node area (node_area.h). Each counts its own in order (Team::node_use) and says in its header
// through which one it is done; its slots repeat it. A slot is written again, and memory that others read given back, only when all are done.
//
// Who waits for that is counted in the area's awaited word, first, and looks once more after that; who says that it is done looks at the word
// after that: so it sees the one who waits or is seen. The last of those for whom all wait wakes them.
// Used by exchanges (exchange_run.h); by the engine's owner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/shm/area_team.h"

namespace lanyard {

// So many uses at most are counted beyond the one through which this rank is done: later ones wait.
constexpr uint32_t most_uses_ahead = 64;

// This rank is done with all uses through this one.
void tell_done_through(const AreaTeam &, uint32_t through);
// With this one, maybe not with those before.
void tell_done(const AreaTeam &, uint32_t generation);

// Slots also say how far ranks are: learnt well before it is needed, by those who post so many bytes, where all have posted.
void read_who_is_done(const AreaTeam &, uint32_t generation);
inline void learn_who_is_done(const AreaTeam &place, uint32_t generation, size_t bytes) {
    if (generation - place.team.node_use.known_done >= place.area.uses_apart(bytes) / 2) read_who_is_done(place, generation);
}

// The wait of one exchange for all to be done with a use.
class DoneWait {
public:
    // Is every rank done with all uses through this one? Until it says so, this rank is counted among those who wait.
    bool all_done(const AreaTeam &place, uint32_t generation) {
        if (!reached(generation, place.team.node_use.known_done) && !look(place, generation)) return false;
        if (counted_) stop(place);
        return true;
    }
    bool waits() const { return counted_; }

private:
    bool look(const AreaTeam &, uint32_t generation);
    void stop(const AreaTeam &);

    bool counted_ = false;  // in the awaited word
};

}  // namespace lanyard
