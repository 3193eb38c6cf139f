// Keeps track of which uses of a node area (node_area.h) the ranks of a team are done with. Each rank counts
// its own finished uses in order (Team::node_use) and states in its header up to which use it is done. Its
// slots repeat this number. A slot is written again, and memory that other ranks read is released, only when
// all ranks are done with the use.
//
// A rank that waits until all are done first adds itself to the area's count of waiting ranks
// (NodeArea::awaited), and then checks the headers once more. A rank that is done first states this in its
// header, and then reads the count. So either the waiting rank sees the new header, or the other rank sees
// that a rank waits. The last rank to be done wakes the waiting ranks. Used by exchanges (exchange_run.h).
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/shm/area_team.h"

namespace lanyard {

// The most uses that a rank may finish out of order, beyond the use up to which it is done. Later uses wait.
constexpr uint32_t most_uses_ahead = 64;

// States that this rank is done with all uses up to `through`.
void tell_done_through(const AreaTeam &, uint32_t through);
// States that this rank is done with this use. It need not be done with earlier uses.
void tell_done(const AreaTeam &, uint32_t generation);

// Slots also state up to which use their ranks are done. read_who_is_done() reads this from the slots of a
// use in which all ranks have posted. learn_who_is_done() does so only if a rank that posts `bytes` bytes in
// each use will soon need this information.
void read_who_is_done(const AreaTeam &, uint32_t generation);
inline void learn_who_is_done(const AreaTeam &place, uint32_t generation, size_t bytes) {
    if (generation - place.team.node_use.known_done >= place.area.uses_apart(bytes) / 2)
        read_who_is_done(place, generation);
}

// Lets one exchange wait until all ranks are done with a use.
class DoneWait {
public:
    // Is every rank done with all uses up to this one? If not, this rank is counted among the waiting ranks
    // until a later call returns true.
    bool all_done(const AreaTeam &place, uint32_t generation) {
        if (!reached(generation, place.team.node_use.known_done) && !look(place, generation)) return false;
        if (counted_) stop(place);
        return true;
    }
    bool waits() const { return counted_; }
    // Waits no longer.
    void give_up(const AreaTeam &place) {
        if (counted_) stop(place);
    }

private:
    bool look(const AreaTeam &, uint32_t generation);
    void stop(const AreaTeam &);

    bool counted_ = false;  // this rank is counted in NodeArea::awaited()
};

}  // namespace lanyard
