// What an exchange (exchange_run.h) works on: the parts of an exchange are given it in each call and keep nothing of it. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "coll/schedule.h"
#include "coll/shm/area_team.h"
#include "coll/shm/stage.h"

namespace lanyard {

// Memory of a rank for pieces of what it reads, during a call of ExchangeRun::advance().
constexpr int64_t exchange_pieces_bytes = 128 * 1024;

// Where an exchange takes place.
struct ExchangePlace : AreaTeam {
    const Exchange &exchange;
};

struct ExchangeTask : ExchangePlace {
    const Schedule &schedule;
    std::byte *pieces;  // exchange_pieces_bytes, aligned for any datatype
    const void *owner;  // turns blocks into memory, and answers what is asked of this rank on other teams
    Buffer (*buffer_of)(const void *owner, const Block &block);
    void (*answer_elsewhere)(const void *owner) = [](const void *) {};
    Error *failure = nullptr;  // where the failure of the program's operation goes, which may be there already
    Stage *stage = nullptr;  // nullptr: there is none
    const std::string *copies = nullptr;  // the setting; nullptr: "auto"

    Buffer buffer(const Block &block) const { return buffer_of(owner, block); }
};

}  // namespace lanyard
