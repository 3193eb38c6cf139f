// Which way the long contribution of an exchange takes, directly or by the stage, and what an exchange adds to what a team learns of both
// (copy_rates.h). The setting may say it (LANYARD_COPIES); else it is what has turned out faster.
// Used by the parts of exchanges (exchange_run.h); by the engine's owner.
#pragma once

#include <cstdint>

#include "coll/shm/exchange_task.h"

namespace lanyard {

// Shall what this rank puts into `streams` streams, the longest so long, go by the stage? Else it posts its address.
bool goes_by_stage(const ExchangeTask &, int64_t longest, int streams);

// Do ranks of the team share processors?
inline bool is_oversubscribed(const Team &team) { return team.processors > 0 && team.size > team.processors; }

// What has been copied one way of contributions of one size, while that is to be learned.
class CopyMeter {
public:
    // Is it still to be learned how fast contributions of so many bytes are copied?
    static bool is_learning(const ExchangeTask &, int64_t bytes);
    void add(int64_t bytes, uint64_t ns) { bytes_ += bytes, ns_ += ns; }
    // Tells all that has been added, which is of contributions of so many bytes, and begins anew.
    void tell(const ExchangeTask &, CopyRates::Part, int64_t bytes);

private:
    int64_t bytes_ = 0;
    uint64_t ns_ = 0;
};

}  // namespace lanyard
