// The receiver's half of the protocols (messenger.h).
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/copy.h"
#include "base/log.h"
#include "base/streaming_copy.h"
#include "datatype/signature.h"
#include "p2p/messenger.h"

namespace lanyard {

namespace {

constexpr size_t read_at_once = 1 << 20;  // bytes of direct copy between looks at the paths
constexpr int runs_at_once = 256;
constexpr size_t least_run = 16384;            // bytes, in the mean: shorter ones land elsewhere first,
constexpr int few_runs = 4;                    // but for a few
constexpr size_t landing_bytes = 128 * 1024;   // so much of them at once

void copy_in(Transfer &transfer, const std::byte *from, size_t bytes) {
    if (transfer.buffer.contiguous()) std::memcpy(transfer.buffer.base, from, bytes);
    else Cursor(transfer.buffer).unpack(from, bytes);
}

Error truncation(const Transfer &transfer, const Envelope &envelope, int64_t room) {
    return Error(ErrorClass::truncate, "the message from rank " + std::to_string(envelope.source) + " with tag " + std::to_string(envelope.tag) +
                                           " has " + std::to_string(envelope.length) + " bytes, but the receive posted for it (" +
                                           std::to_string(transfer.buffer.count) + " elements of " + std::to_string(transfer.buffer.datatype->size) +
                                           " bytes) has room for " + std::to_string(room));
}

Error broken_promise(const Transfer &transfer, const Envelope &envelope, int64_t room) {
    return Error(ErrorClass::count, "the message from rank " + std::to_string(envelope.source) + " with tag " + std::to_string(envelope.tag) +
                                        " has " + std::to_string(envelope.length) + " bytes and the receive posted for it (" +
                                        std::to_string(transfer.buffer.count) + " elements) " + std::to_string(room) +
                                        ", although mpi_assert_exact_length was set on the communicator");
}

}  // namespace

// Of a message that has not the length of the receive that takes it.
void Messenger::judge_length(Transfer &transfer, const Envelope &envelope) {
    int64_t room = transfer.buffer.bytes();
    if (static_cast<int64_t>(envelope.length) > room) transfer.error = truncation(transfer, envelope, room);
    else if (posted_.promises().of(envelope.context) & promise::exact_length) transfer.error = broken_promise(transfer, envelope, room);
}

// A receive finds a message that came before it.
void Messenger::receive_stored(Transfer &transfer, Unexpected &message) {
    unexpected_.take(message);
    receive_taken(transfer, message);
}

// The earliest that it may take, unless more is to be done than to copy.
bool Messenger::take_stored(MatchKey key, const Buffer &buffer, Envelope &taken) {
    if (settings_.check || posted_.promises().any() || !buffer.contiguous()) return false;
    Unexpected *message = unexpected_.find(key);
    if (!message || message->kind() != EnvelopeKind::eager || static_cast<int64_t>(message->size()) > buffer.bytes()) return false;
    unexpected_.take(*message);
    taken = message->envelope();
    size_t size = message->size();
    if (size <= inline_payload) copy_few(buffer.base, message->payload(), size);
    else std::memcpy(buffer.base, message->payload(), size);
    if (size > inline_payload) channels_.consumed(peers_[message->peer], size);
    unexpected_.drop(*message);
    ++counts_.matched;
    return true;
}

// With nothing stored and nothing else posted the peer's next message is the first that this receive may take, and no other receive may.
bool Messenger::take_next(uint32_t number, MatchKey key, const Buffer &buffer, int looks, Envelope &taken) {
    Peer &peer = peers_[number];
    // Who awaits a longer one posts the receive while it is on its way.
    if (buffer.bytes() > peer.shown_to || settings_.check || posted_.promises().any()) return false;
    ShortFrame frame;
    while (!peer.path->peek_short(number, frame))
        if (--looks <= 0) return false;
    if (!frame.envelope) return false;
    std::memcpy(&taken, frame.envelope, sizeof taken);
    bool is_it = taken.kind == EnvelopeKind::eager && fits(key, {taken.context, taken.source, taken.tag});
    if (!is_it || taken.check != 0 || static_cast<int64_t>(frame.size) > buffer.bytes() || !buffer.contiguous()) return false;
    peer.path->take_short(number, buffer.base);
    if (frame.size > inline_payload) channels_.consumed(peer, frame.size);
    Channels::returned(peer, taken.credit);
    ++peer.messages_come;
    ++counts_.matched;
    return true;
}

void Messenger::receive_taken(Transfer &transfer, Unexpected &message) {
    Envelope envelope = message.envelope();
    envelope.check = unexpected_.check_of(message);
    deliver(transfer, message.peer, envelope, message.payload(), message.size());
    unexpected_.drop(message);
}

// What both sides say of the message does not fit together, maybe.
void Messenger::compare_checks(Transfer &transfer, const Envelope &envelope) {
    if (envelope.context & collective_bit) {
        if (observer_) transfer.error = observer_->compared(transfer.check, envelope.check, envelope.source);
        return;
    }
    if (static_cast<int64_t>(envelope.length) > transfer.received) return;  // of what is cut off nothing is known
    uint32_t own = type_signature(transfer.buffer, transfer.received);
    std::string difference = signature_difference(own, envelope.check);
    if (!difference.empty())
        transfer.error = Error(ErrorClass::type, "the message from rank " + std::to_string(envelope.source) + " with tag " +
                                                     std::to_string(envelope.tag) + " and this receive have different datatypes: " + difference);
}

// With its payload, which is valid during the call only.
void Messenger::deliver(Transfer &transfer, uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) {
    match(transfer, envelope);
    bool has_more = envelope.kind != EnvelopeKind::rendezvous || accept_offer(transfer, peer, envelope, payload, size);
    if (has_more) take_payload(transfer, peer, envelope, payload, size);
}

// The payload is here, in its place or elsewhere. An offer's has been accepted.
void Messenger::take_payload(Transfer &transfer, uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) {
    if (envelope.kind == EnvelopeKind::rendezvous) {
        Channels::owe(peers_[peer], size - sizeof(RendezvousOffer));  // `finished` will tell
        if (transfer.first) put(transfer, 0, payload + sizeof(RendezvousOffer), transfer.first);
        return complete_if_all(transfer);
    }
    if (transfer.received && payload != transfer.buffer.base) copy_in(transfer, payload, static_cast<size_t>(transfer.received));
    channels_.consumed(peers_[peer], size);
    finish(transfer);
}

// Most messages.
[[gnu::always_inline]] inline void Messenger::deliver_eager(Transfer &transfer, uint32_t peer, const Envelope &envelope,
                                                            const std::byte *payload, size_t size) {
    match(transfer, envelope);
    auto bytes = static_cast<size_t>(transfer.received);
    if (bytes <= inline_payload && transfer.buffer.contiguous()) copy_few(transfer.buffer.base, payload, bytes);
    else if (payload != transfer.buffer.base) copy_in(transfer, payload, bytes);
    if (size > inline_payload) channels_.consumed(peers_[peer], size);
    finish(transfer);
}

void Messenger::envelope(uint32_t number, const Envelope &envelope, const std::byte *payload, size_t size) {
    Peer &peer = peers_[number];
    Channels::returned(peer, envelope.credit);
    bool eager = envelope.kind == EnvelopeKind::eager;
    if (!eager && envelope.kind != EnvelopeKind::rendezvous) return answer(number, envelope, payload);
    ++peer.messages_come;
    if (!eager && (envelope.flags & flag_claimed)) return written(number, envelope, payload);
    if (peer.arriving) return take_payload(*std::exchange(peer.arriving, nullptr), number, envelope, payload, size);
    Transfer *taker = taker_of({envelope.context, envelope.source, envelope.tag});
    if (!taker) store(number, envelope, payload, size);
    else if (eager) deliver_eager(*taker, number, envelope, payload, size);
    else deliver(*taker, number, envelope, payload, size);
}

static_assert(sizeof(RendezvousOffer) <= most_beginning, "what begin() looks at is checked before");

std::byte *Messenger::begin(uint32_t number, const Envelope &envelope, const std::byte *payload, size_t come, size_t size, size_t &from) {
    Peer &peer = peers_[number];
    bool offer = envelope.kind == EnvelopeKind::rendezvous;
    size_t head = offer ? sizeof(RendezvousOffer) : 0;
    if ((!offer && envelope.kind != EnvelopeKind::eager) || come < head) return nullptr;
    if (!peer.arriving) {
        MatchEntry *entry = posted_.find_receive({envelope.context, envelope.source, envelope.tag});
        if (!entry) return nullptr;
        auto &transfer = static_cast<Transfer &>(*entry);
        bool fits = transfer.buffer.contiguous() && transfer.buffer.bytes() >= static_cast<int64_t>(envelope.length);
        if (!fits || size - head > envelope.length) return nullptr;
        posted_.remove(*entry);
        match(transfer, envelope);
        if (offer && !accept_offer(transfer, number, envelope, payload, size)) return nullptr;
        peer.arriving = &transfer;
    }
    from = head;
    return reinterpret_cast<std::byte *>(reinterpret_cast<uintptr_t>(peer.arriving->buffer.base) - head);
}

// Answers an offer. True when its bytes are sent: the first of them with it, which are taken when they are here. Otherwise they are read
// from the sender's memory, and the transfer may be over.
bool Messenger::accept_offer(Transfer &transfer, uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) {
    RendezvousOffer offer;
    std::memcpy(&offer, payload, sizeof offer);
    transfer.remote_id = offer.sender_id;
    transfer.written = is_named(transfer, peer, envelope, offer);
    // An offer that was stored has lost the flag; but who names receives is reached by a path that touches no memory.
    if (envelope.flags & flag_announced) offer.address = 0;
    transfer.remote_address = offer.address;
    transfer.data_peer = peer;
    transfer.wanted = static_cast<uint64_t>(transfer.received);
    transfer.first = std::min<uint64_t>(size - sizeof offer, transfer.wanted);
    transfer.moved = 0;
    transfer.messenger = this;
    begin_moving(transfer);
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx answered: %llu bytes wanted", peer, static_cast<unsigned long long>(offer.sender_id),
        static_cast<unsigned long long>(transfer.wanted));
    transfer.cursor = Cursor(transfer.buffer);
    if (transfer.written || transfer.wanted == 0 || !offer.address || !touches(peer, offer.address, transfer.wanted)) return ask_for_bulk(transfer);
    return begin_copying(transfer, envelope.flags & flag_attended);
}

