// Handles an offer, from its start to the end of its send (rendezvous_send.h).
#include "p2p/rendezvous_send.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/events.h"
#include "base/log.h"
#include "p2p/copy_methods.h"
#include "p2p/eager.h"
#include "p2p/push_request.h"
#include "p2p/receive_advert.h"
#include "p2p/shm_advert.h"

namespace lanyard {

void RendezvousSends::send(SendOperation &send) { spares_.take(*this).begin(send); }

void RendezvousSends::envelope(uint32_t number, const Envelope &envelope, const std::byte *payload, size_t) {
    Peer &peer = endpoint_.peers[number];
    Announcements &known = announcements_.try_emplace(number, peer).first->second;
    bool kept = peer.claims ? hear_claimable(known, *peer.path, number, envelope, payload)
                            : hear_advert(known, envelope, payload);
    if (!kept) ++endpoint_.counts.crossed;
}

// The receive that the offer of this message may name, or nullptr.
const AnnouncedReceive *RendezvousSends::announced_for(const SendOperation &send) {
    const Announcements *known = announced_by(send.peer);
    const AnnouncedReceive *one = known ? known->find(send) : nullptr;
    return one && static_cast<uint64_t>(send.buffer.bytes()) <= one->room ? one : nullptr;
}

// Reports why a message becomes a rendezvous.
void RendezvousSends::tell(const SendOperation &send, uint64_t id) const {
    const Peer &peer = endpoint_.peers[send.peer];
    auto bytes = static_cast<long long>(send.buffer.bytes());
    enum Why { synchronous, too_long, no_credit, mapped };  // as the event documents them
    Why why = send.mode == SendMode::synchronous                 ? synchronous
              : send.mapped                                      ? mapped
              : bytes > static_cast<long long>(peer.eager_limit) ? too_long
                                                                 : no_credit;
    if (event_wanted(Event::rendezvous))
        tell_event(Event::rendezvous, send.context, {send.destination, send.tag, bytes, why});
    if (!log_enabled(LogLevel::trace)) return;
    const std::string reasons[] = {
        "the send is synchronous", "at most " + std::to_string(peer.eager_limit) + " are sent at once",
        "the receiver has not yet taken what it was sent (credit " + std::to_string(peer.credit_left) + ")",
        "the receiver can take it from memory of MPI_Alloc_mem"};
    log(LogLevel::trace, "p2p", "peer %u: %lld bytes as rendezvous %#llx: %s", send.peer, bytes,
        static_cast<unsigned long long>(id), reasons[why].c_str());
}

RendezvousSends::Offer::Offer(RendezvousSends &sends)
    : sends_(sends),
      endpoint_(sends.endpoint_),
      push_(sends.endpoint_),
      help_(sends.endpoint_),
      write_(sends.endpoint_) {
    Outgoing::flush = flush;
}

void RendezvousSends::Offer::begin(SendOperation &send) {
    send_ = &send;
    state_ = State::queued;
    announced_ = in_place_ = cancelling_ = received_ = false;
    first_ = offered_ns_ = 0;
    send.unfinished = this;
    sends_.open_.push_back(*this);
    endpoint_.targets.add(*this);
    endpoint_.begin_under_way(send);
    ++endpoint_.counts.rendezvous;
    if (log_enabled(LogLevel::trace) || event_wanted(Event::rendezvous)) sends_.tell(send, id());
    endpoint_.channels.start(endpoint_.peers[send.peer], *this);
}

void RendezvousSends::Offer::trace(const char *what) const {
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx %s", send_->peer,
        static_cast<unsigned long long>(id()), what);
}

void RendezvousSends::Offer::finish(Error error) {
    SendOperation &send = *send_;
    if (error) send.error = error;
    moving_.end(endpoint_.traffic);
    push_.forget();
    help_.stop();
    write_.stop();
    endpoint_.targets.remove(*this);
    open_hook.unlink();
    send.unfinished = nullptr;
    sends_.spares_.give(*this);
    endpoint_.finish(send);
}

// Called when the receiver has requested bulk, or this process has claimed the receive: counts the data as
// under way.
void RendezvousSends::Offer::begin_moving() {
    state_ = State::moving;
    moving_.begin(endpoint_.traffic);
}

