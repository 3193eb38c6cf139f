// Declares the counters that all paths over a network have under the same names. A job uses one network path.
// Each path registers its own counts.
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
