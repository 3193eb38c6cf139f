// Handler is the interface of a protocol that has its own kinds of envelopes. The protocol belongs to p2p or
// to a layer above p2p. After Dispatch::bind(), envelopes of a kind are passed to the protocol.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/p2p/dispatch_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "path/envelope.h"

namespace lanyard {

// The owner of the engine calls the functions from inside a poll, so they must not wait. They may send and
// may complete operations. A handler belongs to its protocol and is unbound before it is destroyed.
class Handler {
public:
    // `payload` is valid only during the call.
    virtual void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) = 0;
    // That peer has failed. The handler lets every operation fail that waits for this peer.
    virtual void lost(uint32_t /*peer*/) {}

protected:
    ~Handler() = default;
};

}  // namespace lanyard
