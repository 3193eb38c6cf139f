// The write protocol (K. Morimoto, T. Matsumoto and K. Hiraki, MPI/MBCF, 1999) on network paths: a posted receive speaks first, and the
// sender of a long message sends all of it right behind its offer, without being asked. (Within a node: claim.cc.)
//
// Receiver                       Sender
//   announcement (id, room) -->    (keeps it)
//                          <--   rendezvous, names the id; bulk to the id
//   matches; complete
//   finished ---------------->   send over
//
// 1. An announcement is credit, not a match. A receive of a named source that is long enough, and that no stored message meets, is
//    announced when it is posted: context, tag or any, room, its id, and how many messages of the peer had come.
// 2. The sender keeps it only if it has sent nothing else meanwhile (announcements.h): otherwise a message on its way may be the one that
//    the receive was posted for ("crossed"). Each message it sends uses up the first kept announcement that it fits, as receives are
//    matched in the order in which they are posted.
// 3. A long message that fits in the room names the id in its offer (flag_announced) and goes in bulk to it at once.
// 4. The receiver matches the offer as any other. Is the receive the one named, it keeps its id, and bulk that comes to it counts.
//    Any other receive gets an id now, and asks for the bytes (clear_to_send); the sender begins anew for it.
// 5. A transfer's id is known to its peer for one message only: bulk counts only where the receive has matched the offer that names its id,
//    and a receive that is announced and met by another offer gets a new id. Everything else that comes to an id is dropped.
//
// Why it is right
// - Matching is the receiver's alone, by the order of envelopes (match.h), and announcements change nothing in it: wildcards, probes, cancel,
//   truncation and crossings are as without them. (A message longer than the room is offered as ever; the announcement is used up.)
// - Bytes reach no other buffer than that of the receive that matched their offer, by 5; and they are in place: by 3 a message fits.
// - Nothing waits for ever. The send ends when the receiver says `finished`, which it does when all bytes are there. They come: bulk never
//   overtakes the envelope it is sent after (Path::bulk_follows), so the offer is there when they come. If it was matched by the receive it
//   names, they are taken. If by another one, or if no receive takes it yet, they are dropped, and asked for after the match. If the
//   connection broke, the receiver asks for what it misses if it had matched the offer (renewed); if it had not, all was lost with the
//   connection but for the offer, which is sent again, and the sender begins again behind it.
// - Who posts receives late pays nothing: a message that came first is met without an announcement.
//
// `auto` announces where an answer to the offer would cost time: receives of more bytes than go with an offer anyway (LANYARD_FIRST_BYTES); and
// not to peers whose messages do not name them, but for a try now and then.
#include <cstring>

#include "base/log.h"
#include "p2p/messenger.h"

namespace lanyard {

namespace {

constexpr uint32_t most_in_vain = 8, try_every = 64;  // announcements, announceable receives

struct AnnouncementPayload {
    uint64_t receive_id;
    uint64_t come;  // messages from the peer
};
static_assert(sizeof(AnnouncementPayload) <= inline_payload);

}  // namespace

void Messenger::set_announcing(Peer &peer) {
    peer.announced_from = UINT64_MAX;
    peer.claims = peer.path->shared_word(own_peer_, 0) != nullptr;
    if (settings_.write_protocol == "off" || !(peer.claims || peer.path->bulk_follows())) return;
    peer.announced_from = peer.eager_limit + 1;
    if (peer.claims) return;
    if (settings_.write_protocol == "auto") peer.announced_from = std::max<uint64_t>(peer.announced_from, peer.first_limit + 1);
}

// A receive has been posted.
void Messenger::announce(Transfer &transfer) {
    Peer &peer = peers_[transfer.peer];
    if (peer.claims) return announce_claim(transfer);
    bool in_vain = settings_.write_protocol == "auto" && peer.announced_in_vain >= most_in_vain;
    if (in_vain && ++peer.not_announced % try_every != 0) return;
    transfer.id = transfers_.add(transfer);
    transfer.announced = true;
    ++announced_;
    ++peer.announced_in_vain;  // until it is named
    ++counts_.announced;
    AnnouncementPayload payload{transfer.id, peer.messages_come};
    Envelope envelope{};
    envelope.context = transfer.context;
    envelope.source = transfer.rank;
    envelope.tag = transfer.tag;
    envelope.length = static_cast<uint64_t>(transfer.buffer.bytes());
    envelope.kind = EnvelopeKind::announcement;
    envelope.flags = transfer.buffer.contiguous() ? flag_in_place : 0;
    log(LogLevel::trace, "p2p", "peer %u: receive %#llx of %lld bytes announced", transfer.peer, static_cast<unsigned long long>(transfer.id),
        static_cast<long long>(transfer.buffer.bytes()));
    channels_.post(peer, envelope, &payload, sizeof payload);
}

// The announced receive is over, or met an offer; only one that names it may use its id.
void Messenger::end_announcement(Transfer &transfer, bool keeps_id) {
    transfer.announced = false;
    --announced_;
    if (keeps_id) return;
    transfers_.remove(transfer.id);
    transfer.id = 0;
}

// Does the offer name the receive that it met?
bool Messenger::is_named(Transfer &transfer, uint32_t peer, const Envelope &envelope, const RendezvousOffer &offer) {
    if (!transfer.announced) return false;
    bool named = (envelope.flags & flag_announced) && offer.address == transfer.id;
    end_announcement(transfer, named);
    if (named) peers_[peer].announced_in_vain = 0;
    return named;
}

void Messenger::heard_announcement(uint32_t number, const Envelope &envelope, const std::byte *payload) {
    if (peers_[number].claims) return heard_claimable(number, envelope, payload);
    AnnouncementPayload said;
    std::memcpy(&said, payload, sizeof said);
    AnnouncedReceive announcement{{envelope.context, envelope.source, envelope.tag}, said.receive_id, envelope.length,
                              (envelope.flags & flag_in_place) != 0};
    if (!peers_[number].announcements.add(announcement, said.come)) ++counts_.crossed;
}

// What the offer of this message may name.
const AnnouncedReceive *Messenger::announcement_for(const Transfer &send) const {
    const AnnouncedReceive *one = peers_[send.peer].announcements.find(send);
    return one && static_cast<uint64_t>(send.buffer.bytes()) <= one->room ? one : nullptr;
}

// The offer that names the announcement has been sent, with the first bytes: the rest goes behind it.
void Messenger::push_announced(Transfer &transfer, const AnnouncedReceive &announcement, uint64_t first) {
    ++counts_.announcements_used;
    counts_.bytes_written += static_cast<uint64_t>(transfer.buffer.bytes());
    transfer.announced = true;
    transfer.remote_id = announcement.receive_id;
    transfer.in_place = announcement.in_place && transfer.buffer.contiguous();
    transfer.wanted = static_cast<uint64_t>(transfer.buffer.bytes());
    transfer.first = first;
    transfer.messenger = this;
    transfer.run = push_on;
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx: goes to the announced receive %#llx", transfer.peer,
        static_cast<unsigned long long>(transfer.id), static_cast<unsigned long long>(announcement.receive_id));
    push_from_first(transfer);
}

void Messenger::push_from_first(Transfer &transfer) {
    transfer.moved = transfer.first;
    transfer.cursor = Cursor(transfer.buffer);
    if (transfer.first) transfer.cursor.seek(static_cast<int64_t>(transfer.first));
    if (!transfer.hook.linked()) engine_.ready(transfer);
}

}  // namespace lanyard
