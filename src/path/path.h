// A path is one means of reaching peers. It moves frames and does nothing else. The layers above decide to
// whom a frame goes, in which order, and what it means. This file is the contract. tests/conformance/ has a
// suite that every path passes. The same folder has example_path.h, a whole path over socket pairs, which is
// the model for a new path.
//
// - Peers are numbers in the runtime's table of processes. Two kinds of frames travel. Envelopes arrive in
//   the order in which they were sent to that peer, each with up to max_eager bytes of payload. Bulk frames
//   carry bytes that are addressed by (receive id, offset). They may arrive in any order, among themselves
//   and relative to the envelopes.
// - Nothing blocks. `full` is the only back-pressure: nothing was taken, and the caller tries again after a
//   later poll().
// - A path must implement reaches, send, send_bulk, poll, describe, and the facts (PathInfo). The other
//   functions have defaults that suit a simple path.
// - A failed peer is reported once, by Sink::lost. From then on, sends to it return `done`, and what was sent
//   is discarded.
// - Except for Sink::lost there are no errors. The caller keeps ownership of what it passes. A path has
//   copied everything that it was passed when the function returns, unless the result is `pending`.
// - Thread rule: the owner of the engine makes all calls. Sends may be made from inside Sink's functions.
// Tested by: tests/conformance/conformance_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/copy.h"
#include "base/error.h"
#include "datatype/cursor.h"
#include "path/direct_memory.h"
#include "path/envelope.h"
#include "path/short_lane.h"
#include "path/sink.h"

namespace lanyard {

constexpr size_t max_bulk_frame = 256 * KiB;
constexpr uint64_t no_deadline = UINT64_MAX;

// Facts that hold for a path as long as the path lives. Callers read them without a virtual call.
struct PathInfo {
    const char *name;  // one constant, which can be compared by its address
    size_t max_eager;  // the largest payload of one envelope; at least inline_payload
    size_t max_bulk;   // the largest payload of one bulk frame; at most max_bulk_frame
    // A message of up to this size is sent at once, without rendezvous, unless the user sets another limit
    // (bench/RESULTS.md).
    size_t eager_limit = 16 * KiB;
    // The size of the shortest payload of an eager message for which send_kept() pays off; SIZE_MAX: none.
    size_t keep_from = SIZE_MAX;
    // Bulk never overtakes an envelope that was sent earlier. True also means that protocols which save an
    // answer of the peer are worthwhile on this path (p2p/receive_advert.h).
    bool bulk_follows = false;
    // Bulk may be lost with a connection, though envelopes never are. Sink::renewed reports this on both
    // sides. The receiver then requests the missing bytes again, and a send ends only when the receiver
    // reports that it has everything.
    bool loses_bulk = false;
    bool batches = false;  // the path needs more_follows(), after which it holds envelopes back
    // Frames that may arrive together. poll() counts them as one where it decides whether its budget allows
    // more, so it may deliver up to `budget` times this number.
    int most_at_once = 1;
    // Becomes readable, at least after prepare_to_sleep(), when poll() has work. -1: poll() reads memory.
    int descriptor = -1;
    DirectMemory *memory = &no_direct_memory;
    ShortLane *short_lane = &no_short_lane;
};

// What is under way in a path at this moment.
struct PathActivity {
    // Polls alone advance something, such as a frame that is sent or received in part, or envelopes held
    // back.
    bool io_pending : 1 = false;
    // A peer has not acknowledged something, or may still wait for an acknowledgement from here.
    bool unacknowledged : 1 = false;
    // Payload arrives so slowly that a waiting thread should sleep.
    bool prefers_sleep : 1 = false;
};

// What is sent: `size` bytes, contiguous at `data` or, if `data` is nullptr, the next `size` bytes of
// `cursor`.
struct Payload {
    const std::byte *data = nullptr;
    size_t size = 0;
    Cursor *cursor = nullptr;

