// The write protocol (K. Morimoto, T. Matsumoto and K. Hiraki, MPI/MBCF, 1999) on network paths: a posted receive
// speaks first, and the sender of a long message sends all of it right behind its offer, without being asked. (Within a
// node: shm_advert.h.)
//
// Receiver                       Sender
//   announcement (id, room) -->    (keeps it)
//                          <--   rendezvous, names the id; bulk to the id
//   matches; complete
//   finished ---------------->   send over
//
// 1. An announcement is credit, not a match. A receive of a named source that is long enough, and that no stored
//    message meets, is announced when it is posted: context, tag or any, room, its id, and how many messages of the peer
//    had come.
// 2. The sender keeps it only if it has sent nothing else meanwhile (announcements.h): otherwise a message on its way may
//    be the one that the receive was posted for ("crossed"). Each message it sends uses up the first kept announcement
//    that it fits, as receives are matched in the order in which they are posted.
// 3. A long message that fits in the room names the id in its offer (flag_announced) and goes in bulk to it at once.
// 4. The receiver matches the offer as any other. Is the receive the one named, it keeps its id, and bulk that comes to
//    it counts. Any other receive gets an id now, and asks for the bytes (clear_to_send); the sender begins anew for it.
// 5. An id is known to the peer for one message only: bulk counts only where the receive has matched the offer that
//    names its id, and a receive that is announced and met by another offer gets a new id. Everything else that comes to
//    an id is dropped.
//
// Why it is right
// - Matching is the receiver's alone, by the order of envelopes (match.h), and announcements change nothing in it:
//   wildcards, probes, cancel, truncation and crossings are as without them. (A message longer than the room is offered
//   as ever; the announcement is used up.)
// - Bytes reach no other buffer than that of the receive that matched their offer, by 5; and they are in place: by 3 a
//   message fits.
// - Nothing waits for ever. The send ends when the receiver says `finished`, which it does when all bytes are there. They
//   come: bulk never overtakes the envelope it is sent after (Path::bulk_follows), so the offer is there when they come.
//   If it was matched by the receive it names, they are taken. If by another one, or if no receive takes it yet, they are
//   dropped, and asked for after the match. If the connection broke, the receiver asks for what it misses if it had
//   matched the offer; if it had not, all was lost with the connection but for the offer, which is sent again, and the
//   sender begins again behind it.
// - A program that posts its receives late pays nothing: a message that came first is met without an announcement.
//
// `auto` announces where an answer to the offer would cost time: receives of more bytes than go with an offer anyway
// (LANYARD_FIRST_BYTES); and not to peers whose messages do not name them, but for a try now and then.
// Thread rule: the owner of the engine.
#pragma once

#include "p2p/announcements.h"
#include "p2p/endpoint.h"
#include "p2p/rendezvous_receive.h"

namespace lanyard {

// From how many bytes on receives from the peer are to be announced, by whichever half of the protocol suits its path.
void set_announcing(const Endpoint &endpoint, Peer &peer);

// False: it would be in vain, most likely.
bool worth_announcing(const Settings &settings, Peer &peer);

// A receive from a named source, which has just been posted.
void announce(Endpoint &endpoint, RendezvousReceives &receives, ReceiveOperation &receive);

// At the sender. False: it came too late, and is not kept.
bool hear_advert(Announcements &known, const Envelope &envelope, const std::byte *payload);

}  // namespace lanyard
