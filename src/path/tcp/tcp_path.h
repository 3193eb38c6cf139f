// TcpPath sends and receives over TCP. To p2p it is a path like any other. It has a link for each peer
// (link.h), and the connection of a link may break at any moment without harm.
//
// Rules, and why nothing is lost, duplicated or reordered:
// 1. When send() takes an envelope, it is numbered and copied, with its payload, into the log of its link.
//    The copy stays until the peer has acknowledged the number. The peer does so when it has passed the
//    envelope to its p2p. send() therefore returns `done` at once, and envelopes that were lost with a
//    connection are still in the log. (The amount of copied payload is bounded: p2p keeps payload within the
//    peer's credit, and a link that has log_limit bytes in its log returns `full`.) Long payload is written
//    first, and copied while it travels. Payload of send_kept() stays in the program's memory until it is
//    acknowledged. But when nothing is left to write and at most copy_kept_up_to bytes are kept, these bytes
//    are copied too, so that a program that waits for the end of its sends need not wait for an answer.
// 2. The receiver delivers the envelope that it expects next and no other. At the beginning of a new
//    connection, each side closes the previous connection and then names the envelope that it expects
//    (path/tcp/greeting.h). The other side drops everything before this envelope from its log and writes the
//    rest again, in order. Each envelope is therefore delivered exactly once.
// 3. Bulk is not copied: it is written straight from the program's memory and is `done` when the kernel has
//    it. (Payload that is not contiguous is packed first.) A connection that breaks loses the bulk in it.
//    When the next connection is made, both sides call Sink::renewed. The receiver then requests what it
//    lacks, with an envelope (p2p). If a range arrives twice, its bytes are the same. Because bulk may be
//    lost, p2p ends a send only when the receiver reports that it has everything.
// 4. Every frame carries an acknowledgement. A separate frame for it is sent when the peer requests one
//    (because the peer waits for its sends to end), when much has arrived, or after a while.
// 5. Data that was written to a connection may stay unacknowledged by the other host for silence_ns. In this
//    case the peer is dialed again, on all addresses, and the old connection is kept until another one
//    exists. If the host has acknowledged everything but the peer has sent nothing for the same time, an
//    answer is requested. On a dead connection, the host does not acknowledge this request, so the failure is
//    noticed. A peer whose host is silent or unreachable for peer_timeout_ns has failed, and the envelopes
//    that it has not acknowledged are given up. The sends of these envelopes may have been complete for the
//    program long before. p2p therefore receives the envelopes back before the loss is reported
//    (Sink::undelivered).
// 6. A process that has most_open connections closes an idle one, if there is one, for each further one
//    (link_keeper.h).
// 7. With LANYARD_CHECKSUM=on, each frame carries checksums (frame.h). They are computed when the frame
//    enters the log or is opened as bulk, so that a repetition has the same checksums. A damaged frame ends
//    the connection, as if the connection had been reset before that frame. An envelope in the frame is not
//    counted, and a range of bulk in it is not recorded, so the contents arrive again. Payload may be written
//    to its place before it has been verified, since its arrival is reported only afterwards. But unverified
//    payload is never written over bytes that are recorded (Incoming::place, p2p/rendezvous_receive.h).
// 8. A process leaves when everything that it sent is acknowledged (all_acknowledged()) and all other
//    processes have reached the same point. After that, no process needs an answer. A process that finds a
//    connection closed before that point dials again, unless the connection was closed as idle.
//
// Parts: links.h has the links and what the other parts share. connection.h has one socket, with what is half
// read from the socket and half written to it. link_writer.h sends, link_reader.h receives. link_keeper.h
// opens and closes connections and detects failed peers. routes.h selects the address that a connection uses.
// hot_links.h decides which links are read without querying the kernel first. This class implements the path
// and states the order in which poll() calls the parts.
//
// Reading: one buffer serves all links, and bytes that are left over in it are processed first. One call
// reads the missing payload of a frame straight to its place, and what follows into the buffer.
// Thread rule: the owner of the engine.
// Tested by: tests/conformance/conformance_test.cc, tests/sim/links_test.cc.
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

    // With `crc`, frames carry checksums; all processes of a job must have the same setting.
    TcpPath(Sockets &sockets, const WireIdentity &identity, const Processes &processes,
            const TcpLimits &limits, Routes::Find find, Crc32c crc = {});
    ~TcpPath() override;

    // Listens at these addresses, all with one port (Connector::listen()). Called before the first poll().
    Error listen(const std::vector<Address> &addresses, uint16_t least, uint16_t most, uint16_t &port) {
        return connector_.listen(addresses, least, most, port);
    }
    bool connected_to_all() override;
    void leave(bool leaving) override { links_.leaving = leaving; }
    void answer_all() override;
    void close_idle() override { keeper_.close_idle(); }
    void share_processors() override { hot_.disable(); }
    void grow() override;
    void set_secret(const Secret &secret) override { identity_.secret = secret; }
    const Counts &counts() const { return links_.counts; }
    // The peer's address that the latest connection used, or the next should use; version 0: none yet.
    Address address_of(uint32_t peer) { return links_.at(peer).route.last; }
    const Connector &connector() const { return connector_; }
    // The number of present connections.
    uint32_t open() const { return links_.open; }

    size_t max_bulk_in_place(uint32_t peer) const override {
        const Link *link = links_.find(peer);
        return links_.form.is_checked() || !link ? info.max_bulk : link->connection.bulk.most();
    }
    bool reaches(uint32_t peer) const override { return peer < links_.peers() && peer != own_; }
    Sent send(uint32_t peer, const Envelope &envelope, Payload payload) override;
    Sent send_kept(uint32_t peer, const Envelope &envelope, const KeptPayload &payload) override;
    void kept_moved(uint32_t peer, uint64_t name, const std::byte *data) override;
    Sent send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) override;
    bool all_acknowledged() override;
    int poll(Sink &sink, int budget, uint64_t now_ns) override;
    void prepare_to_sleep(bool process_sleeps) override;
    PathActivity activity() const override {
        return {links_.busy() > 0, links_.unacknowledged() > 0, links_.slow() > 0};
    }
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
    bool looked_ = true;        // the last poll() queried the kernel
    bool passed_over_ = false;  // the last poll() used up its budget before it queried the kernel
    bool closed_ = false;
    CounterSource counted_[2]{{network_counters(), links_.counts}, {tcp_counters(), *this}};
};

}  // namespace lanyard
