// The counters that all paths over a network have, under the same names. A job has one such path. Each path
// registers its own counts.
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
