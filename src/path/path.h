// A path: one way to reach peers. It moves frames and nothing else; whom a frame goes to, in which order and
// what it means is decided above. This page is the contract. tests/conformance/ has a suite that every path
// passes, and example_path.h there, a whole path over socket pairs, is where to begin with a new one.
//
// - Peers are numbers of the runtime's table of processes. Two kinds of frames travel: envelopes, which
//   arrive in the order in which they were sent to that peer, each with up to max_eager bytes of payload; and
//   bulk, bytes addressed by (receive id, offset), in any order among themselves and between the envelopes.
// - Nothing blocks. `full` is the only back-pressure: nothing was taken, try again after a later poll().
// - A path must write: reaches, send, send_bulk, poll, describe, and the facts. The rest has answers that
//   suit a simple path.
// - A dead peer is reported once, by Sink::lost. From then on sends to it answer `done`, and what was sent
//   vanishes.
// - Thread rule: the owner of the engine calls everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/copy.h"
#include "base/error.h"
#include "datatype/cursor.h"
#include "path/direct_memory.h"
#include "path/envelope.h"
#include "path/short_lane.h"
#include "path/sink.h"

namespace lanyard {

constexpr size_t max_bulk_frame = 256 * 1024;
constexpr uint64_t no_deadline = UINT64_MAX;

// What is true of a path as long as it lives; read without a call.
struct PathInfo {
    const char *name;  // one constant, which can be compared by its address
    size_t max_eager;  // the most payload of one envelope; at least inline_payload
    size_t max_bulk;   // the most payload of one bulk frame; at most max_bulk_frame
    // A message up to this size is sent at once, unless the user says otherwise (bench/RESULTS.md).
    size_t eager_limit = 16 * 1024;
    // send_kept() may be called, and is worth it, from so many bytes on; SIZE_MAX: never.
    size_t keep_from = SIZE_MAX;
    // Bulk never overtakes an envelope sent before it, and saving an answer of the peer is worth while.
    bool bulk_follows = false;
    // Bulk may be lost with a connection, though envelopes never are. Sink::renewed says so on both sides,
    // the receiver asks again for what it misses, and a send ends only when the receiver says that it has
    // everything.
    bool loses_bulk = false;
    bool batches = false;  // it keeps envelopes after more_follows(); no other path need be told
    int most_at_once = 1;  // frames that arrive together: poll() exceeds its budget by fewer than this
    int descriptor = -1;   // becomes readable when poll() has work; -1: polling is a memory read
    DirectMemory *memory = &no_direct_memory;
    ShortLane *short_lane = &no_short_lane;
};

// What is under way in a path at this moment.
struct PathActivity {
    // Polls would go on with something though nobody asks: bytes half sent or half received, envelopes kept.
    bool io_pending : 1 = false;
    // A peer has not acknowledged something, or may still wait for our acknowledgement.
    bool unacknowledged : 1 = false;
    // Payload arrives so slowly that a waiting thread had better sleep.
    bool prefers_sleep : 1 = false;
};

// What is sent: `size` bytes, contiguous at `data`; or, where that is nullptr, the next of `cursor`.
struct Payload {
    const std::byte *data = nullptr;
    size_t size = 0;
    Cursor *cursor = nullptr;

    // Copies the next `bytes` out; for paths that copy. Advances.
    void copy(void *to, size_t bytes);
    // The same for all that is left, at most inline_payload bytes.
    void copy_short(void *to) {
        if (data) copy_few(to, data, size);
        else if (size) copy(to, size);
    }
};

// Payload that a path may leave where it is: `head` first, which is copied, then `data`, which stays
// untouched until Sink::sent(token). With token 0 nobody is told, as the sender learns from an answer of its
// peer that everything has arrived.
struct KeptPayload {
    const std::byte *head;
    size_t head_size;
    const std::byte *data;
    size_t size;
    uint64_t token;
};

enum class Sent { done, pending, full };

class Path {
public:
    virtual ~Path() = default;

    const PathInfo info;
    DirectMemory &memory() const { return *info.memory; }
    ShortLane &short_lane() const { return *info.short_lane; }

    virtual bool reaches(uint32_t peer) const = 0;

    // `done`: the payload has been copied; or `full`.
    virtual Sent send(uint32_t peer, const Envelope &envelope, Payload payload) = 0;
    // The same, or `pending`: the payload stays untouched until one Sink::sent(token), from inside poll().
    virtual Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) = 0;
    // Like send(), of payload that the path need not copy; called only where info.keep_from says so.
    // `pending` or `full`.
    virtual Sent send_kept(uint32_t peer, const Envelope &envelope, const KeptPayload &payload);
    // The most payload of a bulk frame to that peer whose receiver has a place for it (Sink::place): it may
    // be more than max_bulk.
    virtual size_t max_bulk_in_place(uint32_t /*peer*/) const { return info.max_bulk; }

    // From now on more envelopes are likely to follow before anybody waits, so they may be kept, to travel
    // together, until flush() or poll() at the latest. activity() says that some are kept.
    virtual void more_follows() {}
    virtual void flush() {}

    // Delivers to the sink what has arrived, at most `budget` frames. Returns the number of frames plus other
    // work done; 0: nothing moved.
    virtual int poll(Sink &sink, int budget, uint64_t now_ns) = 0;
    virtual PathActivity activity() const { return {}; }
    // When poll() must be called at the latest though nothing arrives. (Apart from activity(), which a
    // waiting thread asks all the time.)
    virtual uint64_t deadline_ns() const { return no_deadline; }
    // Nobody polls for a while: from now on all that has work for poll() shows at the descriptor, also what
    // polls would find by themselves. `process_sleeps`: there is one more poll before that, which looks
    // everywhere, also where polls look only now and then.
    virtual void prepare_to_sleep(bool /*process_sleeps*/) {}
    // Has every envelope that was sent arrived in its peer's library? Asking hurries the acknowledgements,
    // unlike activity().
    virtual bool settled() { return true; }

    // One line for reports, which begins with the name: "shm: 4 processes on this node, rings of 8 KiB".
    virtual std::string describe() const = 0;

protected:
    explicit Path(const PathInfo &facts) : info(facts) {}
};

}  // namespace lanyard
