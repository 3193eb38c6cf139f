// Chooses the copy method for a long contribution to an exchange: directly, or through the stage (stage.h).
// Records the rates that exchanges measure for their team (copy_rates.h). The setting LANYARD_COPIES may fix
// the choice. Otherwise the method that has turned out faster is used. Used by the parts of exchanges
// (exchange_run.h).
// Thread rule: the owner of the engine.
// Tested by: tests/unit/coll/shm/node_area_test.cc, tests/unit/coll/shm/streams_test.cc.
#pragma once

#include <cstdint>

#include "coll/shm/exchange_task.h"

namespace lanyard {

// Should this rank's contribution go through the stage? It would need `streams` streams, the longest of which
// has `longest` bytes. False: this rank posts the address of the contribution.
bool goes_by_stage(const ExchangeTask &, int64_t longest, int streams);

// Do ranks of the team share processors?
inline bool is_oversubscribed(const Team &team) { return team.processors > 0 && team.size > team.processors; }

// Adds up the bytes and the time of copies by one method, in contributions of one size, while the rate of the
// method is being learned.
class CopyMeter {
public:
    // Is the rate for contributions of this number of bytes still being learned?
    static bool is_learning(const ExchangeTask &, int64_t bytes);
    void add(int64_t bytes, uint64_t ns) { bytes_ += bytes, ns_ += ns; }
    // Records the rate of all copies added so far, for contributions of this number of bytes, and begins
    // again at 0.
    void tell(const ExchangeTask &, CopyRates::Part, int64_t bytes);

private:
    int64_t bytes_ = 0;
    uint64_t ns_ = 0;
};

}  // namespace lanyard
