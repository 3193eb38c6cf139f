// A protocol with its own kinds of envelopes, in p2p or in a layer above it. dispatch.h binds it to them.
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "path/envelope.h"

namespace lanyard {

// Called by the owner of the engine, from inside a poll.
class Handler {
public:
    virtual void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) = 0;
    // That peer has failed: whatever waits for it fails.
    virtual void lost(uint32_t /*peer*/) {}

protected:
    ~Handler() = default;
};

}  // namespace lanyard