// Reads the next piece of the sender's bytes: straight into place, unless that is many short runs, which take the kernel longer than a second copy
// within the cache.
size_t Messenger::read_piece_of(Transfer &transfer, Error &error) {
    Path &path = *peers_[transfer.data_peer].path;
    uint64_t from = transfer.remote_address + transfer.moved;
    size_t bytes = std::min<size_t>(transfer.wanted - transfer.moved, read_at_once);
    if (transfer.buffer.contiguous()) {
        iovec run{transfer.buffer.base + transfer.moved, bytes};
        error = path.get(transfer.data_peer, &run, 1, from, bytes);
        return bytes;
    }
    if (const std::byte *mapped = path.mapped(transfer.data_peer, from, bytes)) {
        transfer.cursor.unpack(mapped, bytes);
        return bytes;
    }
    iovec runs[runs_at_once];
    Cursor ahead = transfer.cursor;
    int count = ahead.runs(runs, runs_at_once, bytes);
    auto in_runs = static_cast<size_t>(ahead.position() - transfer.cursor.position());
    if (in_runs >= least_run * static_cast<size_t>(count) || count <= few_runs) {
        error = path.get(transfer.data_peer, runs, count, from, in_runs);
        transfer.cursor = ahead;
        return in_runs;
    }
    bytes = std::min(bytes, landing_bytes);
    if (!landing_) landing_ = std::make_unique_for_overwrite<std::byte[]>(landing_bytes);
    iovec landing{landing_.get(), bytes};
    error = path.get(transfer.data_peer, &landing, 1, from, bytes);
    if (!error) transfer.cursor.unpack(landing_.get(), bytes);
    return bytes;
}

