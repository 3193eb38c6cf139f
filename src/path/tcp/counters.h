// The counters of TCP's links and connections. The path registers itself.
#pragma once

#include "base/counters.h"

namespace lanyard {

class TcpPath;

Counters<TcpPath> &tcp_counters();

}  // namespace lanyard
