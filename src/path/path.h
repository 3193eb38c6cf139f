// A path: one way to reach peers. It moves frames and nothing else; who is reached, in which order and with what meaning
// is decided above. This file is the contract; tests/conformance/ holds one suite that every path passes, and a minimal
// path over a socketpair that shows what is needed.
//
// Contract
// - Peers are numbers of the runtime's peer table. Lane 0 (send) is ordered per peer and carries envelopes, each with up
//   to max_eager() bytes of payload; bulk (send_bulk) carries bytes addressed by (receive id, offset), in any order, and
//   envelopes go between its frames.
// - send answers `done` (the payload has been copied) or `full` (nothing was taken; try again after a later poll). send_bulk
//   may also answer `pending`: exactly one Sink::sent(token) comes later, from inside poll, and the bytes stay untouched until
//   then. `full` is the only back-pressure. Nothing blocks.
// - On a path that loses_bulk() envelopes may keep their payload where it is until the peer has acknowledged them (send_kept). What
//   send_bulk took there may be lost with a connection, though envelopes never are: Sink::renewed says so on both sides, the receiver asks
//   again for what it misses, and a send ends only when the receiver says that it has all.
// - A dead peer is reported once, by Sink::lost; afterwards sends to it answer `done` and vanish. What was `done` before and may not have
//   arrived is reported too, where the path knows (Sink::undelivered).
// - All functions are called by the owner of the engine only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/copy.h"
#include "base/error.h"
#include "datatype/cursor.h"
#include "path/envelope.h"

namespace lanyard {

constexpr size_t max_bulk_frame = 256 * 1024;
constexpr size_t most_beginning = 16;  // bytes of an envelope's payload that are checked before Sink::begin() is called with it
constexpr uint32_t shared_words = 64;
constexpr uint64_t no_deadline = UINT64_MAX;

// What is sent: `size` bytes, contiguous at `data`, or else the next `size` bytes of `cursor` (data is nullptr).
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

struct BulkHeader {
    uint64_t receive_id;
    uint64_t offset;
};

// Payload that a path may leave where it is: `head` first, which is copied, then `data`, which must stay untouched until Sink::sent(token);
// with token 0 nobody is told, as the sender learns from an answer of its peer's that all has come.
struct KeptPayload {
    const std::byte *head;
    size_t head_size;
    const std::byte *data;
    size_t size;
    uint64_t token;
};

enum class Sent { done, pending, full };

// Where frames go. Called from inside poll, by the engine's owner.
class Sink {
public:
    virtual ~Sink() = default;
    // An envelope has come with `size` bytes of payload at `payload`, valid during the call only.
    virtual void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) = 0;
    // Where the payload of a bulk frame may be written before bulk() is called with it; nullptr: bulk() will copy it from elsewhere.
    virtual std::byte *place(uint32_t, const BulkHeader &, size_t) { return nullptr; }
    // The same for an envelope, of whose `size` bytes of payload the first `come` are at `payload`: envelope() follows with it, next of all
    // from this peer. Bytes may be written there from the `from`-th on. It may be called again, should the connection be lost before that.
    virtual std::byte *begin(uint32_t, const Envelope &, const std::byte * /*payload*/, size_t /*come*/, size_t /*size*/, size_t & /*from*/) {
        return nullptr;
    }
    virtual void bulk(uint32_t peer, const BulkHeader &header, const std::byte *payload, size_t size) = 0;
    // There is a new connection to the peer; bulk of earlier ones that has not come will not come.
    virtual void renewed(uint32_t) {}
    // A send_bulk that was `pending` has left its buffer.
    virtual void sent(uint64_t token) = 0;
    // An envelope to a peer, whose send was `done`, has not been acknowledged and is given up: lost() comes next.
    virtual void undelivered(uint32_t, const Envelope &) {}
    virtual void lost(uint32_t peer, Error reason) = 0;
    // The owner of the engine has what it waited for: a path may keep what it has read, and deliver it in the next poll, before which a
    // receive may have been posted.
    virtual bool sated() const { return false; }
    // Nothing is under way: memory that is not in use may go back to the system.
    virtual void rests() {}
};

// A message that has come and is not taken yet: its envelope, where it lies, and the bytes of its payload.
struct ShortFrame {
    const std::byte *envelope;
    size_t size;
};

class RingWriter;  // path/shm/ring.h

class Path {
public:
    virtual ~Path() = default;

