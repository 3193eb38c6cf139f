// The state that a protocol keeps for a send that does not complete at once. The send waits for room in its
// channel, or for an answer of its peer. The state object ends with the operation.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/p2p/eager_test.cc, tests/unit/p2p/rendezvous_send_test.cc.
#pragma once

#include "p2p/channel.h"
#include "p2p/operation.h"
#include "p2p/target.h"

namespace lanyard {

class UnfinishedSend : public Outgoing, public Target {
public:
    // Cancels the operation. If the message can still be withdrawn, the operation completes with `cancelled`
    // set, at once or when the peer has answered. Otherwise the operation completes as usual.
    virtual void cancel() = 0;
    // hand_over() completes the operation and continues with `to`, which describes the same message and has a
    // copy of its bytes. Requires can_hand_over(): nothing but the path's log refers to the buffer at
    // present.
    virtual bool can_hand_over() const { return false; }
    virtual void hand_over(SendOperation & /*to*/) {}

protected:
    ~UnfinishedSend() = default;
};

}  // namespace lanyard
