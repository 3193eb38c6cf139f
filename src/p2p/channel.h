// Sends envelopes to each peer, in order, as room and credit allow. The protocols, and all other code that
// sends envelopes, use this class.
//
// - Order. Envelopes to a peer leave in the order in which they were given to start() or post(). An envelope
//   that finds no room waits, and every later envelope to this peer waits behind it, whatever its origin.
//   Code that sends directly (send(), the ring) must therefore first check that nothing waits. Waiting
//   envelopes are retried on each turn of the engine. The retries cost time in proportion to the number of
//   waiting channels.
// - Credit. A payload of more than inline_payload bytes that was not requested costs credit, because the
//   receiver may have to store it. The cost is the size of the payload, rounded up to units. Each peer has a
//   bounded credit. When the program has taken a payload, its credit is owed to the sender. Owed credit is
//   returned in any envelope to that peer, or in an envelope of its own once half of all credit is owed.
//   Envelopes themselves are never held back.
// - Closed channels. The path of a closed channel accepts every frame and discards it (path.h), so nothing
//   waits for ever. Code that sends a message checks first whether the channel is closed.
// Nothing here reports an error. If a peer fails, its path calls Sink::lost(), and this call ends the
// operations.
// Thread rule: the owner of the engine makes all calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/list.h"
#include "base/tally.h"
#include "engine/engine.h"
#include "p2p/match.h"
#include "path/envelope.h"
#include "path/path.h"
#include "path/short_ring.h"

namespace lanyard {

// Something to be sent to a peer. It waits if there is no room. It belongs to its user and must live until
// flush() has returned true or Channels::withdraw() has removed it. flush() sends it by Channels::send() or
// send_kept(). The object is not in the queue while flush() runs, and flush() may free the object before it
// returns true.
struct Outgoing {
    Hook outgoing_hook;
    bool (*flush)(Outgoing &) = nullptr;  // false: still no room; nothing has been sent
};

// Notified of each message to a peer, with the message's key, while it is registered as Channel::listener.
// The code that registers a listener removes it before the listener is destroyed.
class SentListener {
public:
    virtual void message_sent(const MatchKey &key) = 0;

protected:
    ~SentListener() = default;
};

class Channels;

// The channel to one peer. The members that short messages need stand first. A channel must not move once it
// is open.
struct Channel {
    // Short messages may be written straight into this ring. nullptr: each message needs more work.
    RingWriter *ring = nullptr;
    int64_t credit_left = 0;           // bytes of payload that may still be sent without a request
    int64_t credit_owed = 0;           // bytes of credit to be returned to the peer
    uint64_t sent = 0;                 // number of messages sent
    SentListener *listener = nullptr;  // notified of each message sent
    Path *path = nullptr;
    uint32_t number = 0;    // the peer's number in the peer table
    bool waiting = false;   // something is in `outgoing`
    bool closed = false;    // the peer has failed or is unreachable
    bool stranger = false;  // the peer is of another job

    bool is_clear() const { return outgoing.empty(); }

    // Only Channels uses the members below.
    struct CreditReturn : Outgoing {
        Channels *channels = nullptr;
        Channel *channel = nullptr;
    };
    List<Outgoing, &Outgoing::outgoing_hook> outgoing;
    Hook waiting_hook;  // in the list of waiting channels, except while this channel is being flushed
    CreditReturn credit_return;  // queued in `outgoing` when credit must travel in an envelope of its own
};

// The credit at first, in bytes, of a peer of this job and of a stranger (a peer of another job). The value
// for strangers does not depend on the number of peers, which a stranger cannot know.
struct Credit {
    int64_t of_peer, of_stranger;
};

class Channels : private Task {
public:
    Channels(Engine &engine, Credit credit);
    Channels(const Channels &) = delete;
    Channels &operator=(const Channels &) = delete;

    // Prepares a channel, once. The channel belongs to the caller and must not move afterwards.
    void open(Channel &channel, uint32_t number, bool stranger);
    // Sets the path. Required before anything is sent. A later call is allowed only while nothing is under
    // way on the old path.
    void route(Channel &channel, Path &path);
    // Allows or forbids writing envelopes straight into a peer's ring, for all channels. Forbidden if each
    // message needs other work too. The caller must call choose_ring() for each channel afterwards.
    void allow_rings(bool allowed) { rings_ = allowed; }
    void choose_ring(Channel &channel) const;  // requires a path
    // Closes the channel because the peer has failed. Waiting envelopes are still flushed, into a path that
    // discards them.
    void close(Channel &channel);

