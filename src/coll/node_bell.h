// How a rank that wrote to the node area tells those who may sleep. The node's shared memory path provides one; without a
// bell (threads of a test that never sleep) nothing is told. Called by the engine's owner.
#pragma once

#include <cstdint>

namespace lanyard {

class NodeBell {
public:
    virtual ~NodeBell() = default;
    // Full barrier, then reads the peer's sleep word and wakes it when it sleeps.
    virtual void ring(uint32_t peer) = 0;
};

}  // namespace lanyard
