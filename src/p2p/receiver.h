// Receiving: which receive takes which message (match.h, unexpected.h), and what happens to the message then.
// A short or eager message is copied. An offer goes to its protocol (rendezvous_receive.h). A message without
// a receive is stored.
//
// A long payload that arrives in parts is matched when its envelope is here, and is received in place. Its
// receive is the peer's `arriving` until all parts have arrived, over any number of connections.
// Thread rule: the owner of the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/copy.h"
#include "p2p/endpoint.h"
#include "p2p/handler.h"
#include "p2p/match.h"
#include "p2p/rendezvous_receive.h"
#include "p2p/shm_advert.h"
#include "p2p/unexpected.h"

namespace lanyard {

// Observes messages of collectives. It alone interprets their check words.
class CollectiveObserver {
public:
    // A message arrived for which no receive was posted.
    virtual void stored(const Envelope &envelope) = 0;
    // A message with the check word `other` met a receive with the different word `own`. No error: both may
    // be right.
    virtual Error compared(uint32_t own, uint32_t other, int32_t other_rank) = 0;

protected:
    ~CollectiveObserver() = default;
};

class Receiver final : public Handler {
public:
    explicit Receiver(Endpoint &endpoint)
        : endpoint_(endpoint), rendezvous_(endpoint), shm_adverts_(endpoint, posted_) {}
    Receiver(const Receiver &) = delete;
    Receiver &operator=(const Receiver &) = delete;

    // Posts the receive, unless a message for it is here. It may complete before the return.
    void receive(ReceiveOperation &receive);
    // The short way, from a named peer or (no_peer) from any. True: the message has been received, and
    // `taken` is its envelope. False: nothing has happened. Polls `looks` times for it.
    [[gnu::always_inline]] bool receive_now(uint32_t peer, const MatchKey &key, const Buffer &buffer,
                                            int looks, Envelope &taken) {
        if (unexpected_.count() > 0) return take_stored(key, buffer, taken);
        return posted_.count() == 0 && peer != no_peer && take_next(peer, key, buffer, looks, taken);
    }
    // Receives a message that has been taken out of the stored ones. This destroys the message.
    void receive_taken(ReceiveOperation &receive, Unexpected &message);
    // Cancels at once if nothing has met the receive.
    void cancel(ReceiveOperation &receive);

    // A message has arrived, with the payload of its frame.
    void message(Peer &peer, const Envelope &envelope, const std::byte *payload, size_t size);
    // The same for a message whose payload arrives in parts (Sink::begin).
    std::byte *begin(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t received,
                     size_t size, size_t &from);
    // The peer cancels one of its offers (EnvelopeKind::cancel) and gets an answer.
    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override;
    // Nothing more arrives from that peer, so receives posted for it fail.
    void lost(uint32_t peer) override;
    // A communicator has ended early. Receives posted on it fail, and messages stored for it are dropped.
    void purge(uint64_t context, const char *why);

    MatchQueue &posted() { return posted_; }
    UnexpectedQueue &unexpected() { return unexpected_; }
    ShmAdverts &shm_adverts() { return shm_adverts_; }
    RendezvousReceives &rendezvous() { return rendezvous_; }
    const RendezvousReceives &rendezvous() const { return rendezvous_; }
    void set_observer(CollectiveObserver *observer) { observer_ = observer; }

private:
    static void copy_in(const Buffer &to, const std::byte *from, size_t bytes);
    static constexpr int64_t attended_bytes = 8192;  // from here on, a receive is worth waking the helper

    bool take_stored(MatchKey key, const Buffer &buffer, Envelope &taken);
    bool take_next(uint32_t peer, MatchKey key, const Buffer &buffer, int looks, Envelope &taken);
    void announce_posted(ReceiveOperation &receive, const Peer &peer);
    ReceiveOperation *taker_of(const MatchKey &key);
    ReceiveOperation *take_posted(const MatchKey &key);
    void match(ReceiveOperation &receive, const Envelope &envelope);
    void compare_checks(ReceiveOperation &receive, const Envelope &envelope);
    void judge_length(ReceiveOperation &receive, const Envelope &envelope);
    void deliver(ReceiveOperation &receive, uint32_t peer, const Envelope &envelope, const std::byte *payload,
                 size_t size);
    void deliver_eager(ReceiveOperation &receive, Peer &peer, const Envelope &envelope,
                       const std::byte *payload, size_t size);
    void take_payload(ReceiveOperation &receive, uint32_t peer, const Envelope &envelope,
                      const std::byte *payload, size_t size);
    void written(uint32_t peer, const Envelope &envelope, const std::byte *payload);
    bool withdraw(uint32_t peer, uint64_t sender_id);
    void store(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size);
    void finish(ReceiveOperation &receive) {
        if (receive.incoming) [[unlikely]] rendezvous_.unname(receive);
        endpoint_.finish(receive);
    }
    bool unpost(ReceiveOperation &receive);

