// See uses_done.h.
#include "coll/shm/uses_done.h"

#include <bit>

#include "base/error.h"

namespace lanyard {

namespace {

// The use up to which all other ranks are done.
uint32_t least_of_others(const NodeArea &area, const Team &team) {
    uint32_t least = team.node_use.started;
    for (int rank = 0; rank < team.size; ++rank) {
        if (rank == team.index) continue;
        uint32_t done = area.header(rank).done_through.load(std::memory_order_acquire);
        if (!reached(least, done)) least = done;
    }
    return least;
}

// `before`: the use up to which this rank was done before. Wakes all ranks if this rank was the last to be
// done, so that waiting ranks can continue.
[[gnu::noinline]] void wake_where_last(const AreaTeam &place, uint32_t before) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    uint32_t least = least_of_others(place.area, place.team);
    if (least != before && reached(before, least)) place.wake_all(0, place.team.size);
}

}  // namespace

bool DoneWait::look(const AreaTeam &place, uint32_t generation) {
    NodeUse &use = place.team.node_use;
    for (int turn = 0; turn < 2; ++turn) {
        uint32_t least = least_of_others(place.area, place.team);
        use.known_done = reached(use.done_through, least) ? use.done_through : least;
        if (reached(generation, use.known_done)) return true;
        // This rank is counted first and then checks once more. So either a rank that is done sees the count,
        // or this rank sees that the other rank is done.
        if (counted_) return false;
        place.area.awaited().fetch_add(1, std::memory_order_seq_cst);
        counted_ = true;
    }
    return false;
}

void DoneWait::stop(const AreaTeam &place) {
    place.area.awaited().fetch_sub(1, std::memory_order_relaxed);
    counted_ = false;
}

void read_who_is_done(const AreaTeam &place, uint32_t generation) {
    NodeUse &use = place.team.node_use;
    uint32_t least = use.done_through;
    for (int rank = 0; rank < place.team.size; ++rank) {
        // Skips this rank's own slot, which is out of date if this rank did not post in this use.
        if (rank == place.team.index) continue;
        uint32_t done = place.area.slot(rank, generation).done_through.load(std::memory_order_relaxed);
        if (!reached(least, done)) least = done;
    }
    if (reached(use.known_done, least)) use.known_done = least;
}

void tell_done(const AreaTeam &place, uint32_t generation) {
    NodeUse &use = place.team.node_use;
    uint32_t ahead = generation - use.done_through - 1;
    LANYARD_MUST(ahead < most_uses_ahead);
    use.done_beyond |= uint64_t{1} << ahead;
    auto in_order = static_cast<uint32_t>(std::countr_one(use.done_beyond));
    if (in_order == 0) return;
    use.done_beyond = in_order == most_uses_ahead ? 0 : use.done_beyond >> in_order;
    tell_done_through(place, use.done_through + in_order);
}

void tell_done_through(const AreaTeam &place, uint32_t through) {
    Team &team = place.team;
    const NodeArea &area = place.area;
    uint32_t before = team.node_use.done_through;
    team.node_use.done_through = through;
    area.header(team.index).done_through.store(through, std::memory_order_release);
    if (!place.reach) return;
    // A rank that waits for this store is counted before it sleeps. The fence orders the store before the
    // read of the count.
    if (!place.reach->sleepers_make_barriers) std::atomic_thread_fence(std::memory_order_seq_cst);
    if (area.awaited().load(std::memory_order_relaxed)) wake_where_last(place, before);
}

}  // namespace lanyard
