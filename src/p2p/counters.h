// The counters of messages. The messenger registers the objects that count.
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
