// A Connection has the socket of a link (link.h), the frame that is half read from the socket, and the bulk
// frame that is half written to it. What must outlive the socket (envelope numbers, the log) belongs to the
// link, which opens the same Connection again with another socket. (A link may have several connections in
// the future.)
//
//   order of writing:  a bulk frame that has begun | the unwritten part of the log | a new bulk frame
//
// For a connection that can no longer be used, has_failed() returns true. Such a connection neither reads nor
// writes until it is closed. Its owner closes it in poll(), because other code must be informed of the close.
// Thread rule: the owner of the engine.
#pragma once

#include <errno.h>

#include "base/bytes.h"
#include "net/sockets.h"
#include "path/tcp/bulk_writer.h"
#include "path/tcp/frame_reader.h"
#include "path/tcp/outgoing_log.h"
#include "path/tcp/silence_check.h"

namespace lanyard {

// Decides how many bytes of payload must have arrived to wake a sleeper. Long payload that arrives more
// slowly than one chunk in slow_chunk_ns wakes the sleeper once for each chunk. Single packets of such
// payload wake no thread, and waiting threads leave the processor to others.
class WakePace {
public:
    // `missing` bytes of the payload have not arrived yet, and `received` bytes have arrived in `passed_ns`.
    // `now_at`: how many bytes are waited for so far. Returns how many to wait for now.
    size_t fit(size_t missing, size_t received, uint64_t passed_ns, size_t now_at);

private:
    static constexpr size_t chunk_bytes = 64 * KiB, least_chunk_bytes = 16 * KiB;
    static constexpr uint64_t slow_chunk_ns = 50'000, shortest_look_ns = 10'000;

    bool slow_ = false;  // a chunk of payload takes longer to arrive than a sleeper takes to wake up
};

class Connection {
public:
    enum class Wrote { nothing, some, all };

    // `token` identifies the connection's socket among the watched sockets.
    explicit Connection(uint32_t token) : token_(token) {}
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;

    uint32_t token() const { return token_; }
    int socket() const { return socket_; }
    bool is_open() const { return socket_ >= 0; }
    bool is_usable() const { return socket_ >= 0 && !failed_; }
    bool has_failed() const { return failed_; }
    void fail() { failed_ = true; }
    // Takes over a socket, which is watched from now on. Requires that the connection is closed.
    void open(Sockets &sockets, int socket);
    // Closes the socket. Gives up whatever was half read or half written. If a bulk frame was open, its
    // payload is no longer needed, and its token is appended to `tokens`. Requires that the connection is
    // open. Leaves the log and the ReadBuffer to the caller.
    void close(Sockets &sockets, std::vector<uint64_t> &tokens);

    // Is payload half read, or a bulk frame not completely written?
    bool is_busy() const { return bulk.is_open() || frames.in_payload(); }
    // Does payload arrive so slowly that a thread that waits for it should sleep?
    bool is_slow() const { return wake_at_ > 1; }
    // Has the socket taken as much as it could, so that it is watched for room?
    bool awaits_room() const { return awaits_room_; }
    // How many bytes of bulk frames the present socket has taken, and how many have arrived on it in complete
    // frames.
    uint64_t bulk_bytes() const { return bulk_bytes_; }
    uint64_t bulk_received() const { return bulk_received_; }
    void note_bulk(size_t bytes) { bulk_received_ += bytes; }
    uint64_t last_received_ns() const { return last_received_ns_; }

    // Writes, by one call, what is unwritten of the log and of the bulk frame. Returns `nothing` if there is
    // nothing to write, the socket takes no more, or the connection has failed. The token of a bulk frame
    // that has been written is appended to `tokens`.
    Wrote write_some(Sockets &sockets, OutgoingLog &log, std::vector<uint64_t> &tokens);
    // Writes the parts to the socket at once, if nothing else must be written before them. Returns how many
    // bytes were written.
    size_t write_first(Sockets &sockets, const OutgoingLog &log, const iovec *parts, int count);
    // Reads until the socket has nothing more, or `user` takes no more. FrameReader::read() describes `user`.
    // Returns the number of frames and portions. `user` has these functions in addition:
    //   user.spend()    a portion was read
    //   user.budget()   what is left to spend
    template <class User>
    int read_in(Sockets &sockets, const FrameForm &form, ReadBuffer &buffer, uint64_t now_ns, User &user) {
        int work = 0;
        while (user.budget() > 0 && !buffer.owner() && is_usable()) {
            iovec parts[2];
            size_t wanted;
            int count = frames.room(buffer, parts, wanted);
            ssize_t result = sockets.read(socket_, parts, count);
            if (result <= 0) {
                if (result != -EAGAIN) fail();
                break;
            }
            last_received_ns_ = now_ns;
            ++work;  // a part of a frame is progress too
            user.spend();
            work += frames.read(form, buffer, *this, static_cast<size_t>(result), now_ns, user);
            if (static_cast<size_t>(result) < wanted) break;  // the socket had no more
        }
        if (frames.in_payload() || is_slow()) fit_waking_to_pace(sockets, now_ns);
        return work;
    }
    // Watches the socket, also for room if room is awaited.
    void watch(Sockets &sockets) { sockets.watch(socket_, token_, awaits_room_); }

    FrameReader frames;
    BulkWriter bulk;
    SilenceCheck silence;

private:
    void await_room(Sockets &sockets, bool wanted);
    void fit_waking_to_pace(Sockets &sockets, uint64_t now_ns);
    size_t wrote_bulk(Sockets &sockets, size_t bytes, std::vector<uint64_t> &tokens);

    const uint32_t token_;
    int socket_ = -1;
    bool failed_ = false;
    bool awaits_room_ = false;
    WakePace pace_;
    size_t wake_at_ = 1;  // the socket counts as readable when this many bytes have arrived
    uint64_t bulk_bytes_ = 0, bulk_received_ = 0;
    uint64_t last_received_ns_ = 0;
};

}  // namespace lanyard