int Messenger::read_on(Task &task) {
    Transfer &transfer = static_cast<Transfer &>(task);
    Messenger &self = *transfer.messenger;
    uint32_t peer = transfer.data_peer;
    Error error;
    size_t bytes = self.read_piece_of(transfer, error);
    if (error) {
        log(LogLevel::info, "p2p", "peer %u: %s; copying through shared buffers instead", peer, error.sentence().c_str());
        error.discard();
        self.ask_for_bulk(transfer);
        return 1;
    }
    transfer.moved += bytes;
    if (transfer.moved < transfer.wanted) {
        self.engine_.ready(transfer);
        return 1;
    }
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx finished: copied directly", peer,
        static_cast<unsigned long long>(transfer.remote_id));
    self.reply(peer, EnvelopeKind::finished, transfer.remote_id, 0);
    self.finish(transfer);
    return 1;
}

// Of a message that is being written nothing need be asked for, and its receive has the id already that the sender knows. False when the
// peer is lost, and the transfer has failed.
bool Messenger::ask_for_bulk(Transfer &transfer) {
    if (peers_[transfer.data_peer].closed) {
        fail(transfer, tell_loss(transfer.data_peer, "the process that sends this message"));
        return false;
    }
    expect_bulk(transfer);
    if (!transfer.written) clear_rest(transfer);
    return true;
}