    Endpoint &endpoint_;
    MatchQueue posted_;
    UnexpectedQueue unexpected_;
    RendezvousReceives rendezvous_;
    ShmAdverts shm_adverts_;
    CollectiveObserver *observer_ = nullptr;
};

// A message has met its receive.
[[gnu::always_inline]] inline void Receiver::match(ReceiveOperation &receive, const Envelope &envelope) {
    ++endpoint_.counts.matched;
    receive.matched_rank = envelope.source;
    receive.matched_tag = envelope.tag;
    int64_t room = receive.buffer.bytes();
    auto length = static_cast<int64_t>(envelope.length);
    receive.received = std::min(room, length);
    if (envelope.check != receive.check) [[unlikely]] compare_checks(receive, envelope);
    if ((length > room || (length < room && posted_.promises().any())) && !receive.error) [[unlikely]]
        judge_length(receive, envelope);
}

// Most messages go to the first posted receive, which has no word to be claimed. take_posted() gets a copy of
// the key, so that `key` itself stays in registers.
[[gnu::always_inline]] inline ReceiveOperation *Receiver::taker_of(const MatchKey &key) {
    MatchEntry *entry = posted_.first();
    if (!entry) return nullptr;
    auto &first = static_cast<ReceiveOperation &>(*entry);
    if (first.claimable || !fits(first, key)) return take_posted(MatchKey(key));
    posted_.remove(first);
    return &first;
}

[[gnu::always_inline]] inline void Receiver::receive(ReceiveOperation &receive) {
    receive.error = {};
    receive.cancelled = false;
    receive.received = 0;
    if (Unexpected *message = unexpected_.find(receive)) {
        unexpected_.take(*message);
        return receive_taken(receive, *message);
    }
    const Peer *peer = receive.peer == no_peer ? nullptr : &endpoint_.peers[receive.peer];
    if (peer && peer->closed) [[unlikely]]
        return endpoint_.fail(receive, endpoint_.losses.tell(receive.peer, "the process to receive from"));
    posted_.add(receive);
    int64_t bytes = receive.buffer.bytes();
    if (bytes <= static_cast<int64_t>(inline_payload)) return;  // an announcement would save nothing
    if (peer && static_cast<uint64_t>(bytes) >= peer->announced_from) announce_posted(receive, *peer);
    if (bytes >= attended_bytes) endpoint_.begin_under_way(receive);
}

// The case of most messages.
[[gnu::always_inline]] inline void Receiver::deliver_eager(ReceiveOperation &receive, Peer &peer,
                                                           const Envelope &envelope, const std::byte *payload,
                                                           size_t size) {
    match(receive, envelope);
    auto bytes = static_cast<size_t>(receive.received);
    if (bytes <= inline_payload && receive.buffer.contiguous()) copy_few(receive.buffer.base, payload, bytes);
    else if (bytes && payload != receive.buffer.base) copy_in(receive.buffer, payload, bytes);
    if (size > inline_payload) endpoint_.channels.consumed(peer, size);
    finish(receive);
}

[[gnu::always_inline]] inline void Receiver::message(Peer &peer, const Envelope &envelope,
                                                     const std::byte *payload, size_t size) {
    bool eager = envelope.kind == EnvelopeKind::eager;
    ++peer.messages_received;
    if (!eager && (envelope.flags & flag_claimed)) return written(peer.number, envelope, payload);
    if (peer.arriving)
        return take_payload(*std::exchange(peer.arriving, nullptr), peer.number, envelope, payload, size);
    ReceiveOperation *taker = taker_of({envelope.context, envelope.source, envelope.tag});
    if (!taker) store(peer.number, envelope, payload, size);
    else if (eager) deliver_eager(*taker, peer, envelope, payload, size);
    else deliver(*taker, peer.number, envelope, payload, size);
}

}  // namespace lanyard
