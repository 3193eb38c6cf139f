// Envelopes to each peer: in order, as room and credit allow. The protocols, and all other code that sends
// envelopes, use this.
//
// - Order. Envelopes to a peer leave in the order in which they were given to start() or post(). An envelope
//   that finds no room waits, and everything newer waits behind it, whatever its origin. Code that sends
//   directly (send(), the ring) must therefore first check that nothing waits. Waiting envelopes are retried
//   on each turn of the engine. This costs time in proportion to the number of waiting channels.
// - Credit. Payload of more than inline_payload bytes that was not requested costs credit: the bytes, rounded
//   up to units, that the receiver may have to store. Each peer has a bounded credit. What the program has
//   taken is owed to the sender. It is returned in any envelope to that peer, or in an envelope of its own
//   once half of all credit is owed. Envelopes themselves are never held back.
// - The end. The path of a closed channel accepts everything and discards it (path.h), so nothing waits for
//   ever. Code that sends a message checks first whether the channel is closed.
// Thread rule: the owner of the engine.
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

// Something to be sent to a peer, for which there was no room yet.
struct Outgoing {
    Hook outgoing_hook;
    bool (*flush)(Outgoing &) = nullptr;  // false: still no room
};

// Notified of each message to a peer, with its key, while it is registered in the channel.
class SentListener {
public:
    virtual void message_sent(const MatchKey &key) = 0;

protected:
    ~SentListener() = default;
};

class Channels;

// The channel to one peer. What short messages need is first. It must not move once it is open.
struct Channel {
    RingWriter *ring = nullptr;        // for messages that fit a line of it; nullptr: sending needs more work
    int64_t credit_left = 0;           // bytes of payload that may still be sent to the peer
    int64_t credit_owed = 0;           // bytes consumed here, to be returned
    uint64_t sent = 0;                 // messages
    SentListener *listener = nullptr;  // notified of each of these messages
    Path *path = nullptr;
    uint32_t number = 0;    // of the peer
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
    Hook waiting_hook;           // in the list of waiting channels, except while it is being flushed
    CreditReturn credit_return;  // its place in the queue when credit must travel in an envelope of its own
};

// Bytes of payload that may be sent to a peer, and to a stranger, which cannot know how many peers this
// process has.
struct Credit {
    int64_t of_peer, of_stranger;
};

class Channels : private Task {
public:
    Channels(Engine &engine, Credit credit);
    Channels(const Channels &) = delete;
    Channels &operator=(const Channels &) = delete;

    void open(Channel &channel, uint32_t number, bool stranger);
    void route(Channel &channel, Path &path);
    // May envelopes be written straight into a peer's ring, that is, does a message need no other work?
    // Applies to all channels; choose_ring() must then be called for each.
    void allow_rings(bool allowed) { rings_ = allowed; }
    void choose_ring(Channel &channel) const;
    void close(Channel &channel);

    // Sends one envelope, with the credit owed to the peer. `full`: there is no room. Requires is_clear(), or
    // a call from flush().
    Sent send(Channel &channel, Envelope &envelope, Payload payload) {
        if (channel.credit_owed == 0) return channel.path->send(channel.number, envelope, payload);
        int64_t units = credit_to_return(channel);
        envelope.credit = static_cast<uint16_t>(units);
        Sent result = channel.path->send(channel.number, envelope, payload);
        if (result == Sent::done) channel.credit_owed -= units * static_cast<int64_t>(credit_unit);
        return result;
    }
    Sent send_kept(Channel &channel, Envelope &envelope, const KeptPayload &payload);
    // Flushes it now, or in its turn when there is room.
    void start(Channel &channel, Outgoing &outgoing) {
        if (!channel.outgoing.empty() || !outgoing.flush(outgoing)) wait_for_room(channel, outgoing);
    }
    // Removes something that waits and is not to be sent any more.
    void withdraw(Channel &channel, Outgoing &outgoing);
    // Sends a control envelope with at most inline_payload bytes, now or when there is room.
    void post(Channel &channel, const Envelope &envelope, const void *payload, size_t size);
    size_t waiting() const { return waiting_; }

    // What a payload costs.
    static int64_t cost(int64_t bytes) {
        if (bytes <= static_cast<int64_t>(inline_payload)) return 0;
        constexpr int64_t unit = credit_unit;
        return (bytes + unit - 1) / unit * unit;
    }
    // The program has taken eager payload, so the peer may send as much again. The next envelope returns the
    // credit.
    static void owe(Channel &channel, size_t payload) {
        channel.credit_owed += cost(static_cast<int64_t>(payload));
    }
    // The same, if the next envelope to the peer may be a long time away.
    void consumed(Channel &channel, size_t payload) {
        owe(channel, payload);
        if (channel.credit_owed * 2 >= credit_[channel.stranger]) return_credit(channel);
    }
    // An envelope has arrived with this credit.
    static void returned(Channel &channel, uint16_t units) {
        channel.credit_left += units * static_cast<int64_t>(credit_unit);
    }

    // A message has been sent.
    static void count(Channel &channel, const MatchKey &key) {
        ++channel.sent;
        if (channel.listener) [[unlikely]] tell_listener(channel, key.context, key.rank, key.tag);
    }

private:
    struct Control;  // an envelope that found no room

    // Takes the key in pieces, so that it stays in registers if there is no listener.
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
    const int64_t credit_[2];  // of a peer, of a stranger; both sides use the same value
    bool rings_ = true;
    Tally<size_t> waiting_;  // number of channels in the list
    List<Channel, &Channel::waiting_hook> waiting_list_;
};

}  // namespace lanyard
