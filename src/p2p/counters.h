// Declares the counters of point-to-point messages. The messenger registers the objects whose counts are
// shown.
// Tested by: tests/mpi/tool/pvars.cc.
#pragma once

#include "base/counters.h"

namespace lanyard {

class Channels;
class MatchQueue;
struct MessageCounts;
class UnexpectedQueue;
class CopyMethods;

Counters<MessageCounts> &message_counters();
Counters<UnexpectedQueue> &unexpected_counters();
Counters<MatchQueue> &posted_counters();
Counters<Channels> &channel_counters();
Counters<CopyMethods> &copy_method_counters();

}  // namespace lanyard
