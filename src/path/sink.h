// A path (path.h) delivers frames to a Sink. The path calls all functions from inside Path::poll(), in the
// thread that owns the engine. A simple path calls only envelope(), bulk() and lost().
// Tested by: tests/conformance/conformance_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "path/envelope.h"

namespace lanyard {

// A path that checks frames verifies this many first bytes of an envelope's payload separately, and passes no
// more than these to Sink::begin().
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
    // A bulk frame has arrived. If place() returned an address for this frame, its payload is there already,
    // and `payload` is that address.
    virtual void bulk(uint32_t peer, const BulkHeader &header, const std::byte *payload, size_t size) = 0;
    // The peer has failed or is unreachable. Reported once.
    virtual void lost(uint32_t peer, Error reason) = 0;
    // The `pending` send with this token no longer needs its buffer.
    virtual void sent(uint64_t token) = 0;

    // For frames that arrive in parts: returns the address to which the path may write the payload of this
    // bulk frame before it calls bulk(). nullptr: the path keeps the payload elsewhere, and bulk() will copy
    // it from there.
    virtual std::byte *place(uint32_t, const BulkHeader &, size_t) { return nullptr; }
    // The same for an envelope with `size` bytes of payload, of which the first `received` are at `payload`.
    // The path calls envelope() with this payload before it delivers another envelope of this peer, unless it
    // reports lost(). begin() sets `from` to the number of first bytes that it has taken; the path writes
    // only the bytes after these, each at its offset in the place. begin() may be called again for the same
    // envelope if the connection breaks before envelope() is called.
    virtual std::byte *begin(uint32_t /*peer*/, const Envelope &, const std::byte * /*payload*/,
                             size_t /*received*/, size_t /*size*/, size_t & /*from*/) {
        return nullptr;
    }
    // A new connection to the peer exists. Bulk that was sent on earlier connections and has not arrived yet
    // will not arrive.
    virtual void renewed(uint32_t) {}
    // The send of this envelope was `done`, but the peer has not acknowledged the envelope, and the path
    // gives it up. lost() is called next.
    virtual void undelivered(uint32_t, const Envelope &) {}
    // Does the owner of the engine have what it waited for? If so, the path may keep what it has read and
    // deliver it in the next poll. This gives the program time to post the receive of a message before the
    // path delivers the message.
    virtual bool wait_is_over() const { return false; }
    // Called when nothing is under way: unused memory may be returned to the system.
    virtual void trim_memory() {}
};

}  // namespace lanyard