    virtual const char *name() const = 0;
    // The most payload of one envelope, and of one bulk frame (at most max_bulk_frame); p2p asks for no more.
    virtual size_t max_eager() const = 0;
    virtual size_t max_bulk() const = 0;
    // The same of a frame whose payload has a place (Sink::place) that it can be written to straight.
    virtual size_t max_bulk_in_place(uint32_t /*peer*/) const { return max_bulk(); }
    // Up to this size a message is sent at once unless LANYARD_EAGER_LIMIT says otherwise; by measurement (bench/RESULTS.md).
    virtual size_t usual_eager_limit() const { return 16 * 1024; }
    virtual bool reaches(uint32_t peer) const = 0;

    virtual Sent send(uint32_t peer, const Envelope &envelope, Payload payload) = 0;
    virtual Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) = 0;

    // Does bulk never overtake an envelope that was sent before it, and is an answer from the peer worth saving (the write protocol)?
    virtual bool bulk_follows() const { return false; }
    virtual bool loses_bulk() const { return false; }
    // Like send, of payload that need not be copied; only on paths that lose bulk, whose envelopes may have to be sent again. `pending`
    // or `full`. It is worth that from keep_from() bytes on.
    virtual size_t keep_from() const { return SIZE_MAX; }
    virtual Sent send_kept(uint32_t peer, const Envelope &envelope, const KeptPayload &payload);
    // Has every envelope that was sent arrived in the library of its peer? Asking hurries the answers.
    virtual bool settled() { return true; }

    // Can memory of the peer be read and written directly? Then get/put move `bytes` between the local runs and the remote address.
    // They move all or report why not (the caller then falls back to send_bulk).
    virtual bool touches_memory(uint32_t peer) const { return false; }
    virtual Error get(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes);
    virtual Error put(uint32_t peer, const iovec *local, int runs, uint64_t remote_address, size_t bytes);

    // Where memory of the peer, or of this process where the peers map it, is in this process; nullptr where none of that is so. get() and
    // put() know it.
    virtual std::byte *mapped(uint32_t peer, uint64_t address, size_t bytes) { return nullptr; }

    // Words that this process and its peers can change atomically, shared_words of each; nullptr where there are none. `owner` is whose.
    virtual std::atomic<uint64_t> *shared_word(uint32_t owner, uint32_t index) { return nullptr; }

    // Where who sends an envelope with at most inline_payload bytes may write it itself, if there is room, instead of calling send(); the same as
    // long as the path lives. nullptr: nowhere.
    virtual RingWriter *ring_to(uint32_t peer) { return nullptr; }

    // For who waits for one peer's next message and nothing else: is anything there? An envelope with at most max_shown() bytes may then be taken
    // with its payload, or left to poll(); of what is longer, or no envelope, nothing is shown (frame.envelope is nullptr). Looking is a
    // memory read; paths where it would be more show nothing at all (0).
    virtual size_t max_shown() const { return 0; }
    virtual bool peek_short(uint32_t peer, ShortFrame &frame) { return false; }
    virtual void take_short(uint32_t peer, void *payload) {}

    // While `on`, more is likely to be sent before anybody waits: envelopes may be kept until poll() or the end of this, to travel together.
    // busy() says that some are. Only paths that say so are told.
    virtual bool gathers() const { return false; }
    virtual void gather(bool /*on*/) {}

    // Frames that may come together, as one packet brings them: so many more than its budget poll() may deliver.
    virtual int most_at_once() const { return 1; }
    // Delivers what has come, at most `budget` frames; the number delivered plus internal work done.
    virtual int poll(Sink &sink, int budget, uint64_t now_ns) = 0;
    // Would polls go on with something now though nobody asks: bytes half sent or half received, a connection that is being made?
    virtual bool busy() const { return false; }
    // Does payload come so slowly that who waits had better sleep?
    virtual bool patient() const { return false; }
    // Has something that was sent not been acknowledged yet, or may a peer still wait for such an answer? (Unlike settled(), asks nobody.)
    virtual bool unsettled() const { return false; }
    // The next poll is the last before the process sleeps: it looks everywhere, also where it otherwise looks only now and then.
    virtual void leave_nothing_out() {}
    // All that has work for poll() shows at the descriptor from now on, also what polls would otherwise find by themselves.
    virtual void show_all() {}
    // When poll must be called again at the latest, though nothing comes.
    virtual uint64_t deadline_ns() const { return no_deadline; }
    // A descriptor that becomes readable when poll has work; -1 when polling is a memory read.
    virtual int descriptor() const { return -1; }

    // One line for reports, e.g. "shm: 4 processes, 8 KiB rings, single copy by process_vm_readv".
    virtual std::string describe() const = 0;
    virtual void close() {}
};

}  // namespace lanyard
