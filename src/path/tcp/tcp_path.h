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
// 6. A process that has most_open connections closes a quiet one before it opens another (link_keeper.h).
// 7. With LANYARD_CHECKSUM=on each frame carries checksums (frame.h), made when it enters the log or is opened as bulk, so that a replay has
//    the same. A frame that is damaged ends the connection, as if it had been reset before it: its envelope is not counted, its range not
//    recorded, and both come again. Payload may be written to its place before it is known to be right, as nobody is told of it before;
//    but not over bytes that are recorded (Incoming::place, p2p/rendezvous_receive.h).
// 8. A process leaves when all it sent is acknowledged (settled()) and all others have come so far: from then on nobody needs an answer.
//    Whoever finds a connection closed before that dials again.
//
// Parts: links.h has the links and what the others share; connection.h one socket, and what is half read and half written there; link_writer.h
// sends; link_reader.h receives; link_keeper.h has connections come and go, and finds peers that are lost; routes.h knows by which address;
// hot_links.h which links are read without asking first. Here is the path, and the order in which poll() goes through all that.
//
// Reading: one buffer for all links; what is left over of it is dealt with first. The missing payload of a frame is read straight to
// its place, with the buffer behind it for what follows.
// Thread rule: the owner of the engine.
#pragma once

#include <string>
#include <vector>

#include "path/network_path.h"
#include "path/tcp/counters.h"
#include "path/tcp/link_keeper.h"
#include "path/tcp/link_reader.h"

namespace lanyard {

class TcpPath final : public NetworkPath {
public:
    using Counts = TcpCounts;

    // With `crc` frames are checked; all processes of a job need that alike.
    TcpPath(Sockets &sockets, const WireIdentity &identity, const Processes &processes, const TcpLimits &limits, Routes::Find find, Crc32c crc = {});
    ~TcpPath() override;

    Error listen(const std::vector<Address> &addresses, uint16_t least, uint16_t most, uint16_t &port) {
        return connector_.listen(addresses, least, most, port);
    }
    bool connected_to_all() override;
    void leave(bool leaving) override { links_.leaving = leaving; }
    void answer_all() override;
    void close_idle() override { keeper_.close_quiet(); }
    void share_processors() override { hot_.disable(); }
    void grow() override;
    void set_secret(const Secret &secret) override { identity_.secret = secret; }
    const Counts &counts() const { return links_.counts; }
    // A peer's address by which the latest connection to it went.
    Address address_of(uint32_t peer) { return links_.at(peer).route.last; }
    const Connector &connector() const { return connector_; }
    // Connections that there are now.
    uint32_t open() const { return links_.open; }

    size_t max_bulk_in_place(uint32_t peer) const override {
        const Link *link = links_.find(peer);
        return links_.form.is_checked() || !link ? info.max_bulk : link->connection.bulk.most();
    }
    bool reaches(uint32_t peer) const override { return peer < links_.peers() && peer != own_; }
    Sent send(uint32_t peer, const Envelope &envelope, Payload payload) override;
    Sent send_kept(uint32_t peer, const Envelope &envelope, const KeptPayload &payload) override;
    Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) override;
    bool settled() override;
    int poll(Sink &sink, int budget, uint64_t now_ns) override;
    void prepare_to_sleep(bool process_sleeps) override;
    PathActivity activity() const override { return {links_.busy() > 0, links_.unsettled() > 0, links_.coming_slowly() > 0}; }
    uint64_t deadline_ns() const override;
    std::string describe() const override;
    void close() override;

private:
    int look(int budget);

    WireIdentity identity_;
    const Processes &processes_;
    const uint32_t own_;
    Links links_;
    Connector connector_;
    Routes routes_;
    LinkWriter writer_;
    LinkReader reader_;
    LinkKeeper keeper_;
    HotLinks hot_;
    uint64_t look_at_ns_ = 0;
    bool looked_ = true;        // in the last poll()
    bool passed_over_ = false;  // all but the busiest, in the last poll()
    bool closed_ = false;
    CounterSource counted_[2]{{network_counters(), links_.counts}, {tcp_counters(), *this}};
};

}  // namespace lanyard
