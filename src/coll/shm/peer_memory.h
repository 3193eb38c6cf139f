// Reads memory of other ranks of a node directly (NodeReach::read). The kernel may begin to refuse such
// reads, because a process has restricted its own rights. The reader then requests pieces through its header
// in the node area (RankHeader). The owner of the memory copies a requested piece into the area whenever it
// checks for requests, and wakes the reader. Used by exchanges (exchange_run.h).
//
// A rank has at most one request under way in each area. No function here waits longer than a moment for an
// answer, because the owner may compute outside MPI, or may have died. The reader asks again in its next
// call. Every request is answered once its owner is inside MPI: the owner has posted the address, so it has
// an exchange under way in this area until all have read, and every call of ExchangeRun::advance() answers.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/shm/posts_test.cc, tests/unit/coll/shm/node_area_test.cc.
// Tested by: tests/failures/test_machine.py.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/shm/exchange_task.h"

namespace lanyard {

// Reads memory of a rank, which has posted the address and waits until all have read. `bytes` is at least 1.
// Returns how many bytes have been read. If the kernel refuses reads, these are few, or 0 as long as the
// requested piece has not arrived. The caller then calls again with the address of the first byte that is
// missing. `reader` stands for the caller, so that each caller takes the answers to its own requests.
int64_t read_memory(const ExchangeTask &, const void *reader, int rank, uint64_t address, std::byte *to,
                    int64_t bytes);

// To be called for a reader that will not call again. If it has a request under way, withdraws the request.
// The owner may be about to answer nevertheless, so this rank makes no more requests in this area.
void withdraw_request(const AreaTeam &, const void *reader);

// answer_all_askers() copies the pieces of this rank's memory that other ranks request. answer_askers() does
// so only if any rank has a request.
void answer_all_askers(const AreaTeam &);
inline void answer_askers(const AreaTeam &place) {
    if (place.area.asking().load(std::memory_order_relaxed) > 0) answer_all_askers(place);
}

}  // namespace lanyard
