// Sends and receives the point-to-point messages of one Runtime (runtime/runtime.h). The API, collectives and
// the creation of communicators use this class.
//
// The size of a message and the peer's credit decide its protocol:
//   short       up to inline_payload bytes: travels beside the envelope, costs no credit
//   eager       up to the eager limit while the peer's credit lasts (eager.h)
//   rendezvous  all other messages, and all synchronous sends (rendezvous_send.h, rendezvous_receive.h)
//   write       a rendezvous with a receive that was announced (receive_advert.h, shm_advert.h)
// Envelopes travel in order, as room and credit allow (channel.h). With more peers, each of them has less
// credit. Arriving frames pass through dispatch.h and are matched by receiver.h. No message is lost without a
// report (losses.h). Operations belong to the caller (operation.h). Errors are stored in the operation,
// unless the function returns an Error.
// Thread rule: the owner of the engine makes all calls.
#pragma once

#include <cstdint>

#include "config/settings.h"
#include "engine/engine.h"
#include "p2p/counters.h"
#include "p2p/dispatch.h"
#include "p2p/eager.h"
#include "p2p/endpoint.h"
#include "p2p/receiver.h"
#include "p2p/rendezvous_send.h"
#include "p2p/retention.h"

namespace lanyard {

class Messenger final {
public:
    // `peers`: the number of peers at first, all of one job. This number determines the credit of each peer.
    // The engine and the settings must outlive this object, which registers its Dispatch as the sink of the
    // engine's paths.
    Messenger(Engine &engine, const Settings &settings, uint32_t own_peer, uint32_t peers);
    Messenger(const Messenger &) = delete;
    Messenger &operator=(const Messenger &) = delete;

    // Adds a process of another job as a peer and returns its number, which is the next free one, or `nobody`
    // if there is no room. Nothing may be sent to this peer before route() is called for it.
    uint32_t add_peer() { return endpoint_.append_peer(true); }
    // Sets the path that reaches the peer. Required before the first message. The path must outlive its use.
    void route(uint32_t peer, Path &path);
    // nullptr before route().
    const Path *path_to(uint32_t peer) const { return endpoint_.peers[peer].path; }
    const Settings &settings() const { return endpoint_.settings; }
    // Applies changed limits in the settings to messages sent from now on.
    void limits_changed();
    Engine &engine() { return endpoint_.engine; }
    uint32_t own_peer() const { return endpoint_.own_peer; }
    // For layers above, which use channels, targets, and envelopes of their own kinds.
    Endpoint &endpoint() { return endpoint_; }
    Dispatch &dispatch() { return dispatch_; }

    // The fast path of a blocking send. True: the payload has been copied and the send is complete. False:
    // nothing has happened, and the caller must start a SendOperation.
    [[gnu::always_inline]] bool send_now(uint32_t peer, const MatchKey &key, const Buffer &buffer,
                                         uint32_t check = 0) {
        endpoint_.engine.check_owner();
        return send_in_line(endpoint_.peers[peer], key, buffer, check) ||
               send_eager_now(peer, key, buffer, check);
    }
    // Like send_now(), for MPI functions. A message to this process itself is matched or stored at once. Must
    // not be called inside a handler of the engine, because the continuations of a matched receive run inside
    // this call.
    [[gnu::always_inline]] bool send_or_deliver_now(uint32_t peer, const MatchKey &key,
                                                    const Buffer &buffer) {
        endpoint_.engine.check_owner();
        if (send_in_line(endpoint_.peers[peer], key, buffer, 0)) return true;
        return peer == own_peer() ? deliver_to_self(key, buffer) : send_eager_now(peer, key, buffer, 0);
    }
    // The fast path of a blocking receive. Takes a stored message. If no message is stored and no receive is
    // posted, looks up to `looks` times whether the next message of that peer has arrived, and takes it if it
    // fits. True: the message has been received, and `taken` is its envelope. False: nothing has happened.
    [[gnu::always_inline]] bool receive_now(uint32_t peer, const MatchKey &key, const Buffer &buffer,
                                            int looks, Envelope &taken) {
        endpoint_.engine.check_owner();
        return receiver_.receive_now(peer, key, buffer, looks, taken);
    }
    // Would a nonblocking send leave this buffer uncopied until the peer has acknowledged the message?
    bool keeps(uint32_t peer, const Buffer &buffer) const {
        return buffer.bytes() > static_cast<int64_t>(inline_payload) && buffer.contiguous() &&
               static_cast<size_t>(buffer.bytes()) >= endpoint_.peers[peer].path->info.keep_from;
    }
    // send() and receive() start an operation that the caller has filled in. The operation may complete
    // before the return.
    void send(SendOperation &send);
    [[gnu::always_inline]] void receive(ReceiveOperation &receive) {
        endpoint_.engine.check_owner();
        receiver_.receive(receive);
    }
    // A blocking call that waits for a long send may end it by a copy of the message (retention.h).
    Retention &retention() { return retention_; }
    // The earliest stored message that a receive with this key would take, else nullptr. take() removes the
    // message from matching, and receive_taken() receives it (MPI_Mprobe, MPI_Mrecv).
    Unexpected *probe(const MatchKey &key) {
        endpoint_.engine.check_owner();
        return receiver_.unexpected().find(key);
    }
    void take(Unexpected &message) {
        endpoint_.engine.check_owner();
        receiver_.unexpected().take(message);
    }
    void receive_taken(ReceiveOperation &receive, Unexpected &message);
    // cancel() withdraws a posted receive at once if no message has matched it. It withdraws a send at once
    // if the message has not left its channel. For a send that was offered, it requests the withdrawal from
    // the receiver, which answers. It has no effect on an operation that is complete, matched or claimed, or
    // on an eager send that has left its channel. A cancelled operation still completes, and its `cancelled`
    // states whether it was withdrawn.
    void cancel(SendOperation &send) {
        endpoint_.engine.check_owner();
        if (send.unfinished) send.unfinished->cancel();
    }
    void cancel(ReceiveOperation &receive) {
        endpoint_.engine.check_owner();
        receiver_.cancel(receive);
    }

