// What an exchange (exchange_run.h) works on. Each call passes it to the parts of an exchange, which keep
// nothing of it.
// Thread rule: plain values; the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "coll/schedule.h"
#include "coll/shm/area_team.h"
#include "coll/shm/stage.h"

namespace lanyard {

// Memory of a rank for pieces of what it reads, used during a call of ExchangeRun::advance().
constexpr int64_t exchange_pieces_bytes = 128 * 1024;

// Where an exchange takes place.
struct ExchangePlace : AreaTeam {
    const Exchange &exchange;
};

struct ExchangeTask : ExchangePlace {
    const Schedule &schedule;
    std::byte *pieces;  // exchange_pieces_bytes, aligned for any datatype
    const void *owner;  // maps blocks to memory, and serves requests for this rank's memory on other teams
    Buffer (*buffer_of)(const void *owner, const Block &block);
    void (*answer_elsewhere)(const void *owner) = [](const void *) {};
    // Receives the failure of the program's operation. It may already hold one.
    Error *failure = nullptr;
    Stage *stage = nullptr;               // nullptr: there is no stage
    const std::string *copies = nullptr;  // the setting; nullptr: "auto"

    Buffer buffer(const Block &block) const { return buffer_of(owner, block); }
};

}  // namespace lanyard
