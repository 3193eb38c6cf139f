// The sender's half of the protocols (messenger.h).
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/events.h"
#include "base/log.h"
#include "datatype/signature.h"
#include "p2p/messenger.h"

namespace lanyard {

// Why a message is not simply sent.
void Messenger::tell_rendezvous(const Transfer &transfer) const {
    const Peer &peer = peers_[transfer.peer];
    auto bytes = static_cast<long long>(transfer.buffer.bytes());
    auto id = static_cast<unsigned long long>(transfer.id);
    bool synchronous = transfer.mode == SendMode::synchronous, longer = bytes > static_cast<long long>(peer.eager_limit);
    if (event_wanted(Event::rendezvous))
        tell_event(Event::rendezvous, transfer.context, {transfer.destination, transfer.tag, bytes, synchronous ? 0 : longer ? 1 : 2});
    if (synchronous)
        log(LogLevel::trace, "p2p", "peer %u: %lld bytes as rendezvous %#llx: the send is synchronous", transfer.peer, bytes, id);
    else if (longer)
        log(LogLevel::trace, "p2p", "peer %u: %lld bytes as rendezvous %#llx: at most %zu are sent at once", transfer.peer, bytes, id,
            peer.eager_limit);
    else
        log(LogLevel::trace, "p2p", "peer %u: %lld bytes as rendezvous %#llx: the receiver has not yet taken what it was sent (credit %lld)",
            transfer.peer, bytes, id, static_cast<long long>(peer.credit_left));
}

inline bool Messenger::eager_fits(const Peer &peer, int64_t bytes) {
    return bytes <= static_cast<int64_t>(inline_payload) ||
           (bytes <= static_cast<int64_t>(peer.eager_limit) && Channels::cost(bytes) <= peer.credit_left);
}

bool Messenger::send_eager_now(uint32_t number, MatchKey key, const Buffer &buffer, uint32_t check) {
    Peer &peer = peers_[number];
    int64_t bytes = buffer.bytes();
    if (!peer.is_clear() || !eager_fits(peer, bytes) || peer.closed) return false;
    if (settings_.check && !check) check = type_signature(buffer, bytes);
    Envelope envelope = message_envelope(key, EnvelopeKind::eager, bytes, check);
    bool sent = buffer.contiguous() ? channels_.send(peer, envelope, {buffer.base, static_cast<size_t>(bytes), nullptr}) == Sent::done
                                    : send_gathered_now(peer, envelope, buffer);
    if (!sent) return false;
    peer.credit_left -= Channels::cost(bytes);
    count_sent(peer, key, Protocol::eager, bytes);
    return true;
}

bool Messenger::deliver_to_self(MatchKey key, const Buffer &buffer) {
    Peer &self = peers_[own_peer_];
    int64_t bytes = buffer.bytes();
    if (!self.is_clear() || !eager_fits(self, bytes) || !buffer.contiguous() || settings_.check || self.path->busy()) return false;
    Envelope envelope = message_envelope(key, EnvelopeKind::eager, bytes, 0);
    // What it owes itself it has back.
    self.credit_left += std::exchange(self.credit_owed, 0) - Channels::cost(bytes);
    count_sent(self, key, Protocol::eager, bytes);
    this->envelope(own_peer_, envelope, buffer.base, static_cast<size_t>(bytes));
    return true;
}

bool Messenger::send_gathered_now(Peer &peer, Envelope &envelope, const Buffer &buffer) {
    Cursor cursor(buffer);
    return channels_.send(peer, envelope, {nullptr, static_cast<size_t>(buffer.bytes()), &cursor}) == Sent::done;
}

void Messenger::send(Transfer &transfer) {
    Peer &peer = peers_[transfer.peer];
    transfer.error = {};
    transfer.cancelled = transfer.cancelling = false;
    transfer.data_peer = no_peer;
    if (fails_with_peer(transfer)) return;
    if (settings_.check && !(transfer.context & collective_bit)) transfer.check = type_signature(transfer.buffer, transfer.buffer.bytes());
    if (transfer.mode != SendMode::synchronous && eager_fits(peer, transfer.buffer.bytes())) {
        bool keep = transfer.buffer.contiguous() && static_cast<size_t>(transfer.buffer.bytes()) >= peer.path->keep_from();
        transfer.flush = keep ? flush_kept : flush_eager;
        peer.credit_left -= Channels::cost(transfer.buffer.bytes());
    } else {
        transfer.flush = flush_offer;
        transfer.id = transfers_.add(transfer);
        begin_under_way(transfer);
        ++counts_.rendezvous;
        if (log_enabled(LogLevel::trace) || event_wanted(Event::rendezvous)) tell_rendezvous(transfer);
    }
    transfer.state = Transfer::State::queued;
    transfer.messenger = this;
    channels_.start(peer, transfer);
}

bool Messenger::flush_eager(Outgoing &outgoing) {
    Transfer &transfer = static_cast<Transfer &>(outgoing);
    Messenger &self = *transfer.messenger;
    Peer &peer = self.peers_[transfer.peer];
    if (self.fails_with_peer(transfer)) return true;
    int64_t bytes = transfer.buffer.bytes();
    Envelope envelope = message_envelope(transfer, EnvelopeKind::eager, bytes, transfer.check);
    if (transfer.mode == SendMode::ready) envelope.flags = flag_ready;
    Payload payload{transfer.buffer.base, static_cast<size_t>(bytes), nullptr};
    if (!transfer.buffer.contiguous()) {
        transfer.cursor = Cursor(transfer.buffer);
        payload.data = nullptr;
        payload.cursor = &transfer.cursor;
    }
    if (self.channels_.send(peer, envelope, payload) != Sent::done) return false;
    self.count_sent(peer, transfer, Protocol::eager, bytes);
    self.finish(transfer);
    return true;
}

bool Messenger::flush_kept(Outgoing &outgoing) {
    Transfer &transfer = static_cast<Transfer &>(outgoing);
    Messenger &self = *transfer.messenger;
    Peer &peer = self.peers_[transfer.peer];
    if (self.fails_with_peer(transfer)) return true;
    auto bytes = static_cast<size_t>(transfer.buffer.bytes());
    Envelope envelope = message_envelope(transfer, EnvelopeKind::eager, transfer.buffer.bytes(), transfer.check);
    if (transfer.mode == SendMode::ready) envelope.flags = flag_ready;
    if (!transfer.id) transfer.id = self.transfers_.add(transfer);
    Sent result = self.channels_.send_kept(peer, envelope, {nullptr, 0, transfer.buffer.base, bytes, transfer.id});
    if (result == Sent::full) return false;
    self.count_sent(peer, transfer, Protocol::eager, transfer.buffer.bytes());
    transfer.state = Transfer::State::kept;
    if (result == Sent::done) self.finish(transfer);
    else self.begin_under_way(transfer);
    return true;
}

bool Messenger::flush_offer(Outgoing &outgoing) {
    Transfer &transfer = static_cast<Transfer &>(outgoing);
    Messenger &self = *transfer.messenger;
    Peer &peer = self.peers_[transfer.peer];
    if (self.fails_with_peer(transfer) || (peer.claims && self.claim(transfer))) return true;
    Envelope envelope = message_envelope(transfer, EnvelopeKind::rendezvous, transfer.buffer.bytes(), transfer.check);
    RendezvousOffer offer{transfer.id, 0};
    if (transfer.buffer.contiguous() && self.touched_by(transfer.peer, transfer.buffer)) {
        offer.address = reinterpret_cast<uintptr_t>(transfer.buffer.base);
        bool long_enough = transfer.buffer.bytes() >= static_cast<int64_t>(Ways::least_bytes);
        bool attended = transfer.in_call && !self.engine_.crowded();
        if (attended && long_enough && transfer.peer != self.own_peer_) envelope.flags = flag_attended;
    }
    const AnnouncedReceive *announcement = peer.claims ? nullptr : self.announcement_for(transfer);
    if (announcement) {
        offer.address = announcement->receive_id;
        envelope.flags = flag_announced;
    }
    auto most = static_cast<size_t>(std::max<int64_t>(peer.credit_left, 0));
    size_t first = std::min({peer.first_limit, static_cast<size_t>(transfer.buffer.bytes()), most});
    if (self.transmit_offer(transfer, envelope, offer, first) == Sent::full) return false;
    transfer.state = Transfer::State::offered;
    if (announcement) self.push_announced(transfer, *announcement, first);
    self.count_sent(peer, transfer, announcement ? Protocol::write : Protocol::rendezvous, transfer.buffer.bytes());
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx of %lld bytes offered, %s", transfer.peer,
        static_cast<unsigned long long>(offer.sender_id), static_cast<long long>(transfer.buffer.bytes()),
        announcement ? "to an announced receive" : offer.address ? "for direct copies too" : "in bulk only");
    return true;
}

