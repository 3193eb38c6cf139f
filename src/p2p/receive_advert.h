// The write protocol (K. Morimoto, T. Matsumoto and K. Hiraki, MPI/MBCF, 1999) on network paths. A posted
// receive is announced, and the sender of a long message sends all of it right behind its offer, without a
// request. (Within a node: shm_advert.h.)
//
// Receiver                       Sender
//   announcement (id, room) -->    (keeps it)
//                          <--   rendezvous, names the id; bulk to the id
//   matches; complete
//   finished ---------------->   send complete
//
// 1. An announcement is credit, not a match. A receive is announced when it is posted, if it names a source,
//    is long enough, and no stored message meets it. The announcement states context, tag or any_tag, room,
//    id, and the number of messages of the peer that had arrived.
// 2. The sender keeps it only if it has sent nothing else meanwhile (announcements.h). Otherwise the receive
//    may have been posted for a message that is on its way ("crossed"). Each message that it sends uses up
//    the first kept announcement that it fits, since receives are matched in the order in which they are
//    posted.
// 3. The offer of a long message that fits the room names the id (flag_announced), and its bulk follows to
//    the id at once.
// 4. The receiver matches the offer like any other. If the receive is the named one, it keeps its id, and
//    bulk for it counts. Any other receive gets an id now and requests the bytes (clear_to_send), and the
//    sender starts again for it.
// 5. An id is known to the peer for one message only. Bulk counts only if the receive has matched the offer
//    that names its id. An announced receive that meets another offer gets a new id. All other frames for an
//    id are dropped.
//
// Why it is right
// - Only the receiver matches, by the order of envelopes (match.h), and announcements change nothing in it.
//   Wildcards, probes, cancel, truncation and crossings work as without them. (A message longer than the room
//   is offered without naming the receive; the announcement is used up.)
// - Bytes reach no other buffer than that of the receive that matched their offer, by 5. They are inside it,
//   because by 3 the message fits.
// - Nothing waits for ever. The send ends when the receiver reports `finished`, which it does when all bytes
//   are there. They arrive, because bulk never overtakes the envelope after which it is sent
//   (PathInfo::bulk_follows), so the offer is there before them. If the named receive matched the offer, they
//   are taken. If another receive matched it, or none has yet, they are dropped and requested after the
//   match. If the connection breaks after the match, the receiver requests what is missing. If it breaks
//   before, everything is lost with the connection except the offer. The offer is sent again, and the sender
//   starts again behind it.
// - A program that posts its receives late pays nothing, since a message that arrives first is met without an
//   announcement.
//
// With `auto`, a receive is announced if an answer to the offer would cost time: if it has more bytes than
// travel with an offer anyway (LANYARD_FIRST_BYTES). Receives from peers whose messages do not name them are
// no longer announced, except for a try from time to time.
// Thread rule: the owner of the engine.
#pragma once

#include "p2p/announcements.h"
#include "p2p/endpoint.h"
#include "p2p/rendezvous_receive.h"

namespace lanyard {

// Sets the size from which on receives from the peer are announced, by the half of the protocol that suits
// its path.
void set_announcing(const Endpoint &endpoint, Peer &peer);

// False: an announcement would most likely be in vain.
bool worth_announcing(const Settings &settings, Peer &peer);

// Announces a receive from a named source that has just been posted.
void announce(Endpoint &endpoint, RendezvousReceives &receives, ReceiveOperation &receive);

// At the sender. False: the announcement arrived too late and is not kept.
bool hear_advert(Announcements &known, const Envelope &envelope, const std::byte *payload);

}  // namespace lanyard
