// See node_area.h.
#include "coll/shm/node_area.h"

#include "coll/agreement.h"

namespace lanyard {

size_t node_area_bytes(int size) { return size < 2 ? 0 : NodeArea::bytes(size); }

int64_t node_slot_capacity(const Team &team) {
    return team.node_area ? static_cast<int64_t>(NodeArea(team).payload_bytes()) : -1;
}

int64_t node_slot_capacity_for_each(const Team &team) {
    int64_t capacity = node_slot_capacity(team) - int64_t{sizeof(SlotPlace)} * team.size;
    return capacity < 0 ? -1 : capacity / team.size / 16 * 16;
}

int called_by_another(const Team &team, uint32_t number, uint32_t word, uint32_t &other_word) {
    NodeArea area(team);
    uint32_t next = team.node_use.started + 1;
    for (int rank = 0; rank < team.size; ++rank) {
        CollectiveCall call;
        if (!area.calls(rank).find(next, call) || call.number != (number & Slot::most_numbers) ||
            agree(word, call.word))
            continue;
        other_word = call.word;
        return rank;
    }
    return -1;
}

}  // namespace lanyard