    // Sends one envelope, with the credit owed to the peer. The caller leaves envelope.credit 0. `done`: the
    // payload has been copied. `full`: there is no room, and nothing has been sent. Requires is_clear(), or a
    // call from flush(). The caller subtracts the payload's cost from credit_left.
    Sent send(Channel &channel, Envelope &envelope, Payload payload) {
        if (channel.credit_owed == 0) return channel.path->send(channel.number, envelope, payload);
        int64_t units = credit_to_return(channel);
        envelope.credit = static_cast<uint16_t>(units);
        Sent result = channel.path->send(channel.number, envelope, payload);
        if (result == Sent::done) channel.credit_owed -= units * static_cast<int64_t>(credit_unit);
        return result;
    }
    // Like send(), but by Path::send_kept(). Returns the result of Path::send_kept().
    Sent send_kept(Channel &channel, Envelope &envelope, const KeptPayload &payload);
    // Flushes `outgoing` now, or when there is room and nothing older waits. `outgoing` must not be waiting
    // already.
    void start(Channel &channel, Outgoing &outgoing) {
        if (!channel.outgoing.empty() || !outgoing.flush(outgoing)) wait_for_room(channel, outgoing);
    }
    // Removes `outgoing`, which waits in this channel, from the queue, so that it is not sent.
    void withdraw(Channel &channel, Outgoing &outgoing);
    // Sends a control envelope with at most inline_payload bytes, now or when there is room. Copies the
    // envelope and the payload if they must wait.
    void post(Channel &channel, const Envelope &envelope, const void *payload, size_t size);
    // The number of channels in which something waits. Any thread may call this, for counters.
    size_t waiting() const { return waiting_; }

    // The credit, in bytes, that a payload of this number of bytes costs.
    static int64_t cost(int64_t bytes) {
        if (bytes <= static_cast<int64_t>(inline_payload)) return 0;
        constexpr int64_t unit = credit_unit;
        return (bytes + unit - 1) / unit * unit;
    }
    // Notes that the program has taken eager payload, so that the peer may send as much again. The next
    // envelope to the peer returns the credit.
    static void owe(Channel &channel, size_t payload) {
        channel.credit_owed += cost(static_cast<int64_t>(payload));
    }
    // Like owe(), for callers that perhaps send no envelope to the peer soon. Once half of all credit is
    // owed, an envelope of its own returns the credit.
    void consumed(Channel &channel, size_t payload) {
        owe(channel, payload);
        if (channel.credit_owed * 2 >= credit_[channel.stranger]) return_credit(channel);
    }
    // Adds the credit that an envelope from the peer has returned.
    static void returned(Channel &channel, uint16_t units) {
        channel.credit_left += units * static_cast<int64_t>(credit_unit);
    }

    // Counts a message that has been sent. To be called once for each message, after the message or its offer
    // was sent.
    static void count(Channel &channel, const MatchKey &key) {
        ++channel.sent;
        if (channel.listener) [[unlikely]] tell_listener(channel, key.context, key.rank, key.tag);
    }

private:
    struct Control;  // a copy of a control envelope that found no room

    // The key is passed as three values, so that the caller can keep it in registers if there is no listener.
    static void tell_listener(Channel &channel, uint64_t context, int32_t rank, int32_t tag);

    static int64_t credit_to_return(const Channel &channel) {
        return std::min<int64_t>(channel.credit_owed / static_cast<int64_t>(credit_unit), UINT16_MAX);
    }
    void wait_for_room(Channel &channel, Outgoing &outgoing);
    void stop_waiting(Channel &channel);
    void return_credit(Channel &channel);
    int flush(Channel &channel);
    static int flush_all(Task &task);
    static bool flush_control(Outgoing &outgoing);
    static bool flush_credit(Outgoing &outgoing);

    Engine &engine_;
    const int64_t credit_[2];  // of a peer, of a stranger; both processes use the same value
    bool rings_ = true;
    Tally<size_t> waiting_;  // number of channels in which something waits
    List<Channel, &Channel::waiting_hook> waiting_list_;
};

}  // namespace lanyard
