// Moves the bytes of an accepted offer (rendezvous_receive.h).
#include "p2p/rendezvous_receive.h"

#include <algorithm>
#include <cstring>

#include "base/copy.h"
#include "base/copy_loops.h"
#include "base/log.h"

namespace lanyard {

uint64_t RendezvousReceives::name(ReceiveOperation &receive) {
    Incoming &incoming = take();
    incoming.announce(receive);
    ++named_;
    return incoming.id();
}

void RendezvousReceives::unname(ReceiveOperation &receive) {
    if (!receive.incoming) return;
    receive.incoming->end();
    --named_;
}

bool RendezvousReceives::accept(ReceiveOperation &receive, uint32_t peer, const Envelope &envelope,
                                const std::byte *payload, size_t size) {
    RendezvousOffer offer;
    std::memcpy(&offer, payload, sizeof offer);
    bool names_receive = envelope.flags & flag_announced;
    bool named = receive.incoming && names_receive && offer.address == receive.incoming->id();
    if (named) {
        --named_;
        endpoint_.peers[peer].announcing.worked();
    } else {
        unname(receive);
    }
    Incoming &incoming = named ? *receive.incoming : take();
    auto wanted = static_cast<uint64_t>(receive.received);
    incoming.begin(receive, peer, {offer.sender_id, std::min<uint64_t>(size - sizeof offer, wanted), named});
    // An offer that was stored no longer has flag_announced, so its `address` may be the id of a receive.
    // This does no harm: a peer that names receives is reached by a path that cannot access the peer's
    // memory.
    bool may_touch = !names_receive && offer.address && wanted > 0;
    if (!may_touch || !endpoint_.touches(peer, offer.address, wanted)) return incoming.ask_for_bulk();
    return incoming.copy(offer.address, envelope.flags & flag_attended);
}

void RendezvousReceives::take_first(ReceiveOperation &receive, const std::byte *payload, size_t size) {
    receive.incoming->take_first(payload, size);
}

void RendezvousReceives::ask(ReceiveOperation &receive, uint32_t peer, uint64_t sender_id) {
    Incoming &incoming = take();
    incoming.begin(receive, peer, {sender_id});
    incoming.ask_for_bulk();
}

Incoming::Incoming(Endpoint &endpoint, CopyMethods &methods, DirectRead::Landing &landing,
                   Spares<Incoming> &home)
    : endpoint_(endpoint),
      methods_(methods),
      home_(home),
      read_(endpoint, landing),
      pieces_(endpoint),
      push_(endpoint) {}

void Incoming::announce(ReceiveOperation &receive) {
    receive_ = &receive;
    peer_ = no_peer;
    in_bulk_ = false;
    receive.incoming = this;
    endpoint_.targets.add(*this);
}

void Incoming::begin(ReceiveOperation &receive, uint32_t peer, const Offered &offered) {
    receive_ = &receive;
    receive.incoming = this;
    peer_ = peer;
    offered_ = offered;
    wanted_ = static_cast<uint64_t>(receive.received);
    in_bulk_ = streamed_ = watched_ = false;
    cursor_ = Cursor(receive.buffer);
    moving_.begin(endpoint_.traffic);
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx answered: %llu bytes wanted", peer,
        static_cast<unsigned long long>(offered.sender_id), static_cast<unsigned long long>(wanted_));
}

void Incoming::end() {
    moving_.end(endpoint_.traffic);
    if (watched_) methods_.end(endpoint_.engine.read_now_ns());
    watched_ = in_bulk_ = false;
    read_.stop();
    pieces_.stop();
    push_.stop();
    endpoint_.targets.remove(*this);
    receive_->incoming = nullptr;
    home_.give(*this);
}

void Incoming::trace(const char *what) const {
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx %s", peer_,
        static_cast<unsigned long long>(offered_.sender_id), what);
}

// If the bytes follow the offer anyway, requests nothing; the receive already has the id to which they are
// addressed.
bool Incoming::ask_for_bulk() {
    if (endpoint_.peers[peer_].closed) {
        ReceiveOperation &receive = *receive_;
        Error error = endpoint_.losses.tell(peer_, "the process that sends this message");
        end();
        endpoint_.fail(receive, error);
        return false;
    }
    expect_bulk();
    if (!offered_.sent_unasked) ask_for_rest();
    return true;
}

void Incoming::expect_bulk() {
    arrived_.clear();
    in_bulk_ = true;
    if (!id()) endpoint_.targets.add(*this);
    endpoint_.begin_under_way(*receive_);
}

// Requests all bytes from the first missing one on. The bytes that travel with the offer do not count as
// missing. Requests nothing if no byte is missing.
void Incoming::ask_for_rest() {
    uint64_t begin = std::max(arrived_.end(), offered_.first);
    if (begin >= wanted_) return;
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx: asks for %llu bytes in bulk", peer_,
        static_cast<unsigned long long>(offered_.sender_id),
        static_cast<unsigned long long>(wanted_ - begin));
    ClearToSend clear{id(), begin, wanted_};
    endpoint_.reply(peer_, EnvelopeKind::clear_to_send, offered_.sender_id, receive_->buffer.contiguous(),
                    &clear, sizeof clear);
}

