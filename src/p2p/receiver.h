// Receiving: decides which receive takes which message (match.h, unexpected.h), and delivers the message. A
// short or eager message is copied. An offer is passed to its protocol (rendezvous_receive.h). A message that
// fits no posted receive is stored.
//
// A message whose long payload arrives in parts is matched as soon as its envelope has arrived, if it fits a
// posted receive whose buffer is contiguous and long enough. Its payload is then received in place. (Any
// other message is matched when all of it has arrived.) Peer::arriving points to the receive until all parts
// have arrived, even if the connection breaks and is opened again meanwhile.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/p2p/dispatch_test.cc, tests/unit/p2p/messenger_test.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/copy.h"
#include "p2p/endpoint.h"
#include "p2p/handler.h"
#include "p2p/match.h"
#include "p2p/receive_advert.h"
#include "p2p/rendezvous_receive.h"
#include "p2p/shm_advert.h"
#include "p2p/unexpected.h"

namespace lanyard {

// Observes messages of collectives. Only the observer interprets the check words of these messages.
class CollectiveObserver {
public:
    // A message arrived for which no receive was posted.
    virtual void stored(const Envelope &envelope) = 0;
    // A message with the check word `other` met a receive with the different word `own`. Returns no error if
    // both calls may be right.
    virtual Error compared(uint32_t own, uint32_t other, int32_t other_rank) = 0;

protected:
    ~CollectiveObserver() = default;
};

class Receiver final : public Handler {
public:
    explicit Receiver(Endpoint &endpoint)
        : endpoint_(endpoint), rendezvous_(endpoint), adverts_(endpoint, rendezvous_),
          shm_adverts_(endpoint, posted_) {}
    Receiver(const Receiver &) = delete;
    Receiver &operator=(const Receiver &) = delete;

    // Takes a stored message if one fits, and posts the receive otherwise. The receive may complete before
    // the return.
    void receive(ReceiveOperation &receive);
    // The fast path of a blocking receive, from a named peer or, with no_peer, from any. Takes a stored
    // message, or polls up to `looks` times for the named peer's next message. True: the message has been
    // received, and `taken` is its envelope. False: nothing has happened.
    [[gnu::always_inline]] bool receive_now(uint32_t peer, const MatchKey &key, const Buffer &buffer,
                                            int looks, Envelope &taken) {
        if (unexpected_.count() > 0) return take_stored(key, buffer, taken);
        return posted_.count() == 0 && peer != no_peer && take_next(peer, key, buffer, looks, taken);
    }
    // Receives a stored message that UnexpectedQueue::take() has removed from the queue, and then drops it.
    void receive_taken(ReceiveOperation &receive, Unexpected &message);
    // Cancels the receive at once if no message has met it and no sender has claimed it.
    void cancel(ReceiveOperation &receive);

    // Handles a message whose frame has arrived completely.
    void message(Peer &peer, const Envelope &envelope, const std::byte *payload, size_t size);
    // Implements Sink::begin for a message whose payload arrives in parts: matches the message if its payload
    // can be received in place, and returns the address for the payload, else nullptr. A call of message()
    // follows, or of lost().
    std::byte *begin(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t received,
                     size_t size, size_t &from);
    // Handles the peer's request to cancel one of its offers (EnvelopeKind::cancel), and answers it.
    void envelope(uint32_t peer, const Envelope &envelope, const std::byte *payload, size_t size) override;
    // Fails the receives posted for that peer, from which nothing more arrives, and the receive into which
    // its payload arrives in parts.
    void lost(uint32_t peer) override;
    // For a communicator that ends although receives are posted or messages are stored on it; so far, only
    // tests call this. Fails the posted receives and drops the stored messages that have exactly this
    // context, whichever the peer. Does not end the traffic in this context: a receive that a sender has
    // claimed, or that has met a message, completes as usual. The sender of a dropped offer gets no answer,
    // so its send does not complete. A message that arrives later is stored.
    void purge(uint64_t context, const char *why);

    MatchQueue &posted() { return posted_; }
    UnexpectedQueue &unexpected() { return unexpected_; }
    ShmAdverts &shm_adverts() { return shm_adverts_; }
    RendezvousReceives &rendezvous() { return rendezvous_; }
    const RendezvousReceives &rendezvous() const { return rendezvous_; }
    void set_observer(CollectiveObserver *observer) { observer_ = observer; }

private:
    static void copy_in(const Buffer &to, const std::byte *from, size_t bytes);
    // Receives of at least this size wake the helper thread.
    static constexpr int64_t attended_bytes = 8192;

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
    void mapped(Peer &peer, const Envelope &envelope, const std::byte *payload);
    static std::unique_ptr<std::byte[]> read_whole(const Peer &peer, uint64_t address, size_t size);
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
    ReceiveAdverts adverts_;
    ShmAdverts shm_adverts_;
    CollectiveObserver *observer_ = nullptr;
};

// Records in the receive which message it takes, and sets the receive's error if the message does not suit
// it.
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

// Removes and returns the posted receive that takes a message with this key, or nullptr. Most messages are
// taken by the first posted receive, and most receives are not claimable. take_posted() gets a copy of the
// key, so that `key` itself stays in registers.
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

// Copies an eager message into its receive. Most messages take this path.
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
    if (!eager && (envelope.flags & flag_mapped)) return mapped(peer, envelope, payload);
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
