// Sends messages eagerly (eager.h). The receiver's side is in receiver.h.
#include "p2p/eager.h"

namespace lanyard {

namespace {

Envelope envelope_of(const SendOperation &send) {
    Envelope envelope = message_envelope(send, EnvelopeKind::eager, send.buffer.bytes(), send.check);
    if (send.mode == SendMode::ready) envelope.flags = flag_ready;
    return envelope;
}

}  // namespace

bool Eager::transmit(Peer &peer, Envelope &envelope, const Buffer &buffer) {
    auto bytes = static_cast<size_t>(buffer.bytes());
    if (buffer.contiguous())
        return endpoint_.channels.send(peer, envelope, {buffer.base, bytes, nullptr}) == Sent::done;
    Cursor cursor(buffer);
    return endpoint_.channels.send(peer, envelope, {nullptr, bytes, &cursor}) == Sent::done;
}

bool Eager::send_now(Peer &peer, const MatchKey &key, const Buffer &buffer, uint32_t check) {
    int64_t bytes = buffer.bytes();
    Envelope envelope = message_envelope(key, EnvelopeKind::eager, bytes, check);
    if (!transmit(peer, envelope, buffer)) return false;
    peer.credit_left -= Channels::cost(bytes);
    endpoint_.count_sent(peer, key, Protocol::eager, bytes);
    return true;
}

bool Eager::transmit(Peer &peer, const SendOperation &send) {
    Envelope envelope = envelope_of(send);
    if (!transmit(peer, envelope, send.buffer)) return false;
    endpoint_.count_sent(peer, send, Protocol::eager, send.buffer.bytes());
    return true;
}

void Eager::send(SendOperation &send) {
    Peer &peer = endpoint_.peers[send.peer];
    bool kept =
        send.buffer.contiguous() && static_cast<size_t>(send.buffer.bytes()) >= peer.path->info.keep_from;
    peer.credit_left -= Channels::cost(send.buffer.bytes());
    if (!kept && peer.is_clear() && transmit(peer, send)) return endpoint_.finish(send);
    unfinished_.take(*this).begin(send, kept);
}

void Eager::Unfinished::begin(SendOperation &send, bool kept) {
    send_ = &send;
    kept_ = kept;
    send.unfinished = this;
    if (kept) eager_.endpoint_.targets.add(*this);
    eager_.endpoint_.channels.start(eager_.endpoint_.peers[send.peer], *this);
}

// Tries to send the message, when all older envelopes have been sent. False: there is no room yet.
bool Eager::Unfinished::flush(Outgoing &outgoing) {
    auto &self = static_cast<Unfinished &>(outgoing);
    Endpoint &endpoint = self.eager_.endpoint_;
    SendOperation &send = *self.send_;
    Peer &peer = endpoint.peers[send.peer];
    if (peer.closed) {
        self.end();
        return endpoint.fails_with_peer(send);
    }
    if (!self.kept_) {
        if (!self.eager_.transmit(peer, send)) return false;
        self.end();
        endpoint.finish(send);
        return true;
    }
    auto bytes = static_cast<size_t>(send.buffer.bytes());
    Envelope envelope = envelope_of(send);
    Sent result = endpoint.channels.send_kept(peer, envelope,
                                              {nullptr, 0, send.buffer.base, bytes, self.id(), self.id()});
    if (result == Sent::full) return false;
    endpoint.count_sent(peer, send, Protocol::eager, send.buffer.bytes());
    if (result == Sent::pending) {
        endpoint.begin_under_way(send);
        return true;
    }
    self.end();
    endpoint.finish(send);
    return true;
}

// Returns this object to its pool. Called before the operation finishes, because the operation may be used
// again as soon as it is complete.
void Eager::Unfinished::end() {
    send_->unfinished = nullptr;
    eager_.endpoint_.targets.remove(*this);
    eager_.unfinished_.give(*this);
}

void Eager::Unfinished::sent() {
    end();
    eager_.endpoint_.finish(*send_);
}

void Eager::Unfinished::lost(uint32_t peer) {
    if (send_->peer != peer || outgoing_hook.linked()) return;  // a queued send fails in flush()
    end();
    eager_.endpoint_.fail(*send_, eager_.endpoint_.losses.tell(peer, "the other process"));
}

void Eager::Unfinished::cancel() {
    if (!outgoing_hook.linked()) return;  // already sent
    Endpoint &endpoint = eager_.endpoint_;
    Peer &peer = endpoint.peers[send_->peer];
    endpoint.channels.withdraw(peer, *this);
    peer.credit_left += Channels::cost(send_->buffer.bytes());
    send_->cancelled = true;
    end();
    endpoint.finish(*send_);
}

}  // namespace lanyard
