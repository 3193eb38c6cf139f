// Where a path delivers frames (path.h). Everything is called from inside Path::poll(), by the owner of the
// engine. A simple path calls envelope(), bulk() and lost().
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "path/envelope.h"

namespace lanyard {

// The number of bytes of an envelope's payload that are verified before Sink::begin() is called with it.
constexpr size_t most_beginning = 16;

struct BulkHeader {
    uint64_t receive_id;
    uint64_t offset;
};

class Sink {
public:
    virtual ~Sink() = default;
    // An envelope has arrived with `size` bytes of payload at `payload`, which are valid only during the
    // call.
    virtual void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) = 0;
    virtual void bulk(uint32_t peer, const BulkHeader &header, const std::byte *payload, size_t size) = 0;
    // The peer has failed or is unreachable. Reported once.
    virtual void lost(uint32_t peer, Error reason) = 0;
    // A send that was `pending` no longer needs its buffer.
    virtual void sent(uint64_t token) = 0;

    // For frames that arrive in parts: the address to which the payload of a bulk frame may be written before
    // bulk() is called with it. nullptr: bulk() will copy it from elsewhere.
    virtual std::byte *place(uint32_t, const BulkHeader &, size_t) { return nullptr; }
    // The same for an envelope with `size` bytes of payload, of which the first `received` are at `payload`.
    // envelope() follows with it, before anything else from this peer. Bytes are written to the place
    // starting with number `from`. begin() may be called again for the same envelope if the connection breaks
    // before that.
    virtual std::byte *begin(uint32_t /*peer*/, const Envelope &, const std::byte * /*payload*/,
                             size_t /*received*/, size_t /*size*/, size_t & /*from*/) {
        return nullptr;
    }
    // A new connection to the peer exists. Bulk of earlier connections that has not arrived will not arrive.
    virtual void renewed(uint32_t) {}
    // An envelope to a peer, whose send was `done`, has not been acknowledged and is given up. lost() is
    // called next.
    virtual void undelivered(uint32_t, const Envelope &) {}
    // The owner of the engine has what it waited for. The path may then keep what it has read and deliver it
    // in the next poll, before which a receive may be posted.
    virtual bool sated() const { return false; }
    // Nothing is under way: memory that is not in use may be returned to the system.
    virtual void trim_memory() {}
};

}  // namespace lanyard