// Claims an announced receive, or tries to send the offer, when all older envelopes have been sent. False:
// there is no room yet.
bool RendezvousSends::Offer::flush(Outgoing &outgoing) {
    auto &self = static_cast<Offer &>(outgoing);
    Endpoint &endpoint = self.endpoint_;
    SendOperation &send = *self.send_;
    Peer &peer = endpoint.peers[send.peer];
    if (peer.closed) {
        self.finish(endpoint.losses.tell(send.peer, "the process to send to"));
        return true;
    }
    if (peer.claims && self.claim()) return true;
    Envelope envelope = message_envelope(send, EnvelopeKind::rendezvous, send.buffer.bytes(), send.check);
    RendezvousOffer offer{self.id(), 0};
    if (send.buffer.contiguous() && endpoint.touched_by(send.peer, send.buffer)) {
        offer.address = reinterpret_cast<uintptr_t>(send.buffer.base);
        bool long_enough = send.buffer.bytes() >= static_cast<int64_t>(CopyMethods::least_bytes);
        bool attended = send.in_call && !endpoint.engine.oversubscribed();
        if (attended && long_enough && send.peer != endpoint.own_peer) envelope.flags = flag_attended;
    }
    // The credit may have been used since the send began. The offer is then an ordinary one.
    bool mapped = send.mapped && Eager::fits(peer, send.buffer.bytes());
    if (mapped) envelope.flags |= flag_mapped;
    const AnnouncedReceive *announced = peer.claims || mapped ? nullptr : self.sends_.announced_for(send);
    if (announced) {
        offer.address = announced->receive_id;
        envelope.flags = flag_announced;
    }
    if (self.transmit(envelope, offer) == Sent::full) return false;
    self.state_ = State::offered;
    if (mapped) peer.credit_left -= Channels::cost(send.buffer.bytes());
    self.offered_ns_ = mapped ? endpoint.engine.read_now_ns() : 0;
    if (announced) self.push_announced(*announced);
    endpoint.count_sent(peer, send, announced ? Protocol::write : Protocol::rendezvous, send.buffer.bytes());
    const char *how =
        announced ? "to an announced receive" : offer.address ? "for direct copies too" : "in bulk only";
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx of %lld bytes offered, %s", send.peer,
        static_cast<unsigned long long>(self.id()), static_cast<long long>(send.buffer.bytes()), how);
    return true;
}

// Sends the offer with the first bytes of the message, as far as the credit lasts. The path need not report
// when these bytes have left the buffer, since the send ends only after an answer of the receiver.
Sent RendezvousSends::Offer::transmit(Envelope &envelope, const RendezvousOffer &offer) {
    const Buffer &buffer = send_->buffer;
    Peer &peer = endpoint_.peers[send_->peer];
    auto most = static_cast<size_t>(std::max<int64_t>(peer.credit_left, 0));
    size_t first = std::min({size_t{peer.first_limit}, static_cast<size_t>(buffer.bytes()), most});
    if (Channels::cost(static_cast<int64_t>(first)) > peer.credit_left)
        first = first / credit_unit * credit_unit;
    auto *head = reinterpret_cast<const std::byte *>(&offer);
    Sent result;
    if (first == 0) {
        result = endpoint_.channels.send(peer, envelope, {head, sizeof offer, nullptr});
    } else if (buffer.contiguous()) {
        result =
            endpoint_.channels.send_kept(peer, envelope, {head, sizeof offer, buffer.base, first, 0, id()});
    } else {
        auto packed = std::make_unique_for_overwrite<std::byte[]>(sizeof offer + first);
        std::memcpy(packed.get(), head, sizeof offer);
        Cursor(buffer).pack(packed.get() + sizeof offer, first);
        result = endpoint_.channels.send(peer, envelope, {packed.get(), sizeof offer + first, nullptr});
    }
    if (result == Sent::full) return result;
    peer.credit_left -= Channels::cost(static_cast<int64_t>(first));
    first_ = first;
    return result;
}

// Tries to claim a receive that the peer within the node has announced. True: the message is being written
// straight into the receive buffer, and needs no offer.
bool RendezvousSends::Offer::claim() {
    Peer &peer = endpoint_.peers[send_->peer];
    Announcements *known = sends_.announced_by(send_->peer);
    if (!known || !known->complete() || !send_->in_call || !send_->buffer.contiguous()) return false;
    // The setting of the write protocol is "off", or was changed to it.
    if (peer.announced_from == UINT64_MAX) return false;
    const AnnouncedReceive *one = sends_.announced_for(*send_);
    auto bytes = static_cast<uint64_t>(send_->buffer.bytes());
    if (!one || !one->word || !endpoint_.touches(send_->peer, one->address, bytes)) return false;
    if (!ShmWrite::claim(endpoint_, *one)) return false;
    begin_moving();
    ++endpoint_.counts.announcements_used;
    endpoint_.counts.bytes_written += bytes;
    trace("writes to a claimed receive");
    write_.begin(*send_, *one, id(), *this);
    known->message_claimed(*send_);
    ++endpoint_.counts.sent;
    if (endpoint_.traffic) endpoint_.count_traffic(peer, Protocol::write, bytes);
    return true;
}

void RendezvousSends::Offer::written() { finish(); }

// Sends the remaining bytes as bulk right behind the offer, which names the receive.
void RendezvousSends::Offer::push_announced(const AnnouncedReceive &receive) {
    ++endpoint_.counts.announcements_used;
    endpoint_.counts.bytes_written += static_cast<uint64_t>(send_->buffer.bytes());
    announced_ = true;
    receiver_id_ = receive.receive_id;
    in_place_ = receive.in_place;
    push_behind_first();
}

