// Declares the counters of TCP's links and connections. Each TcpPath registers itself there.
// Tested by: tests/mpi/tool/pvars.cc, tests/mpi/tool/events.cc.
#pragma once

#include "base/counters.h"

namespace lanyard {

class TcpPath;

Counters<TcpPath> &tcp_counters();

}  // namespace lanyard
