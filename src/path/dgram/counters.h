// The counters of datagrams: those of all flows together, and those by peer. The path registers both.
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
