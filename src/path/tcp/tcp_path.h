// Links over TCP: to p2p a path like any other, beneath it connections that may break at any moment without harm.
//
// Rules, and why nothing is lost, doubled or disordered
// 1. An envelope is numbered and copied, with its payload, into the log of its link when send() takes it. The copy stays until the peer
//    has acknowledged the number, which it does when its p2p has been given the envelope. So send() is `done` at once, and what a lost
//    connection swallowed is still here. (What may be copied is bounded: p2p keeps payload within the peer's credit, and a link that has
//    log_limit bytes in its log answers `full`.) Long payload is written first, and copied while it travels. What send_kept() takes stays
//    where the program has it until it is acknowledged; but when nothing is left to write and only copy_kept_up_to bytes are kept, they
//    are copied too, so that who waits for the end of its sends need not wait for an answer.
// 2. The receiver delivers the envelope it expects next and no other. A new connection begins with both sides naming what they expect
//    (path/tcp/greeting.h), after each has closed the connection before: everything up to there is dropped from the log, the
//    rest is written again, in order. So each envelope is delivered exactly once.
// 3. Bulk is not copied: it is written straight from the program's memory and `done` when the kernel has it. A connection that breaks loses what it
//    held. Both sides are then told `renewed`; the receiver asks again for what it misses, with an envelope (p2p), and ranges that
//    come twice are the same bytes. So p2p ends a send only when the receiver says that it has everything.
// 4. Acknowledgements ride on every frame; alone they go when the peer asks (it waits for that to end), when much has come, or after a while.
// 5. A connection on which what was written is not acknowledged by the other host for silence_ns is dialed beside, on all addresses; it is kept
//    until another is there. So that a dead one shows, a peer that does not answer, though its host does, is asked again after that time. A
//    peer not heard of for peer_timeout_ns is lost, and what it has not acknowledged is given up. The program may long have been told that
//    such a send is over, so p2p is given these envelopes back before the loss (Sink::undelivered).
// 6. A process that has most_open connections closes a quiet one before it opens another (resting.cc).
// 7. With LANYARD_CHECKSUM=on each frame carries checksums (frame.h), made when it enters the log or is opened as bulk, so that a replay has
//    the same. A frame that is damaged ends the connection, as if it had been reset before it: its envelope is not counted, its range not
//    recorded, and both come again. Payload may be written to its place before it is known to be right, as nobody is told of it before;
//    but not over bytes that are recorded (Messenger::place).
// 8. A process leaves when all it sent is acknowledged (settled()) and all others have come so far: from then on nobody needs an answer.
//    Whoever finds a connection closed before that dials again.
//
// Reading: one buffer for all links; what is left over of it is dealt with first. The missing payload of a frame is read straight to
// its place, with the buffer behind it for what follows.
// Thread rule: the owner of the engine.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "base/tally.h"
#include "path/network_counters.h"
#include "path/network_path.h"
#include "path/tcp/connector.h"
#include "path/tcp/counters.h"
#include "path/tcp/link.h"

namespace lanyard {

struct TcpLimits {
    size_t max_eager = 256 * 1024 + 64;    // with the offer that goes before the first bytes of a longer message
    size_t log_limit = 1024 * 1024;        // bytes in the log of one link
    size_t write_first_from = 4096;        // payload of so many bytes is copied after it has been written
    size_t keep_from = 16 * 1024;          // payload of so many bytes need not be copied at all
    size_t copy_kept_up_to = 256 * 1024;   // bytes that may be copied after all
    size_t answer_after = 256 * 1024;      // bytes come since the last acknowledgement; were it more than copy_kept_up_to, senders would wait
    uint64_t answer_within_ns = 10'000'000;
    uint64_t peer_timeout_ns = 60'000'000'000;
    uint64_t silence_ns = 2'000'000'000;
    uint32_t most_open = UINT32_MAX;
    uint64_t hot_ns = 200'000;             // a link is read without asking for so long after something came
    uint64_t look_every_ns = 0;            // the other sockets are asked for so often,
    uint64_t look_beside_hot_ns = 3'000;   // and while there is such a link so often
    uint64_t weigh_from = 0;               // bytes of bulk on a connection, before other addresses are measured (address_choice.h); 0: never
    uint64_t measure_ns = 20'000'000;      // how long each of them is written to
};

class TcpPath final : public NetworkPath, private Connector::User {
public:
    using FindAddresses = std::function<Error(uint32_t peer, std::vector<Address> &list)>;
    struct Counts : NetworkCounts {
        Tally<uint64_t> broken, garbled, acknowledgements, rested;
        Tally<uint64_t> damaged;   // frames with a wrong checksum
        Tally<uint64_t> silences;  // hosts that were dialed beside a connection on which they are silent
    };

    // With `crc` frames are checked; all processes of a job need that alike.
    TcpPath(Sockets &sockets, const WireIdentity &identity, uint32_t peers, const TcpLimits &limits, FindAddresses find, Crc32c crc = {});
    ~TcpPath() override;

    Error listen(const std::vector<Address> &addresses, uint16_t least, uint16_t most, uint16_t &port) {
        return connector_.listen(addresses, least, most, port);
    }
    bool connected_to_all() override;
    void leave(bool leaving) override { leaving_ = leaving; }
    void answer_all() override;
    void rest_all() override;
    void share_processors() override { most_hot_ = 0; }
    void set_secret(const Secret &secret) override { identity_.secret = secret; }
    const Counts &counts() const { return counts_; }
    // A peer's address by which the latest connection to it went.
    Address address_of(uint32_t peer) { return link(peer).last_address; }
    const Connector &connector() const { return connector_; }
    // Connections that there are now.
    uint32_t open() const { return open_; }