// With the `first` bytes of the message, or so many of them as the credit allows. They need no acknowledgement of their own, as the receiver
// answers the offer.
Sent Messenger::transmit_offer(Transfer &transfer, Envelope &envelope, const RendezvousOffer &offer, size_t &first) {
    Peer &peer = peers_[transfer.peer];
    auto *head = reinterpret_cast<const std::byte *>(&offer);
    first = Channels::cost(static_cast<int64_t>(first)) <= peer.credit_left ? first : first / credit_unit * credit_unit;
    Sent result;
    if (first == 0) {
        result = channels_.send(peer, envelope, {head, sizeof offer, nullptr});
    } else if (transfer.buffer.contiguous()) {
        result = channels_.send_kept(peer, envelope, {head, sizeof offer, transfer.buffer.base, first, 0});
    } else {
        auto packed = std::make_unique_for_overwrite<std::byte[]>(sizeof offer + first);
        std::memcpy(packed.get(), head, sizeof offer);
        Cursor(transfer.buffer).pack(packed.get() + sizeof offer, first);
        result = channels_.send(peer, envelope, {packed.get(), sizeof offer + first, nullptr});
    }
    if (result != Sent::full) peer.credit_left -= Channels::cost(static_cast<int64_t>(first));
    return result;
}

// The receiver matched the offer but cannot read our memory: push.
void Messenger::cleared(uint64_t id, const ClearToSend &clear, bool in_place) {
    Transfer *transfer = transfers_.find(id);
    if (!transfer) return;
    transfer->remote_id = clear.receiver_id;
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx: %llu bytes go in bulk, as the receiver asks", transfer->peer,
        static_cast<unsigned long long>(id), static_cast<unsigned long long>(clear.end - clear.offset));
    if (transfer->hook.linked()) transfer->hook.unlink();  // no more copying there, nor to an announced receive
    transfer->announced = false;
    transfer->word = nullptr;
    transfer->in_place = in_place && transfer->buffer.contiguous();
    transfer->wanted = clear.end;
    transfer->moved = clear.offset;
    transfer->cursor = Cursor(transfer->buffer);
    if (clear.offset) transfer->cursor.seek(static_cast<int64_t>(clear.offset));
    transfer->messenger = this;
    begin_moving(*transfer);
    transfer->run = push_on;
    engine_.ready(*transfer);
}

