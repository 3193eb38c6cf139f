// A protocol that has kinds of envelopes of its own: of p2p, or of what stands on p2p. It is bound to them by
// dispatch.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "path/envelope.h"

namespace lanyard {

// Called by the owner of the engine, from inside a poll.
class Handler {
public:
    virtual void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) = 0;
    // That peer is lost: what waits for it fails.
    virtual void lost(uint32_t /*peer*/) {}

protected:
    ~Handler() = default;
};

}  // namespace lanyard
