// Chooses the copy method for the long contribution of an exchange, directly or by the stage, and adds what
// an exchange measures to what its team learns of both (copy_rates.h). The setting may fix the choice
// (LANYARD_COPIES). Otherwise the method that has turned out faster is taken.
// Used by the parts of exchanges (exchange_run.h).
// Thread rule: the owner of the engine.
#pragma once

#include <cstdint>

#include "coll/shm/exchange_task.h"

namespace lanyard {

// Should what this rank puts into `streams` streams, the longest of this length, go by the stage? Otherwise
// it posts its address.
bool goes_by_stage(const ExchangeTask &, int64_t longest, int streams);

// Do ranks of the team share processors?
inline bool is_oversubscribed(const Team &team) { return team.processors > 0 && team.size > team.processors; }

// What has been copied by one method, in contributions of one size, while its rate is being learned.
class CopyMeter {
public:
    // Is the rate for contributions of this number of bytes still being learned?
    static bool is_learning(const ExchangeTask &, int64_t bytes);
    void add(int64_t bytes, uint64_t ns) { bytes_ += bytes, ns_ += ns; }
    // Notes the rate of everything that has been added, for contributions of this number of bytes, and begins
    // again.
    void tell(const ExchangeTask &, CopyRates::Part, int64_t bytes);

private:
    int64_t bytes_ = 0;
    uint64_t ns_ = 0;
};

}  // namespace lanyard