    // To be called when the program begins to wait. From then on the receives posted so far cannot be
    // claimed, so that both sides copy the messages that arrive (shm_advert.h). No effect if ranks are
    // oversubscribed.
    void withdraw_claims() { receiver_.shm_adverts().withdraw_all(); }
    // An object of this class exists while the program waits in a call for something other than its receives.
    // Senders cannot claim these receives during that time (ShmAdverts::hold()).
    class HeldClaims {
    public:
        explicit HeldClaims(Messenger &messenger) : adverts_(messenger.receiver_.shm_adverts()) {
            adverts_.hold();
        }
        ~HeldClaims() { adverts_.hold_no_more(); }
        HeldClaims(const HeldClaims &) = delete;
        HeldClaims &operator=(const HeldClaims &) = delete;

    private:
        ShmAdverts &adverts_;
    };
    // Could this message claim a receive whose announcement perhaps has not been polled yet? The caller then
    // polls before it sends.
    bool may_claim(uint32_t peer, const Buffer &buffer) const {
        const Peer &known = endpoint_.peers[peer];
        return known.claims && static_cast<uint64_t>(buffer.bytes()) >= known.announced_from;
    }

    // To be called when an operation has ended and no caller will query its result. If the operation failed
    // because its peer has failed, a later error reports the messages that may be lost.
    void unasked(MessageOperation &operation, bool is_send);
    // Has the peer failed?
    bool has_lost(uint32_t peer) const { return endpoint_.peers[peer].closed; }
    // The error that states why that peer cannot be reached and how many messages it perhaps did not receive.
    // These messages count as reported afterwards.
    Error tell_loss(uint32_t peer, const char *what) { return endpoint_.losses.tell(peer, what); }
    // The error for messages that failed peers perhaps did not receive and that no error has reported yet
    // (Losses::untold()).
    Error untold_loss() { return endpoint_.losses.untold(); }

    // True if nothing waits to be sent and no answer of a peer is outstanding.
    bool nothing_pending() const {
        return endpoint_.channels.waiting() == 0 &&
               endpoint_.targets.count() == receiver_.rendezvous().named();
    }
    // Visits the sends that were offered and whose receiver has not yet requested the bytes or finished.
    template <class Visit>
    void each_offered(Visit visit) {
        rendezvous_.each_offered(visit);
    }
    // The counts since the start. They change whenever the owner of the engine makes a turn.
    const MessageCounts &counts() const { return endpoint_.counts; }
    // Sets the observer of collectives' messages; nullptr: there is none. It must live until it is replaced.
    void set_observer(CollectiveObserver *observer) { receiver_.set_observer(observer); }
    // Counts traffic in `traffic` from now on; nullptr: does not count any more. The object must live until
    // it is replaced.
    void set_traffic(Traffic *traffic);
    // The posted receives, with the promises about them (promises.h), and the stored messages. Layers above
    // read them and set promises. Operations begin and end by the functions above only.
    MatchQueue &posted() { return receiver_.posted(); }
    UnexpectedQueue &unexpected() { return receiver_.unexpected(); }

private:
    bool send_in_line(Peer &peer, const MatchKey &key, const Buffer &buffer, uint32_t check);
    bool deliver_to_self(MatchKey key, const Buffer &buffer);
    bool send_eager_now(uint32_t peer, MatchKey key, const Buffer &buffer, uint32_t check);
    void set_limits(Peer &peer);
    void allow_rings();

    Endpoint endpoint_;
    Receiver receiver_;
    Eager eager_;
    RendezvousSends rendezvous_;
    Retention retention_;
    Dispatch dispatch_;
    CounterSource counted_[5]{{message_counters(), endpoint_.counts},
                              {unexpected_counters(), receiver_.unexpected()},
                              {posted_counters(), receiver_.posted()},
                              {channel_counters(), endpoint_.channels},
                              {copy_method_counters(), receiver_.rendezvous().copy_methods()}};
};

// Sends a short message by writing it into the ring that the peer polls. False: the message needs more work
// than that, and nothing has happened.
[[gnu::always_inline]] inline bool Messenger::send_in_line(Peer &peer, const MatchKey &key,
                                                           const Buffer &buffer, uint32_t check) {
    int64_t bytes = buffer.bytes();
    if (!peer.ring || bytes > static_cast<int64_t>(inline_payload) || !buffer.contiguous()) return false;
    if (!peer.ring->surely_has_room() || peer.credit_owed) return false;
    auto size = static_cast<size_t>(bytes);
    copy_few(peer.ring->begin_line(message_envelope(key, EnvelopeKind::eager, bytes, check)), buffer.base,
             size);
    peer.ring->end_line(size);
    ++endpoint_.counts.sent;
    Channels::count(peer, key);
    return true;
}

}  // namespace lanyard
