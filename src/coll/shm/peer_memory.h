// Memory of other ranks of a node, read directly (NodeReach::read). It may be refused from some time on,
// because a process has restricted itself. The reader then requests pieces through its header in the node
// area, and their owner copies them there whenever it checks for requests. While the reader waits it serves
// others, on every team on which it has an operation under way, because two ranks may request from each other
// on different teams.
// Used by exchanges (exchange_run.h).
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/shm/exchange_task.h"

namespace lanyard {

// Reads this many bytes at an address of a rank, which has posted it and waits until it has been read.
void read_memory(const ExchangeTask &, int rank, uint64_t address, std::byte *to, int64_t bytes);

// Copies what others request of this rank's memory.
void answer_all_askers(const NodeArea &, const Team &);
inline void answer_askers(const NodeArea &area, const Team &team) {
    if (area.asking().load(std::memory_order_relaxed) > 0) answer_all_askers(area, team);
}

}  // namespace lanyard
