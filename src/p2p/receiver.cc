// Contains the functions of receiver.h that short messages rarely need.
#include "p2p/receiver.h"

#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "base/copy.h"
#include "base/events.h"
#include "base/log.h"
#include "datatype/signature.h"

namespace lanyard {

namespace {

Error truncation(const ReceiveOperation &receive, const Envelope &envelope, int64_t room) {
    return Error(ErrorClass::truncate,
                 "the message from rank " + std::to_string(envelope.source) + " with tag " +
                     std::to_string(envelope.tag) + " has " + std::to_string(envelope.length) +
                     " bytes, but the receive posted for it (" + std::to_string(receive.buffer.count) +
                     " elements of " + std::to_string(receive.buffer.datatype->size) +
                     " bytes) has room for " + std::to_string(room));
}

Error broken_promise(const ReceiveOperation &receive, const Envelope &envelope, int64_t room) {
    return Error(ErrorClass::count,
                 "the message from rank " + std::to_string(envelope.source) + " with tag " +
                     std::to_string(envelope.tag) + " has " + std::to_string(envelope.length) +
                     " bytes and the receive posted for it (" + std::to_string(receive.buffer.count) +
                     " elements) " + std::to_string(room) +
                     ", although mpi_assert_exact_length was set on the communicator");
}

}  // namespace

void Receiver::copy_in(const Buffer &to, const std::byte *from, size_t bytes) {
    if (to.contiguous()) copy_bytes(to.base, from, bytes);
    else Cursor(to).unpack(from, bytes);
}

// Called if the message and the receive differ in length. Sets an error if the message is too long or breaks
// a promise (promises.h).
void Receiver::judge_length(ReceiveOperation &receive, const Envelope &envelope) {
    int64_t room = receive.buffer.bytes();
    if (static_cast<int64_t>(envelope.length) > room) receive.error = truncation(receive, envelope, room);
    else if (posted_.promises().of(envelope.context) & promise::exact_length)
        receive.error = broken_promise(receive, envelope, room);
}

// Called if the check words of the message and the receive differ. Sets an error if they show a mistake of
// the program.
void Receiver::compare_checks(ReceiveOperation &receive, const Envelope &envelope) {
    if (envelope.context & collective_bit) {
        if (observer_) receive.error = observer_->compared(receive.check, envelope.check, envelope.source);
        return;
    }
    // The check word describes the types of the whole message, so the types of a truncated part are unknown.
    if (static_cast<int64_t>(envelope.length) > receive.received) return;
    uint32_t own = type_signature(receive.buffer, receive.received);
    std::string difference = signature_difference(own, envelope.check);
    if (!difference.empty())
        receive.error =
            Error(ErrorClass::type, "the message from rank " + std::to_string(envelope.source) +
                                        " with tag " + std::to_string(envelope.tag) +
                                        " and this receive have different datatypes: " + difference);
}

// Takes the earliest stored message that fits, unless it needs more work than a copy.
bool Receiver::take_stored(MatchKey key, const Buffer &buffer, Envelope &taken) {
    if (endpoint_.settings.check || posted_.promises().any() || !buffer.contiguous()) return false;
    Unexpected *message = unexpected_.find(key);
    if (!message || message->kind() != EnvelopeKind::eager ||
        static_cast<int64_t>(message->size()) > buffer.bytes())
        return false;
    unexpected_.take(*message);
    taken = message->envelope();
    size_t size = message->size();
    if (size <= inline_payload) copy_few(buffer.base, message->payload(), size);
    else copy_bytes(buffer.base, message->payload(), size);
    if (size > inline_payload) endpoint_.channels.consumed(endpoint_.peers[message->peer], size);
    unexpected_.drop(*message);
    ++endpoint_.counts.matched;
    return true;
}

// Takes the peer's next message if it arrives within `looks` polls and fits. The caller has checked that no
// message is stored and no receive is posted. This receive is therefore the only one that may take the peer's
// next message, and no earlier message is left that it could take.
bool Receiver::take_next(uint32_t number, MatchKey key, const Buffer &buffer, int looks, Envelope &taken) {
    Peer &peer = endpoint_.peers[number];
    // For a longer message it is better to post the receive, so that the payload is received in place.
    if (buffer.bytes() > peer.shown_to || posted_.promises().any()) return false;
    ShortFrame frame;
    ShortLane &lane = peer.path->short_lane();
    while (!lane.peek(number, frame))
        if (--looks <= 0) return false;
    if (!frame.envelope) return false;
    std::memcpy(&taken, frame.envelope, sizeof taken);
    bool is_it = taken.kind == EnvelopeKind::eager && fits(key, {taken.context, taken.source, taken.tag});
    if (!is_it || taken.check != 0 || static_cast<int64_t>(frame.size) > buffer.bytes() ||
        !buffer.contiguous())
        return false;
    lane.take(number, buffer.base);
    if (frame.size > inline_payload) endpoint_.channels.consumed(peer, frame.size);
    Channels::returned(peer, taken.credit);
    ++peer.messages_received;
    ++endpoint_.counts.matched;
    return true;
}

void Receiver::receive_taken(ReceiveOperation &receive, Unexpected &message) {
    Envelope envelope = message.envelope();
    envelope.check = unexpected_.check_of(message);
    deliver(receive, message.peer, envelope, message.payload(), message.size());
    unexpected_.drop(message);
}

void Receiver::announce_posted(ReceiveOperation &receive, const Peer &peer) {
    if (peer.claims) shm_adverts_.announce(receive);
    else adverts_.announce(receive);
}

// Removes and returns the posted receive that takes the message with this key. Passes over claimed receives,
// because each of them waits for the message that claimed it. These receives are removed from the queue too.
ReceiveOperation *Receiver::take_posted(const MatchKey &key) {
    while (MatchEntry *entry = posted_.find_receive(key)) {
        posted_.remove(*entry);
        auto *receive = static_cast<ReceiveOperation *>(entry);
        if (!receive->claimable || shm_adverts_.withdraw(*receive)) return receive;
    }
    return nullptr;
}

// Delivers a message to its receive. `payload` is valid only during the call.
void Receiver::deliver(ReceiveOperation &receive, uint32_t peer, const Envelope &envelope,
                       const std::byte *payload, size_t size) {
    match(receive, envelope);
    bool has_more = envelope.kind != EnvelopeKind::rendezvous ||
                    rendezvous_.accept(receive, peer, envelope, payload, size);
    if (has_more) take_payload(receive, peer, envelope, payload, size);
}

// Takes the payload of a matched message. The payload lies in the receive buffer already or elsewhere. If the
// message is an offer, it has been accepted before.
void Receiver::take_payload(ReceiveOperation &receive, uint32_t peer, const Envelope &envelope,
                            const std::byte *payload, size_t size) {
    if (envelope.kind == EnvelopeKind::rendezvous) return rendezvous_.take_first(receive, payload, size);
    auto bytes = static_cast<size_t>(receive.received);
    if (bytes && payload != receive.buffer.base) copy_in(receive.buffer, payload, bytes);
    endpoint_.channels.consumed(endpoint_.peers[peer], size);
    finish(receive);
}

// Handles the envelope of a message that claimed a receive. If the envelope contains no sender id, the
// message is in the receive buffer. Otherwise it could not be written and is requested.
void Receiver::written(uint32_t peer, const Envelope &envelope, const std::byte *payload) {
    RendezvousOffer offer;
    std::memcpy(&offer, payload, sizeof offer);
    ReceiveOperation *receive = shm_adverts_.claimed(peer, offer.address);
    LANYARD_MUST(receive);
    if (receive->queued()) posted_.remove(*receive);
    match(*receive, envelope);
    if (offer.sender_id == 0) endpoint_.finish(*receive);
    else rendezvous_.ask(*receive, peer, offer.sender_id);
}

// Reads memory of the peer by a system call. nullptr: this failed, or there is no memory for the copy.
std::unique_ptr<std::byte[]> Receiver::read_whole(const Peer &peer, uint64_t address, size_t size) {
    DirectMemory &memory = peer.path->memory();
    if (!memory.touches(peer.number)) return nullptr;
    std::unique_ptr<std::byte[]> room(new (std::nothrow) std::byte[size]);
    if (!room) return nullptr;
    iovec whole{room.get(), size};
    Error error = memory.get(peer.number, &whole, 1, address, size);
    if (error) room.reset();
    error.discard();
    return room;
}

// Handles an offer with flag_mapped, which costs credit like an eager message. The payload goes from the
// sender's memory into the receive buffer or, if no receive is posted, is stored. If the payload can be
// neither mapped nor read, the offer is an ordinary one, and nothing is stored: its credit is returned at
// once.
void Receiver::mapped(Peer &peer, const Envelope &envelope, const std::byte *payload) {
    RendezvousOffer offer;
    std::memcpy(&offer, payload, sizeof offer);
    auto size = static_cast<size_t>(envelope.length);
    Envelope plain = envelope;
    const std::byte *memory = peer.path->memory().mapped(peer.number, offer.address, size);
    std::unique_ptr<std::byte[]> room;
    if (!memory) {
        room = read_whole(peer, offer.address, size);
        memory = room.get();
    }
    if (!memory) {
        plain.flags &= static_cast<uint8_t>(~flag_mapped);
        endpoint_.channels.consumed(peer, size);
        return message(peer, plain, payload, sizeof offer);
    }
    plain.kind = EnvelopeKind::eager;
    plain.flags &= flag_ready;
    message(peer, plain, memory, size);
    endpoint_.reply(peer.number, EnvelopeKind::finished, offer.sender_id, 0);
}

// Stores a message that fits no posted receive.
void Receiver::store(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) {
    unexpected_.add(peer, envelope, payload, size);
    if ((envelope.context & collective_bit) && observer_) observer_->stored(envelope);
    if (event_wanted(Event::unexpected_message)) [[unlikely]]
        tell_event(Event::unexpected_message, envelope.context,
                   {envelope.source, envelope.tag, static_cast<int64_t>(envelope.length)});
}

std::byte *Receiver::begin(uint32_t number, const Envelope &envelope, const std::byte *payload,
                           size_t received, size_t size, size_t &from) {
    Peer &peer = endpoint_.peers[number];
    bool offer = envelope.kind == EnvelopeKind::rendezvous;
    size_t head = offer ? sizeof(RendezvousOffer) : 0;
    if ((!offer && envelope.kind != EnvelopeKind::eager) || received < head) return nullptr;
    if (!peer.arriving) {
        MatchEntry *entry = posted_.find_receive({envelope.context, envelope.source, envelope.tag});
        if (!entry) return nullptr;
        auto &receive = static_cast<ReceiveOperation &>(*entry);
        bool fits =
            receive.buffer.contiguous() && receive.buffer.bytes() >= static_cast<int64_t>(envelope.length);
        if (!fits || size - head > envelope.length || !unpost(receive)) return nullptr;
        match(receive, envelope);
        if (!offer) rendezvous_.unname(receive);
        if (offer && !rendezvous_.accept(receive, number, envelope, payload, size)) return nullptr;
        peer.arriving = &receive;
    }
    from = head;
    return reinterpret_cast<std::byte *>(reinterpret_cast<uintptr_t>(peer.arriving->buffer.base) - head);
}

void Receiver::envelope(uint32_t peer, const Envelope &envelope, const std::byte *, size_t) {
    endpoint_.reply(peer, EnvelopeKind::cancel_reply, envelope.context, withdraw(peer, envelope.context));
}

// Removes the stored offer with this id. False: the offer has already met a receive.
bool Receiver::withdraw(uint32_t peer, uint64_t sender_id) {
    for (Unexpected *message = unexpected_.first(); message; message = unexpected_.after(*message)) {
        if (message->peer != peer || message->kind() != EnvelopeKind::rendezvous) continue;
        RendezvousOffer offer;
        std::memcpy(&offer, message->payload(), sizeof offer);
        if (offer.sender_id != sender_id) continue;
        unexpected_.take(*message);
        endpoint_.channels.consumed(endpoint_.peers[peer], message->size() - sizeof offer);
        unexpected_.drop(*message);
        return true;
    }
    return false;
}

// Removes a receive from the posted ones. False: a message is being written into the receive, so it stays
// posted.
bool Receiver::unpost(ReceiveOperation &receive) {
    if (receive.claimable && !shm_adverts_.withdraw(receive)) return false;
    posted_.remove(receive);
    return true;
}

void Receiver::cancel(ReceiveOperation &receive) {
    if (!receive.queued() || !unpost(receive)) return;
    receive.cancelled = true;
    finish(receive);
}

void Receiver::lost(uint32_t number) {
    Peer &peer = endpoint_.peers[number];
    for (MatchEntry *entry = posted_.first(); entry;) {
        MatchEntry *next = posted_.after(*entry);
        auto &receive = static_cast<ReceiveOperation &>(*entry);
        if (receive.peer == number) {
            posted_.remove(*entry);
            if (receive.claimable) shm_adverts_.end(receive);
            receive.error = endpoint_.losses.tell(number, "the other process");
            finish(receive);
        }
        entry = next;
    }
    // A receive whose bytes arrive by rendezvous is failed by Incoming::lost().
    ReceiveOperation *arriving = std::exchange(peer.arriving, nullptr);
    if (!arriving || arriving->incoming) return;
    endpoint_.fail(*arriving, endpoint_.losses.tell(number, "the other process"));
}

void Receiver::purge(uint64_t context, const char *why) {
    for (MatchEntry *entry = posted_.first(); entry;) {
        MatchEntry *next = posted_.after(*entry);
        auto &receive = static_cast<ReceiveOperation &>(*entry);
        if (receive.context == context && unpost(receive)) {
            receive.error = Error(ErrorClass::comm, why);
            finish(receive);
        }
        entry = next;
    }
    for (Unexpected *message = unexpected_.first(); message;) {
        Unexpected *next = unexpected_.after(*message);
        if (message->context == context) {
            size_t head = message->kind() == EnvelopeKind::rendezvous ? sizeof(RendezvousOffer) : 0;
            unexpected_.take(*message);
            endpoint_.channels.consumed(endpoint_.peers[message->peer], message->size() - head);
            unexpected_.drop(*message);
        }
        message = next;
    }
}

}  // namespace lanyard
