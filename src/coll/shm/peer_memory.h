// Reads memory of other ranks of a node directly (NodeReach::read). The kernel may begin to refuse such
// reads, because a process has restricted its own rights. The reader then requests pieces through its header
// in the node area. The owner of the memory copies a requested piece into the area whenever it checks for
// requests. While the reader waits, it serves requests of others, on every team on which it has an operation
// under way, because two ranks may request memory from each other on different teams. Used by exchanges
// (exchange_run.h).
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/shm/node_area_test.cc, tests/failures/test_machine.py.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/shm/exchange_task.h"

namespace lanyard {

// Reads `bytes` bytes at an address in the memory of a rank. That rank has posted the address and waits until
// all have read. If the kernel refuses the read, waits for that rank's answers, without a time limit.
void read_memory(const ExchangeTask &, int rank, uint64_t address, std::byte *to, int64_t bytes);

// answer_all_askers() copies the pieces of this rank's memory that other ranks request. answer_askers() does
// so only if any rank has a request.
void answer_all_askers(const NodeArea &, const Team &);
inline void answer_askers(const NodeArea &area, const Team &team) {
    if (area.asking().load(std::memory_order_relaxed) > 0) answer_all_askers(area, team);
}

}  // namespace lanyard
