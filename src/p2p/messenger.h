// Point-to-point messages of one runtime. The API, collectives and the creation of communicators use this
// class.
//
// The size of a message and the peer's credit decide its protocol:
//   short       up to inline_payload bytes: travels beside the envelope, costs no credit
//   eager       up to the eager limit while the peer's credit lasts (eager.h)
//   write       a rendezvous with a receive that was announced (receive_advert.h, shm_advert.h)
//   rendezvous  all other messages, and synchronous sends (rendezvous_send.h, rendezvous_receive.h)
// Envelopes travel in order, as room and credit allow (channel.h). The credit of each peer decreases with the
// number of peers. Arriving frames pass through dispatch.h and are matched by receiver.h. No message is lost
// without a report (losses.h).
// Thread rule: the owner of the engine.
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

namespace lanyard {

class Messenger final {
public:
    // `peers`: the number of peers at first, all of one job. It determines the credit of each peer.
    Messenger(Engine &engine, const Settings &settings, uint32_t own_peer, uint32_t peers);
    Messenger(const Messenger &) = delete;
    Messenger &operator=(const Messenger &) = delete;

    // Adds a process of another job and returns its number: the next one, or `nobody` if there is no room.
    // Nothing may be sent to it before route().
    uint32_t add_peer() { return endpoint_.append_peer(true); }
    // Sets the path that reaches the peer. Required before the first message.
    void route(uint32_t peer, Path &path);
    const Path *path_to(uint32_t peer) const { return endpoint_.peers[peer].path; }
    const Settings &settings() const { return endpoint_.settings; }
    // The limits in the settings have changed, for messages sent from now on.
    void limits_changed();
    Engine &engine() { return endpoint_.engine; }
    uint32_t own_peer() const { return endpoint_.own_peer; }
    // For protocols on top of this one: channels, targets, envelopes of their own kinds.
    Endpoint &endpoint() { return endpoint_; }
    Dispatch &dispatch() { return dispatch_; }

    // The short way of a blocking send. True: the payload has been copied and the send is complete. False:
    // nothing has happened, and the caller starts a send.
    [[gnu::always_inline]] bool send_now(uint32_t peer, const MatchKey &key, const Buffer &buffer,
                                         uint32_t check = 0) {
        return send_in_line(endpoint_.peers[peer], key, buffer, check) ||
               send_eager_now(peer, key, buffer, check);
    }
    // The same, for functions of MPI: a message to this process itself meets its receive, or is stored, at
    // once. Must not be called inside a handler of the engine, since continuations of the receive run here.
    [[gnu::always_inline]] bool send_or_deliver_now(uint32_t peer, const MatchKey &key,
                                                    const Buffer &buffer) {
        if (send_in_line(endpoint_.peers[peer], key, buffer, 0)) return true;
        return peer == own_peer() ? deliver_to_self(key, buffer) : send_eager_now(peer, key, buffer, 0);
    }
    [[gnu::always_inline]] bool receive_now(uint32_t peer, const MatchKey &key, const Buffer &buffer,
                                            int looks, Envelope &taken) {
        return receiver_.receive_now(peer, key, buffer, looks, taken);
    }
    // Would a send that may complete later avoid a copy of this buffer?
    bool keeps(uint32_t peer, const Buffer &buffer) const {
        return buffer.bytes() > static_cast<int64_t>(inline_payload) && buffer.contiguous() &&
               static_cast<size_t>(buffer.bytes()) >= endpoint_.peers[peer].path->info.keep_from;
    }
    // Start an operation that the caller has described. It may complete before the return.
    void send(SendOperation &send);
    [[gnu::always_inline]] void receive(ReceiveOperation &receive) { receiver_.receive(receive); }
    // The earliest stored message that a receive with this key would take, else nullptr. take() removes it
    // from matching, and receive_taken() receives it (mprobe, mrecv).
    Unexpected *probe(const MatchKey &key) { return receiver_.unexpected().find(key); }
    void take(Unexpected &message) { receiver_.unexpected().take(message); }
    void receive_taken(ReceiveOperation &receive, Unexpected &message);
    // A posted receive is withdrawn at once if nothing has matched it. An offered send is withdrawn at the
    // receiver, which answers.
    void cancel(SendOperation &send) {
        if (send.unfinished) send.unfinished->cancel();
    }
    void cancel(ReceiveOperation &receive) { receiver_.cancel(receive); }

    // The program waits from now on, so both sides should copy what arrives (shm_advert.h).
    void withdraw_claims() { receiver_.shm_adverts().withdraw_all(); }
    // While it exists, the program waits in a call for something other than its receives.
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
    // May a long message to that peer go to a receive whose announcement the next poll delivers?
    bool may_claim(uint32_t peer, const Buffer &buffer) const {
        const Peer &known = endpoint_.peers[peer];
        return known.claims && static_cast<uint64_t>(buffer.bytes()) >= known.announced_from;
    }

    // The operation has ended, and no caller will query its result.
    void unasked(MessageOperation &operation, bool is_send);
    bool has_lost(uint32_t peer) const { return endpoint_.peers[peer].closed; }
    // Why that peer, which failed or is unreachable, cannot be reached, and which messages it may not have
    // received.
    Error tell_loss(uint32_t peer, const char *what) { return endpoint_.losses.tell(peer, what); }
    // Messages that failed peers may not have received and that no error has reported yet.
    Error untold_loss() { return endpoint_.losses.untold(); }

    // Nothing is owed to any peer, and no peer owes anything.
    bool quiet() const {
        return endpoint_.channels.waiting() == 0 &&
               endpoint_.targets.count() == receiver_.rendezvous().named();
    }
    // Visits the sends whose offer no receive has matched.
    template <class Visit>
    void each_offered(Visit visit) {
        rendezvous_.each_offered(visit);
    }
    const MessageCounts &counts() const { return endpoint_.counts; }
    void set_observer(CollectiveObserver *observer) { receiver_.set_observer(observer); }
    // Traffic is counted there from now on.
    void set_traffic(Traffic *traffic);
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
    Dispatch dispatch_;
    CounterSource counted_[5]{{message_counters(), endpoint_.counts},
                              {unexpected_counters(), receiver_.unexpected()},
                              {posted_counters(), receiver_.posted()},
                              {channel_counters(), endpoint_.channels},
                              {copy_method_counters(), receiver_.rendezvous().copy_methods()}};
};

// A short message that only needs to be written into the ring that the peer polls.
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
