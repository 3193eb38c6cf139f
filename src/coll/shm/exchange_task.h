// An ExchangeTask names the data and memory on which an exchange (exchange_run.h) works.
// ExchangeRun::advance() passes it to the parts of the exchange, which keep no reference to it.
// Thread rule: values without a lock, used by the owner of the engine.
// Tested by: tests/unit/coll/shm/posts_test.cc, tests/unit/coll/shm/node_area_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "coll/schedule.h"
#include "coll/shm/area_team.h"
#include "coll/shm/stage.h"

namespace lanyard {

// The size of ExchangeTask::pieces. During a call of ExchangeRun::advance(), this rank reads pieces of other
// ranks' data into that memory.
constexpr int64_t exchange_pieces_bytes = 128 * KiB;

// An exchange, with the team and the node area in which it takes place.
struct ExchangePlace : AreaTeam {
    const Exchange &exchange;
};

struct ExchangeTask : ExchangePlace {
    const Schedule &schedule;
    std::byte *pieces;  // exchange_pieces_bytes of memory, aligned for any datatype
    const void *owner;  // the first argument of buffer_of()
    // Maps a block of the schedule to memory.
    Buffer (*buffer_of)(const void *owner, const Block &block);
    // A failure of the program's reduction function is stored here. `*failure` may already hold an earlier
    // error.
    Error *failure = nullptr;
    Stage *stage = nullptr;               // nullptr: there is no stage
    const std::string *copies = nullptr;  // the setting LANYARD_COPIES; nullptr means "auto"

    Buffer buffer(const Block &block) const { return buffer_of(owner, block); }
};

}  // namespace lanyard