    // For paths that copy: copies the next `bytes` out and advances.
    void copy(void *to, size_t bytes);
    // Copies everything that is left, which must be at most inline_payload bytes.
    void copy_short(void *to) {
        if (data) copy_few(to, data, size);
        else if (size) copy(to, size);
    }
};

// Payload in two parts. The path copies the first part, `head`. It may leave the second part, `data`, where
// it is, so the caller leaves `data` unchanged until Sink::sent(token). With token 0, Sink::sent() is not
// called, since the sender learns from an answer of its peer that everything has arrived. Until then,
// Path::kept_moved() finds the payload by its name.
struct KeptPayload {
    const std::byte *head;
    size_t head_size;
    const std::byte *data;
    size_t size;
    uint64_t token;
    uint64_t name;  // different for all payload that is kept with token 0
};

enum class Sent { done, pending, full };

class Path {
public:
    virtual ~Path() = default;

    const PathInfo info;
    DirectMemory &memory() const { return *info.memory; }
    ShortLane &short_lane() const { return *info.short_lane; }

    // May this path be used for that peer? The answer does not change while the path is in use, except when
    // processes are added. The sends below require that the answer is yes.
    virtual bool reaches(uint32_t peer) const = 0;

    // Sends an envelope with at most info.max_eager bytes of payload. Returns `done` (the payload has been
    // copied) or `full`.
    virtual Sent send(uint32_t peer, const Envelope &envelope, Payload payload) = 0;
    // Sends one bulk frame, of at most info.max_bulk bytes (but see max_bulk_in_place()). Returns `done`,
    // `full` or `pending`. After `pending`, the caller leaves the payload unchanged until poll() calls
    // Sink::sent(token), which happens once.
    virtual Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) = 0;
    // Like send(), for payload that the path need not copy. Called for eager messages from info.keep_from on.
    // If info.loses_bulk is set, also called with an offer and the first bytes of its message, however few.
    // Returns `pending` or `full`, or `done` if the peer has failed.
    virtual Sent send_kept(uint32_t peer, const Envelope &envelope, const KeptPayload &payload);
    // If the payload that was given to send_kept() with this name and token 0 is still needed: from now on,
    // the path takes it from `data`, where the same bytes are.
    virtual void kept_moved(uint32_t /*peer*/, uint64_t /*name*/, const std::byte * /*data*/) {}
    // The largest payload of a bulk frame to that peer if the receiver has a place for the frame
    // (Sink::place). May be more than info.max_bulk.
    virtual size_t max_bulk_in_place(uint32_t /*peer*/) const { return info.max_bulk; }

    // Called when more envelopes are likely to follow before any thread waits. The path may hold envelopes
    // back, to send them together, until flush() or poll() at the latest. activity() reports that some are
    // held back.
    virtual void more_follows() {}
    // Sends what is held back, if anything.
    virtual void flush() {}

    // Delivers to the sink what has arrived, at most `budget` frames (but see info.most_at_once), and does
    // what is due. Returns the number of frames plus other work done. 0 means that nothing moved. The sink is
    // used only during the call.
    virtual int poll(Sink &sink, int budget, uint64_t now_ns) = 0;
    // Must cost little, since a waiting thread calls it all the time. The engine calls it only for paths that
    // have a descriptor.
    virtual PathActivity activity() const { return {}; }
    // The latest time at which poll() must be called even if nothing arrives. (Separate from activity(),
    // which a waiting thread calls all the time.)
    virtual uint64_t deadline_ns() const { return no_deadline; }
    // Called before a time without polls. From now on, the descriptor must become readable for everything
    // that gives poll() work, even for what polls otherwise find by themselves. `process_sleeps`: one more
    // poll follows before that time. That poll must look everywhere, even where polls usually look only now
    // and then.
    virtual void prepare_to_sleep(bool /*process_sleeps*/) {}
    // Has every envelope that was sent arrived in its peer's library? Unlike activity(), this call speeds up
    // the acknowledgements.
    virtual bool all_acknowledged() { return true; }

    // Returns one line for reports. It begins with the path's name: "shm: 4 processes on this node, rings of
    // 8 KiB".
    virtual std::string describe() const = 0;

protected:
    explicit Path(const PathInfo &facts) : info(facts) {}
};

}  // namespace lanyard