    size_t max_bulk_in_place(uint32_t peer) const override { return crc_ || !links_[peer] ? info.max_bulk : links_[peer]->bulk.most; }
    bool reaches(uint32_t peer) const override { return peer < links_.size() && peer != identity_.own; }
    Sent send(uint32_t peer, const Envelope &envelope, Payload payload) override;
    Sent send_kept(uint32_t peer, const Envelope &envelope, const KeptPayload &payload) override;
    Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) override;
    bool settled() override;
    int poll(Sink &sink, int budget, uint64_t now_ns) override;
    void prepare_to_sleep(bool process_sleeps) override;
    PathActivity activity() const override { return {busy_ > 0, unsettled_ > 0, coming_slowly_ > 0}; }
    uint64_t deadline_ns() const override;
    std::string describe() const override;
    void close() override;

private:
    uint64_t let_go(uint32_t peer) override;
    void connected(uint32_t peer, int socket, uint64_t peer_expects) override;
    Error addresses(uint32_t peer, std::vector<Address> &list, size_t &first) override;
    void alive(uint32_t peer) override;
    void unfit(uint32_t peer, const char *why) override;
    void measured(uint32_t peer, const AddressChoice::Found &found) override;
    void not_moved(uint32_t peer) override;
    bool make_room() override;
    bool rest(Link &link);

    // tcp_path.cc: connections, and what is due when
    Link &link(uint32_t peer);
    void recount(Link &link);
    void tend_to(Link &link, uint64_t when_ns);
    int tend(uint64_t now_ns);
    void tend_one(Link &link, uint64_t now_ns);
    int look(int budget);
    int read_hot(int budget);
    void note_arrival(Link &link);
    void cool(Link &link);
    void check_silence(Link &link, uint64_t now_ns);
    uint64_t next_patience_ns(const Link &link) const;
    bool is_quiet(const Link &link) const;
    void fail(Link &link);
    void part(Link &link);
    void tell_waiting(Link &link);
    void time_out(Link &link);
    void lose(Link &link, std::string why);

    // weighing.cc
    uint64_t bytes_between_samples() const { return limits_.weigh_from / 32; }
    void weigh(Link &link);
    void follow_choice(Link &link);
    void tell_choice(Link &link);

    // sending.cc
    bool ready_to_send(Link &link);
    size_t write_first(Link &link, const CheckedEnvelope &head, const Payload &payload);
    void copy_kept();
    void take_released(Link &link);
    void flush(Link &link);
    void flush_all();
    FrameHeader header(Link &link, FrameKind kind, size_t size);
    FrameCheck check_of(FrameHeader &header, std::span<const std::byte> body, std::span<const std::byte> first,
                        std::span<const std::byte> rest) const;
    void append_answer(Link &link, uint8_t flags);
    void write_out(Link &link);
    void written(Link &link, size_t bytes);
    void fit_bulk_to_pace(Link &link);
    void await_room(Link &link, bool wanted);

    // receiving.cc
    int read_in(Link &link, int budget);
    int take_rest(int budget);
    int take_apart(Link &link, int budget);
    void answer_if_wanted(Link &link);
    void fit_waking_to_pace(Link &link);
    bool sensible(const FrameHeader &header) const;
    FrameCheck check_come(const Link &link) const;
    bool head_is_right(Link &link);
    ssize_t beginning_that_is_right(const Link &link, const std::byte *payload, size_t come) const;
    bool payload_is_right(const Link &link, const std::byte *payload) const;
    void begin_payload(Link &link, size_t come);
    bool is_next(const Link &link, const FrameHeader &header) const;
    int frame_complete(Link &link, const std::byte *payload);
    void envelope_come(Link &link, const FrameHeader &header, const Envelope &carried, const std::byte *payload);
    void garbled(Link &link, const char *what);
    void damaged(Link &link);

    Sockets &sockets_;
    WireIdentity identity_;
    const TcpLimits limits_;
    FindAddresses find_;
    const Crc32c crc_;
    const size_t check_bytes_;  // of each frame
    Connector connector_;
    SpareBlocks spare_;
    std::vector<std::unique_ptr<Link>> links_;  // by peer, made at first contact
    std::vector<Link *> hot_;
    size_t most_hot_ = 4;
    std::vector<Link *> tended_;
    std::vector<Link *> to_flush_;
    std::vector<Link *> keeping_;  // those whose log keeps payload of the program
    std::vector<uint64_t> sent_;  // tokens to be reported by poll()
    Sink *sink_ = nullptr;        // while poll() runs
    uint64_t now_ns_ = 0;
    uint64_t look_at_ns_ = 0;
    uint32_t sleeps_ = 0;       // of this process
    bool looked_ = true;        // in the last poll()
    bool passed_over_ = false;  // all but the busiest, in the last poll()
    uint64_t tend_at_ns_ = UINT64_MAX;
    uint32_t busy_ = 0, unsettled_ = 0, coming_slowly_ = 0;  // links
    Tally<uint32_t> open_;      // likewise
    int told_lost_ = 0;         // in this poll()
    bool leaving_ = false, closed_ = false;
    Counts counts_;

    std::unique_ptr<std::byte[]> buffer_;
    size_t rest_begin_ = 0, rest_end_ = 0;  // of the buffer: read and not yet taken apart
    Link *rest_of_ = nullptr;
    CounterSource counted_[2]{{network_counters(), counts_}, {tcp_counters(), *this}};
};

}  // namespace lanyard