void RendezvousSends::Offer::push_behind_first() {
    push_.begin(send_->peer, receiver_id_, send_->buffer, first_,
                static_cast<uint64_t>(send_->buffer.bytes()), in_place_, id(), *this);
}

void RendezvousSends::Offer::answer(uint32_t peer, const Envelope &envelope, const std::byte *payload,
                                    size_t size) {
    if (peer != send_->peer) return;
    switch (envelope.kind) {
        case EnvelopeKind::clear_to_send:
            if (size == sizeof(ClearToSend)) cleared(peer, envelope, payload);
            break;
        case EnvelopeKind::help: {
            HelpRequest request;
            if (size != sizeof request) break;
            std::memcpy(&request, payload, sizeof request);
            help_.begin(peer, request, send_->buffer);
            break;
        }
        case EnvelopeKind::finished:
            trace("finished: the receiver has everything");
            received_by_peer();
            break;
        case EnvelopeKind::cancel_reply: {
            // If the message was already matched, the send completes as if it had not been cancelled.
            bool withdrawn = envelope.tag == 1;
            trace(withdrawn ? "is cancelled" : "was matched, and is not cancelled");
            if (!withdrawn) break;
            send_->cancelled = true;
            received_by_peer();
            break;
        }
        default: break;
    }
}

// Handles a request for bulk. The receiver has matched the offer, but cannot read this process's memory, or
// another copy method is faster. Or a write into a claimed receive was refused, or bulk was lost with a
// connection.
void RendezvousSends::Offer::cleared(uint32_t peer, const Envelope &envelope, const std::byte *payload) {
    if ((envelope.flags & flag_if_unclaimed) && !PushRequest::claim(endpoint_, peer, envelope)) return;
    ClearToSend clear;
    std::memcpy(&clear, payload, sizeof clear);
    auto bytes = static_cast<uint64_t>(send_->buffer.bytes());
    if (clear.offset > clear.end || clear.end > bytes) return;
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx: %llu bytes go in bulk, as the receiver asks",
        peer, static_cast<unsigned long long>(id()),
        static_cast<unsigned long long>(clear.end - clear.offset));
    help_.stop();
    announced_ = false;
    begin_moving();
    push_.begin(peer, clear.receiver_id, send_->buffer, clear.offset, clear.end, envelope.tag == 1, id(),
                *this);
}

void RendezvousSends::Offer::pushed() {
    // The send ends when `finished` arrives.
    if (endpoint_.peers[send_->peer].path->info.loses_bulk || announced_) return;
    trace("finished: all is sent in bulk");
    finish();
}

void RendezvousSends::Offer::sent() {
    push_.sent(!received_);
    if (received_ && push_.leaving() == 0) finish();
}

// The peer has the message, or has dropped its offer: ends the send once no frame refers to the program's
// buffer any more. Bytes that were sent a second time may still be leaving the buffer.
void RendezvousSends::Offer::received_by_peer() {
    received_ = true;
    if (offered_ns_) {
        uint64_t waited_ns = endpoint_.engine.read_now_ns() - offered_ns_;
        endpoint_.peers[send_->peer].mapped_offers.ended(send_->buffer.bytes(), waited_ns);
    }
    push_.pause();
    help_.stop();
    if (push_.leaving() == 0) finish();
}

void RendezvousSends::Offer::renewed(uint32_t peer) {
    if (peer != send_->peer) return;
    if (announced_ && state_ == State::offered) push_behind_first();
    else push_.pause();
}

void RendezvousSends::Offer::lost(uint32_t peer) {
    if (peer != send_->peer || outgoing_hook.linked()) return;  // a queued offer fails in flush()
    finish(endpoint_.losses.tell(peer, "the other process"));
}

bool RendezvousSends::Offer::can_hand_over() const {
    return state_ != State::queued && !push_.is_under_way() && !received_ && !cancelling_ &&
           endpoint_.peers[send_->peer].path->info.loses_bulk;
}

// The offer's first bytes may still be in the path's log, which takes them from the copy from now on.
void RendezvousSends::Offer::hand_over(SendOperation &to) {
    SendOperation &from = *send_;
    if (from.buffer.contiguous())
        endpoint_.peers[from.peer].path->kept_moved(from.peer, id(), to.buffer.base);
    send_ = &to;
    to.unfinished = this;
    to.under_way = std::exchange(from.under_way, false);
    from.unfinished = nullptr;
    trace("goes on from a copy, and its call is over");
    endpoint_.finish(from);
}

// Withdraws a queued offer at once. For an offer that was sent, requests the withdrawal from the receiver,
// which answers.
void RendezvousSends::Offer::cancel() {
    if (outgoing_hook.linked()) {
        endpoint_.channels.withdraw(endpoint_.peers[send_->peer], *this);
        send_->cancelled = true;
        finish();
    } else if (state_ == State::offered && !cancelling_) {
        cancelling_ = true;
        trace("is to be cancelled");
        endpoint_.reply(send_->peer, EnvelopeKind::cancel, id(), 0);
    }
}

}  // namespace lanyard