int Messenger::push_on(Task &task) {
    Transfer &transfer = static_cast<Transfer &>(task);
    Messenger &self = *transfer.messenger;
    Path &path = *self.peers_[transfer.peer].path;
    int work = 0;
    while (transfer.moved < transfer.wanted) {
        size_t most = transfer.in_place ? path.max_bulk_in_place(transfer.peer) : path.max_bulk();
        size_t bytes = std::min<size_t>(transfer.wanted - transfer.moved, most);
        Payload payload{nullptr, bytes, &transfer.cursor};
        if (transfer.buffer.contiguous()) payload = {transfer.buffer.base + transfer.moved, bytes, nullptr};
        Sent result = path.send_bulk(transfer.peer, {transfer.remote_id, transfer.moved}, payload, transfer.id);
        if (result == Sent::full) {
            self.engine_.ready(transfer);
            return work;
        }
        transfer.moved += bytes;
        ++work;
        if (result == Sent::pending) {
            ++transfer.in_flight;
            return work;  // sent() goes on
        }
    }
    if (path.loses_bulk() || transfer.announced || transfer.in_flight) return work;  // `finished` ends it, or sent()
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx finished: all is sent in bulk", transfer.peer,
        static_cast<unsigned long long>(transfer.id));
    self.finish(transfer);
    return work + 1;
}

void Messenger::sent(uint64_t token) {
    Transfer *transfer = transfers_.find(token);
    if (!transfer) return;
    if (transfer->state == Transfer::State::kept) return finish(*transfer);
    --transfer->in_flight;
    if (!transfer->received_by_peer) return engine_.ready(*transfer);
    if (transfer->in_flight == 0) finish(*transfer);
}

// The receiver has everything. What was sent twice may still be on its way out of the program's buffer.
void Messenger::received_by_peer(uint64_t id) {
    Transfer *transfer = transfers_.find(id);
    if (!transfer) return;
    transfer->received_by_peer = true;
    if (transfer->hook.linked()) transfer->hook.unlink();
    if (transfer->in_flight == 0) finish(*transfer);
}

void Messenger::cancel(Transfer &transfer) {
    if (transfer.queued()) {
        if (transfer.word && !withdraw_claim(transfer)) return;  // its message is being written
        posted_.remove(transfer);
        transfer.cancelled = true;
        finish(transfer);
    } else if (transfer.state == Transfer::State::offered && !transfer.cancelling) {
        transfer.cancelling = true;
        log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx: asks to cancel it", transfer.peer, static_cast<unsigned long long>(transfer.id));
        reply(transfer.peer, EnvelopeKind::cancel, transfer.id, 0);
    } else if (transfer.state == Transfer::State::queued && transfer.outgoing_hook.linked()) {
        Peer &peer = peers_[transfer.peer];
        channels_.withdraw(peer, transfer);
        if (transfer.flush != flush_offer) peer.credit_left += Channels::cost(transfer.buffer.bytes());
        transfer.cancelled = true;
        finish(transfer);
    }
}

// The receiver's answer to a cancelled offer. One that was matched already completes as if it had not been cancelled.
void Messenger::withdrawn(uint64_t id, bool was_withdrawn) {
    Transfer *transfer = transfers_.find(id);
    log(LogLevel::trace, "p2p", "rendezvous %#llx %s cancelled", static_cast<unsigned long long>(id),
        was_withdrawn ? "is" : "was matched, and is not");
    if (!transfer || !was_withdrawn) return;
    transfer->cancelled = true;
    received_by_peer(id);
}

}  // namespace lanyard
