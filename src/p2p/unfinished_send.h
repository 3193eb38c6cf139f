// What a protocol remembers of a send that does not complete at once. It waits for room in its channel, or
// for an answer of its peer, and ends with its operation.
// Thread rule: the owner of the engine.
#pragma once

#include "p2p/channel.h"
#include "p2p/target.h"

namespace lanyard {

class UnfinishedSend : public Outgoing, public Target {
public:
    // The program wants its operation back, unless a receive has met the message. [owner]
    virtual void cancel() = 0;

protected:
    ~UnfinishedSend() = default;
};

}  // namespace lanyard