void Messenger::expect_bulk(Transfer &transfer) {
    transfer.arrived.clear();
    if (!transfer.written) transfer.id = transfers_.add(transfer);
    begin_under_way(transfer);
    transfer.asked_for_bulk = true;
}

// Asks for all bytes that have not come, but those that come with the offer.
void Messenger::clear_rest(Transfer &transfer) {
    uint64_t begin = std::max(transfer.arrived.end(), transfer.first);
    if (begin >= transfer.wanted) return;
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx: asks for %llu bytes in bulk", transfer.data_peer,
        static_cast<unsigned long long>(transfer.remote_id), static_cast<unsigned long long>(transfer.wanted - begin));
    ClearToSend clear{transfer.id, begin, transfer.wanted};
    reply(transfer.data_peer, EnvelopeKind::clear_to_send, transfer.remote_id, transfer.buffer.contiguous(), &clear, sizeof clear);
}

// The receive that these bytes belong to; nullptr when it is over, or never was.
Transfer *Messenger::receiver_of(uint32_t peer, const BulkHeader &header, size_t size) {
    Transfer *transfer = transfers_.find(header.receive_id);
    if (!transfer || !transfer->asked_for_bulk || transfer->data_peer != peer) return nullptr;
    return size <= transfer->wanted && header.offset <= transfer->wanted - size ? transfer : nullptr;
}

std::byte *Messenger::place(uint32_t peer, const BulkHeader &header, size_t size) {
    Transfer *transfer = receiver_of(peer, header, size);
    if (!transfer || !transfer->buffer.contiguous()) return nullptr;
    // What comes a second time is written there only when it is known to be right.
    return transfer->arrived.has_some(header.offset, header.offset + size) ? nullptr : transfer->buffer.base + header.offset;
}

void Messenger::bulk(uint32_t peer, const BulkHeader &header, const std::byte *payload, size_t size) {
    Transfer *transfer = receiver_of(peer, header, size);
    if (!transfer) return;
    put(*transfer, header.offset, payload, size);
    complete_if_all(*transfer);
}

// Bytes have come, in their place or elsewhere.
void Messenger::put(Transfer &transfer, uint64_t offset, const std::byte *payload, size_t size) {
    if (!transfer.buffer.contiguous()) {
        if (transfer.cursor.position() != static_cast<int64_t>(offset)) transfer.cursor.seek(static_cast<int64_t>(offset));
        transfer.cursor.unpack(payload, size);
    } else if (std::byte *place = transfer.buffer.base + offset; place != payload) {
        if (transfer.streamed) copy_streaming(place, payload, size);
        else std::memcpy(place, payload, size);
    }
    transfer.arrived.add(offset, offset + size);
}

void Messenger::complete_if_all(Transfer &transfer) {
    if (transfer.arrived.end() < transfer.wanted) return;
    if (transfer.word) push_began(transfer);
    log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx finished: received in bulk", transfer.data_peer,
        static_cast<unsigned long long>(transfer.remote_id));
    bool untold = peers_[transfer.data_peer].path->loses_bulk() || transfer.wanted == 0 || transfer.written;
    if (untold) reply(transfer.data_peer, EnvelopeKind::finished, transfer.remote_id, 0);
    finish(transfer);
}

void Messenger::withdraw(uint32_t peer, uint64_t sender_id) {
    for (Unexpected *message = unexpected_.first(); message; message = unexpected_.after(*message)) {
        if (message->peer != peer || message->kind() != EnvelopeKind::rendezvous) continue;
        RendezvousOffer offer;
        std::memcpy(&offer, message->payload(), sizeof offer);
        if (offer.sender_id != sender_id) continue;
        unexpected_.take(*message);
        channels_.consumed(peers_[peer], message->size() - sizeof offer);
        unexpected_.drop(*message);
        return reply(peer, EnvelopeKind::cancel_reply, sender_id, 1);
    }
    reply(peer, EnvelopeKind::cancel_reply, sender_id, 0);
}

}  // namespace lanyard
