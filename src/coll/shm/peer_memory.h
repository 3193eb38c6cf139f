// Memory of other ranks of a node, read directly (NodeReach::read), and what is done where reading is refused from some time on (a process has
// locked itself in): the reader asks for pieces through its header in the node area, and their owner copies them there whenever it looks. The
// reader answers others while it waits for that, on every team it is under way on: two may ask each other on different ones.
// Used by exchanges (exchange_run.h); by the engine's owner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/shm/exchange_task.h"

namespace lanyard {

// So many bytes at this address of a rank, which posted it and waits until it has been read.
void read_memory(const ExchangeTask &, int rank, uint64_t address, std::byte *to, int64_t bytes);

// Copies what others ask for of this rank's memory.
void answer_all_askers(const NodeArea &, const Team &);
inline void answer_askers(const NodeArea &area, const Team &team) {
    if (area.asking().load(std::memory_order_relaxed) > 0) answer_all_askers(area, team);
}

}  // namespace lanyard
