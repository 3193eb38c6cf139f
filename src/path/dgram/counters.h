// Declares the counters of datagrams: those of all flows together, and those for each peer. Each DgramPath
// registers both.
// Tested by: tests/unit/path/dgram/counts_test.cc, tests/mpi/tool/pvars.cc.
#pragma once

#include "base/counters.h"

namespace lanyard {

class DgramPath;
namespace dgram {
struct FlowCounts;
}

Counters<dgram::FlowCounts> &flow_counters();
Counters<DgramPath> &datagram_counters();

}  // namespace lanyard
