// The counters of messages. The messenger registers what it is made of.
#pragma once

#include "base/counters.h"

namespace lanyard {

class Channels;
class MatchQueue;
struct MessageCounts;
class UnexpectedQueue;
class Ways;

Counters<MessageCounts> &message_counters();
Counters<UnexpectedQueue> &unexpected_counters();
Counters<MatchQueue> &posted_counters();
Counters<Channels> &channel_counters();
Counters<Ways> &way_counters();

}  // namespace lanyard