// Chooses a copy method for a message that this process can read in the sender's memory.
bool Incoming::copy(uint64_t address, bool attended) {
    address_ = address;
    Peer &peer = endpoint_.peers[peer_];
    const std::string &copies = endpoint_.settings.copies;
    if (peer_ == endpoint_.own_peer || copies == "once") return copy_directly();
    if (copies == "twice") return ask_for_bulk();
    if (wanted_ < CopyMethods::least_bytes || !(attended || PushRequest::promises_something(endpoint_, peer)))
        return copy_directly();
    bool mapped = peer.path->memory().mapped(peer_, address, wanted_) != nullptr;
    using Kind = CopyMethods::Kind;
    using Method = CopyMethods::Method;
    Kind kind = mapped ? Kind::mapped : receive_->buffer.contiguous() ? Kind::contiguous : Kind::in_runs;
    Method method = methods_.begin(kind, wanted_, endpoint_.engine.read_now_ns(), watched_);
    if (method == Method::directly) return copy_directly();
    streamed_ = method == Method::streamed;
    if (attended) return ask_for_bulk();
    expect_bulk();
    bool asked =
        push_.begin(peer_, offered_.sender_id, {id(), 0, wanted_}, receive_->buffer.contiguous(), *this);
    if (!asked) sender_is_absent();
    return false;
}

void Incoming::sender_is_absent() {
    trace("is not pushed: the sender is not here");
    endpoint_.targets.remove(*this);
    in_bulk_ = streamed_ = false;
    if (watched_) methods_.diverted();
    copy_directly();
}

bool Incoming::copy_directly() {
    // The sender must not help with a truncated message, because it would also write pieces that lie behind
    // the end of the receive buffer.
    if (!receive_->error && PieceReader::suits(receive_->buffer, wanted_)) {
        endpoint_.targets.add(*this);
        if (pieces_.begin(peer_, offered_.sender_id, id(), address_, receive_->buffer.base, wanted_, *this))
            return false;
        endpoint_.targets.remove(*this);
    }
    read_.begin(peer_, address_, receive_->buffer, wanted_, *this);
    return false;
}

// Requests the bytes under a new id, because the sender may still be writing pieces for the old one.
void Incoming::pieces_refused() {
    endpoint_.targets.remove(*this);
    ask_for_bulk();
}

void Incoming::finish_copied() {
    trace("finished: copied directly");
    ReceiveOperation &receive = *receive_;
    endpoint_.reply(peer_, EnvelopeKind::finished, offered_.sender_id, 0);
    end();
    endpoint_.finish(receive);
}

void Incoming::answer(uint32_t peer, const Envelope &envelope, const std::byte *, size_t) {
    if (envelope.kind == EnvelopeKind::helped && peer == peer_) pieces_.helped(envelope.tag == 1);
}

std::byte *Incoming::place(uint32_t peer, uint64_t offset, size_t size) {
    if (!takes_bulk(peer, offset, size) || !receive_->buffer.contiguous()) return nullptr;
    // Bytes that arrive a second time are not written in place, so that data already received cannot be
    // damaged before the whole frame has been checked.
    return arrived_.has_some(offset, offset + size) ? nullptr : receive_->buffer.base + offset;
}

void Incoming::bulk(uint32_t peer, uint64_t offset, const std::byte *payload, size_t size) {
    if (!takes_bulk(peer, offset, size)) return;
    put(offset, payload, size);
    complete_if_all();
}

void Incoming::take_first(const std::byte *payload, size_t size) {
    // The credit returns with `finished`.
    Channels::owe(endpoint_.peers[peer_], size - sizeof(RendezvousOffer));
    if (offered_.first) put(0, payload + sizeof(RendezvousOffer), offered_.first);
    complete_if_all();
}

// Copies bytes that have arrived into the receive buffer, if they are not there already, and notes their
// arrival.
void Incoming::put(uint64_t offset, const std::byte *payload, size_t size) {
    if (!receive_->buffer.contiguous()) {
        cursor_.seek(static_cast<int64_t>(offset));
        cursor_.unpack(payload, size);
    } else if (std::byte *place = receive_->buffer.base + offset; place != payload) {
        if (streamed_) copy_streaming(place, payload, size);
        else copy_bytes(place, payload, size);
    }
    arrived_.add(offset, offset + size);
}

void Incoming::complete_if_all() {
    if (arrived_.end() < wanted_) return;
    push_.answered();
    trace("finished: received in bulk");
    bool untold = endpoint_.peers[peer_].path->info.loses_bulk || wanted_ == 0 || offered_.sent_unasked;
    if (untold) endpoint_.reply(peer_, EnvelopeKind::finished, offered_.sender_id, 0);
    ReceiveOperation &receive = *receive_;
    end();
    endpoint_.finish(receive);
}

void Incoming::renewed(uint32_t peer) {
    if (in_bulk_ && peer == peer_) ask_for_rest();
}

void Incoming::lost(uint32_t peer) {
    if (peer != peer_) return;
    ReceiveOperation &receive = *receive_;
    end();
    endpoint_.fail(receive, endpoint_.losses.tell(peer, "the other process"));
}

}  // namespace lanyard
