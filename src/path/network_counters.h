// Declares the counters that every network path has, under the same names. A job uses only one network path,
// which registers its own counts.
// Tested by: tests/mpi/tool/pvars.cc.
#pragma once

#include "base/counters.h"
#include "base/tally.h"

namespace lanyard {

struct NetworkCounts {
    Tally<uint64_t> envelopes_sent, envelopes_received;
    Tally<uint64_t> bulk_sent, bulk_received;  // frames
};

Counters<NetworkCounts> &network_counters();

}  // namespace lanyard
