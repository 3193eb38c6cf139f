// Point-to-point messages of one runtime, as the API, collectives and the making of communicators see them. Always
// called by the engine's owner.
//
// A message goes by one of these protocols, by its size and by the peer's credit:
//   short       up to inline_payload bytes: beside the envelope, costs no credit
//   eager       up to the eager limit while the peer's credit lasts (eager.h)
//   write       a rendezvous with a receive that has announced itself (receive_advert.h, shm_advert.h)
//   rendezvous  the rest, and synchronous sends (rendezvous_send.h, rendezvous_receive.h)
// Envelopes travel in order, as room and credit allow (channel.h); the more peers there are, the lower is the credit of
// each. What comes is dispatched by dispatch.h and matched by receiver.h. Nothing is lost silently (losses.h).
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
    // `peers`: so many there are at first, all of one job, which decides how much each may send that nobody awaits.
    Messenger(Engine &engine, const Settings &settings, uint32_t own_peer, uint32_t peers);
    Messenger(const Messenger &) = delete;
    Messenger &operator=(const Messenger &) = delete;

    // The next number is that of a process that has come, of another job. Before it has a path nothing goes there.
    // `nobody`: no room. [owner]
    uint32_t add_peer() { return endpoint_.append_peer(true); }
    // Before the first message: the path that reaches the peer.
    void route(uint32_t peer, Path &path);
    const Path *path_to(uint32_t peer) const { return endpoint_.peers[peer].path; }
    const Settings &settings() const { return endpoint_.settings; }
    // The settings have other limits for messages sent from now on.
    void limits_changed();
    Engine &engine() { return endpoint_.engine; }
    uint32_t own_peer() const { return endpoint_.own_peer; }
    // For protocols that stand on this one: channels, targets, what comes for kinds of their own.
    Endpoint &endpoint() { return endpoint_; }
    Dispatch &dispatch() { return dispatch_; }

    // The blocking send's short way: true when the message has been copied and nothing more is to be done; else nothing
    // has happened and the caller starts a send.
    [[gnu::always_inline]] bool send_now(uint32_t peer, const MatchKey &key, const Buffer &buffer, uint32_t check = 0) {
        return send_in_line(endpoint_.peers[peer], key, buffer, check) || send_eager_now(peer, key, buffer, check);
    }
    // The same, by a function of MPI: a message to this process itself meets its receive, or is stored, at once. Not
    // where a handler of the engine is under way, as what waited for the receive goes on here.
    [[gnu::always_inline]] bool send_or_deliver_now(uint32_t peer, const MatchKey &key, const Buffer &buffer) {
        if (send_in_line(endpoint_.peers[peer], key, buffer, 0)) return true;
        return peer == own_peer() ? deliver_to_self(key, buffer) : send_eager_now(peer, key, buffer, 0);
    }
    [[gnu::always_inline]] bool receive_now(uint32_t peer, const MatchKey &key, const Buffer &buffer, int looks, Envelope &taken) {
        return receiver_.receive_now(peer, key, buffer, looks, taken);
    }
    // Need a send that may complete later not copy this?
    bool keeps(uint32_t peer, const Buffer &buffer) const {
        return buffer.bytes() > static_cast<int64_t>(inline_payload) && buffer.contiguous() &&
               static_cast<size_t>(buffer.bytes()) >= endpoint_.peers[peer].path->info.keep_from;
    }
    // Start a described operation; its completion may come before the return.
    void send(SendOperation &send);
    [[gnu::always_inline]] void receive(ReceiveOperation &receive) { receiver_.receive(receive); }
    // The earliest stored message that a receive with this key would take, else nullptr; take() removes it from
    // matching, and receive_taken() receives it (mprobe, mrecv).
    Unexpected *probe(const MatchKey &key) { return receiver_.unexpected().find(key); }
    void take(Unexpected &message) { receiver_.unexpected().take(message); }
    void receive_taken(ReceiveOperation &receive, Unexpected &message);
    // A posted receive is withdrawn at once if nothing matched it; an offered send is withdrawn at the receiver, which
    // answers.
    void cancel(SendOperation &send) {
        if (send.unfinished) send.unfinished->cancel();
    }
    void cancel(ReceiveOperation &receive) { receiver_.cancel(receive); }

    // The program waits from now on, so what comes had better be copied by both sides (shm_advert.h).
    void withdraw_claims() { receiver_.shm_adverts().withdraw_all(); }
    // While it exists the program waits in a call for something else. Made and ended by the engine's owner.
    class HeldClaims {
    public:
        explicit HeldClaims(Messenger &messenger) : adverts_(messenger.receiver_.shm_adverts()) { adverts_.hold(); }
        ~HeldClaims() { adverts_.hold_no_more(); }
        HeldClaims(const HeldClaims &) = delete;
        HeldClaims &operator=(const HeldClaims &) = delete;

    private:
        ShmAdverts &adverts_;
    };
    // May a long message to that peer go to a receive which the next poll tells of?
    bool may_claim(uint32_t peer, const Buffer &buffer) const {
        const Peer &known = endpoint_.peers[peer];
        return known.claims && static_cast<uint64_t>(buffer.bytes()) >= known.announced_from;
    }

    // The operation has ended, and its caller never asks how.
    void unasked(MessageOperation &operation, bool is_send);
    bool has_lost(uint32_t peer) const { return endpoint_.peers[peer].closed; }
    // Why that peer, which is lost, cannot be reached, and what it may not have got.
    Error tell_loss(uint32_t peer, const char *what) { return endpoint_.losses.tell(peer, what); }
    // Messages that lost peers may not have got, as long as nobody has been told.
    Error untold_loss() { return endpoint_.losses.untold(); }

    // Nothing is owed to any peer and no peer owes anything.
    bool quiet() const {
        return endpoint_.channels.waiting() == 0 && endpoint_.targets.count() == receiver_.rendezvous().named();
    }
    // Sends whose offer no receive has matched.
    template <class Visit>
    void each_offered(Visit visit) {
        rendezvous_.each_offered(visit);
    }
    const MessageCounts &counts() const { return endpoint_.counts; }
    void set_observer(CollectiveObserver *observer) { receiver_.set_observer(observer); }
    // From now on traffic is counted there.
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

// A short message, where nothing is to be done but to write it into the ring that the peer reads.
[[gnu::always_inline]] inline bool Messenger::send_in_line(Peer &peer, const MatchKey &key, const Buffer &buffer, uint32_t check) {
    int64_t bytes = buffer.bytes();
    if (!peer.ring || bytes > static_cast<int64_t>(inline_payload) || !buffer.contiguous()) return false;
    if (!peer.ring->surely_has_room() || peer.credit_owed) return false;
    auto size = static_cast<size_t>(bytes);
    copy_few(peer.ring->begin_line(message_envelope(key, EnvelopeKind::eager, bytes, check)), buffer.base, size);
    peer.ring->end_line(size);
    ++endpoint_.counts.sent;
    Channels::count(peer, key);
    return true;
}

}  // namespace lanyard
