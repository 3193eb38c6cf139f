// The write protocol (K. Morimoto, T. Matsumoto and K. Hiraki, MPI/MBCF, 1999) on network paths whose bulk
// never overtakes an envelope (PathInfo::bulk_follows; of the library's paths, TCP). A posted receive is
// announced, and the sender of a long message sends all bytes right behind its offer, without waiting for a
// request. (shm_advert.h does the same within a node.)
//
// Receiver                       Sender
//   announcement (id, room) -->    (keeps it)
//                          <--   rendezvous, names the id; bulk to the id
//   matches; complete
//   finished ---------------->   send complete
//
// 1. An announcement permits the sender to send bytes early. It does not match a message. A receive is
//    announced when it is posted, if it names a source, is long enough, and no stored message fits it. The
//    announcement states the context, the tag or any_tag, the room, the id, and how many messages of the peer
//    had arrived.
// 2. The sender keeps the announcement only if all messages that it has sent had arrived when the receive was
//    posted (announcements.h). Otherwise the receive may have been posted for a message that is on its way.
//    (The announcement and the message have "crossed".) Each message sent uses up the first kept announcement
//    that it fits, since receives are matched in the order in which they are posted.
// 3. The offer of a long message that fits the room names the id (flag_announced), and its bulk, addressed to
//    the id, follows at once.
// 4. The receiver matches the offer like any other. If the offer meets the receive that it names, the receive
//    keeps its id and takes the bulk. If the offer meets another receive, this receive gets an id of its own
//    and requests the bytes (clear_to_send), and the sender sends them again to the new id.
// 5. An id serves one message only. Bulk for an id is accepted only if its receive has matched the offer that
//    names the id. All other bulk is dropped. An announced receive that meets another offer gets a new id.
//
// Why the protocol is correct
// - Only the receiver matches, by the order of envelopes (match.h), and announcements do not change that
//   order. Wildcards, probes, cancel and truncation work as without announcements. (A message longer than the
//   room is offered without naming the receive, and uses up the announcement.)
// - By 5, bytes reach only the buffer of the receive that has matched their offer. By 3, the message fits
//   that buffer.
// - Nothing waits for ever. When the receiver has all bytes, it reports `finished`, and this ends the send.
//   The offer always arrives before its bulk, because bulk never overtakes an envelope sent before it
//   (PathInfo::bulk_follows). If the named receive has matched the offer, the bulk is accepted. If another
//   receive has matched the offer, or no receive has matched it yet, the bulk is dropped, and the bytes are
//   requested after the match. If the connection breaks after the match, the receiver requests the bytes that
//   are missing. If the connection breaks before the match, only the offer survives. The path sends the offer
//   again, and the sender sends all bytes again behind the offer.
// - A program that posts its receives late pays nothing, since a receive that finds a stored message is not
//   announced.
// If the setting of the write protocol is `auto`, a receive is announced only if its sender would otherwise
// wait for the answer to an offer. This is so if the receive is longer than the part of a message that
// travels with an offer (LANYARD_FIRST_BYTES). With `auto`, if several announcements in a row to a peer were
// not used, only every 64th receive from this peer is announced, as a trial.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/p2p/rendezvous_send_test.cc, tests/sim/write_test.cc.
#pragma once

#include "p2p/announcements.h"
#include "p2p/endpoint.h"
#include "p2p/rendezvous_receive.h"

namespace lanyard {

// Sets the size from which on receives from the peer are announced. Also sets whether such receives are
// announced by shm_advert.h or by this file. Both depend on the peer's path.
void set_announcing(const Endpoint &endpoint, Peer &peer);

// Should a receive from this peer be announced? False: the announcement would most likely not be used.
bool worth_announcing(const Settings &settings, Peer &peer);

// The receiver's half of the protocol. The state of an announced receive is its Incoming
// (rendezvous_receive.h), whose id the announcement names.
class ReceiveAdverts {
public:
    ReceiveAdverts(Endpoint &endpoint, RendezvousReceives &receives)
        : endpoint_(endpoint), receives_(receives) {}

    // Announces a receive that has just been posted, if this is worthwhile. The receive must name its source
    // (not MPI_ANY_SOURCE) and must not be announced yet.
    void announce(ReceiveOperation &receive);

private:
    Endpoint &endpoint_;
    RendezvousReceives &receives_;
};

// Called at the sender when an announcement arrives: stores it in `known`. False: the announcement is not
// stored, because it arrived too late or the list is full.
bool hear_advert(Announcements &known, const Envelope &envelope, const std::byte *payload);

}  // namespace lanyard
