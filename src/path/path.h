// A path: one way to reach peers. It moves frames and does nothing else. The layers above decide to whom a
// frame goes, in which order, and what it means. This page is the contract. tests/conformance/ has a suite
// that every path passes; example_path.h there, a whole path over socket pairs, is the model for a new one.
//
// - Peers are numbers in the runtime's table of processes. Two kinds of frames travel. Envelopes arrive in
//   the order in which they were sent to that peer, each with up to max_eager bytes of payload. Bulk is bytes
//   addressed by (receive id, offset), which may arrive in any order among themselves and between the
//   envelopes.
// - Nothing blocks. `full` is the only back-pressure: nothing was taken, and the caller tries again after a
//   later poll().
// - A path must implement reaches, send, send_bulk, poll, describe, and the facts (PathInfo). The other
//   functions have defaults that suit a simple path.
// - A failed peer is reported once, by Sink::lost. From then on, sends to it return `done`, and what was sent
//   is discarded.
// - Thread rule: the owner of the engine makes all calls.
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

// Facts that hold for a path as long as it lives; read without a call.
struct PathInfo {
    const char *name;  // one constant, which can be compared by its address
    size_t max_eager;  // the largest payload of one envelope; at least inline_payload
    size_t max_bulk;   // the largest payload of one bulk frame; at most max_bulk_frame
    // A message of up to this size is sent at once, unless the user sets another limit (bench/RESULTS.md).
    size_t eager_limit = 16 * 1024;
    // From this number of bytes on, send_kept() may be called and pays off; SIZE_MAX: never.
    size_t keep_from = SIZE_MAX;
    // Bulk never overtakes an envelope sent before it, and avoiding an answer of the peer is worthwhile.
    bool bulk_follows = false;
    // Bulk may be lost with a connection, though envelopes never are. Sink::renewed reports this on both
    // sides. The receiver then requests again what it lacks, and a send ends only when the receiver reports
    // that it has everything.
    bool loses_bulk = false;
    bool batches = false;  // it holds envelopes back after more_follows(); no other path needs that call
    int most_at_once = 1;  // frames that arrive together: poll() exceeds its budget by fewer than this
    int descriptor = -1;   // becomes readable when poll() has work; -1: polling is a memory read
    DirectMemory *memory = &no_direct_memory;
    ShortLane *short_lane = &no_short_lane;
};

// What is under way in a path at this moment.
struct PathActivity {
    // Polls would advance something without any further call: bytes half sent or half received, envelopes
    // held back.
    bool io_pending : 1 = false;
    // A peer has not acknowledged something, or may still wait for an acknowledgement from here.
    bool unacknowledged : 1 = false;
    // Payload arrives so slowly that a waiting thread should sleep.
    bool prefers_sleep : 1 = false;
};

// What is sent: `size` bytes, contiguous at `data`, or, if that is nullptr, the next ones of `cursor`.
struct Payload {
    const std::byte *data = nullptr;
    size_t size = 0;
    Cursor *cursor = nullptr;

    // For paths that copy: copies the next `bytes` out and advances.
    void copy(void *to, size_t bytes);
    // The same for all that is left, at most inline_payload bytes.
    void copy_short(void *to) {
        if (data) copy_few(to, data, size);
        else if (size) copy(to, size);
    }
};

// Payload that a path may leave where it is: first `head`, which is copied, then `data`, which the caller
// leaves unchanged until Sink::sent(token). With token 0 there is no such call, since the sender learns from
// an answer of its peer that everything has arrived.
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

    // `done`: the payload has been copied. Otherwise `full`.
    virtual Sent send(uint32_t peer, const Envelope &envelope, Payload payload) = 0;
    // The same, or `pending`: the caller leaves the payload unchanged until one Sink::sent(token), which is
    // called from inside poll().
    virtual Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) = 0;
    // Like send(), for payload that the path need not copy. Called only if info.keep_from permits it. Returns
    // `pending` or `full`.
    virtual Sent send_kept(uint32_t peer, const Envelope &envelope, const KeptPayload &payload);
    // The largest payload of a bulk frame to that peer whose receiver has a place for it (Sink::place). It
    // may be more than max_bulk.
    virtual size_t max_bulk_in_place(uint32_t /*peer*/) const { return info.max_bulk; }

    // From now on, more envelopes are likely to follow before any thread waits. The path may hold envelopes
    // back, to send them together, until flush() or poll() at the latest. activity() reports that some are
    // held back.
    virtual void more_follows() {}
    virtual void flush() {}

    // Delivers to the sink what has arrived, at most `budget` frames. Returns the number of frames plus other
    // work done; 0: nothing moved.
    virtual int poll(Sink &sink, int budget, uint64_t now_ns) = 0;
    virtual PathActivity activity() const { return {}; }
    // The latest time at which poll() must be called even if nothing arrives. (Separate from activity(),
    // which a waiting thread calls all the time.)
    virtual uint64_t deadline_ns() const { return no_deadline; }
    // There will be no polls for a while. From now on, everything that has work for poll() must show at the
    // descriptor, also what polls would otherwise find by themselves. `process_sleeps`: one more poll follows
    // before that, which looks everywhere, also where polls look only now and then.
    virtual void prepare_to_sleep(bool /*process_sleeps*/) {}
    // Has every envelope that was sent arrived in its peer's library? Unlike activity(), this call speeds up
    // the acknowledgements.
    virtual bool settled() { return true; }

    // One line for reports, which begins with the name: "shm: 4 processes on this node, rings of 8 KiB".
    virtual std::string describe() const = 0;

protected:
    explicit Path(const PathInfo &facts) : info(facts) {}
};

}  // namespace lanyard
