// Envelopes to each peer: in order, as room and credit allow. What the protocols stand on, and what else sends envelopes; called by the owner of
// the engine only.
//
// - Order. Envelopes to a peer leave in the order in which they were given to start() or post(). One that finds no room waits, and everything
//   newer behind it, whoever gives it; so who sends by itself (send(), the ring) asks first whether anything waits. What waits is tried again
//   at each step of the engine, which costs the number of channels that wait.
// - Credit. Payload of more than inline_payload bytes that is sent without being asked for costs credit: so many bytes, in units, as the
//   receiver may have to keep. It is bounded for each peer. What the program has taken there is owed to the sender, and returned in any
//   envelope that goes there, or by one of its own when half of all is owed. Envelopes themselves are never held back.
// - The end. A closed channel's path takes what is sent and lets it vanish (path.h), so nothing waits for ever; who sends a message asks first.
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

// Something owed to a peer for which there was no room yet.
struct Outgoing {
    Hook outgoing_hook;
    bool (*flush)(Outgoing &) = nullptr;  // false: still no room
};

// Told of each message to a peer, with its key, while it wants to be.
class SentListener {
public:
    virtual void message_sent(const MatchKey &key) = 0;

protected:
    ~SentListener() = default;
};

class Channels;

// The way to one peer. What short messages need comes first. Must not move once it is open.
struct Channel {
    RingWriter *ring = nullptr;        // for what fits into a line of it; nullptr where that is not all there is to do
    int64_t credit_left = 0;           // bytes of payload it may still be sent
    int64_t credit_owed = 0;           // bytes consumed here, to be returned
    uint64_t sent = 0;                 // messages
    SentListener *listener = nullptr;  // to those
    Path *path = nullptr;
    uint32_t number = 0;    // of the peer
    bool waiting = false;   // something is outgoing
    bool closed = false;    // the peer is lost
    bool stranger = false;  // it is of another job

    bool is_clear() const { return outgoing.empty(); }

    // The rest is the Channels' own.
    struct CreditReturn : Outgoing {
        Channels *channels = nullptr;
        Channel *channel = nullptr;
    };
    List<Outgoing, &Outgoing::outgoing_hook> outgoing;
    Hook waiting_hook;  // in the list of those that wait, but while it is being flushed
    CreditReturn credit_return;  // its place in the queue when credit must travel alone
};

// Bytes of payload that may be sent to a peer; and to a stranger, who does not know how many peers this process has.
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
    // May envelopes be written straight into a peer's ring, that is, need nothing be done for each message? Of all channels; each is then
    // to be told by choose_ring().
    void allow_rings(bool allowed) { rings_ = allowed; }
    void choose_ring(Channel &channel) const;
    void close(Channel &channel);

    // One envelope, with the credit owed to the peer: `full` where there is no room. Only while the channel is_clear(), or in a flush().
    Sent send(Channel &channel, Envelope &envelope, Payload payload) {
        if (channel.credit_owed == 0) return channel.path->send(channel.number, envelope, payload);
        int64_t units = credit_to_return(channel);
        envelope.credit = static_cast<uint16_t>(units);
        Sent result = channel.path->send(channel.number, envelope, payload);
        if (result == Sent::done) channel.credit_owed -= units * static_cast<int64_t>(credit_unit);
        return result;
    }
    Sent send_kept(Channel &channel, Envelope &envelope, const KeptPayload &payload);
    // Flushes it now or, in its turn, when there is room.
    void start(Channel &channel, Outgoing &outgoing) {
        if (!channel.outgoing.empty() || !outgoing.flush(outgoing)) wait_for_room(channel, outgoing);
    }
    // It waits, and is not to be sent any more.
    void withdraw(Channel &channel, Outgoing &outgoing);
    // A control envelope with at most inline_payload bytes, now or when there is room.
    void post(Channel &channel, const Envelope &envelope, const void *payload, size_t size);
    size_t waiting() const { return waiting_; }

    // What a payload costs.
    static int64_t cost(int64_t bytes) {
        if (bytes <= static_cast<int64_t>(inline_payload)) return 0;
        constexpr int64_t unit = credit_unit;
        return (bytes + unit - 1) / unit * unit;
    }
    // The program has taken eager payload: the peer may send as much again, and learns it with the next envelope.
    static void owe(Channel &channel, size_t payload) { channel.credit_owed += cost(static_cast<int64_t>(payload)); }
    // The same where there may be no next one for long.
    void consumed(Channel &channel, size_t payload) {
        owe(channel, payload);
        if (channel.credit_owed * 2 >= credit_[channel.stranger]) return_credit(channel);
    }
    // An envelope has come with so much.
    static void returned(Channel &channel, uint16_t units) { channel.credit_left += units * static_cast<int64_t>(credit_unit); }

    // A message has been sent.
    static void count(Channel &channel, const MatchKey &key) {
        ++channel.sent;
        if (channel.listener) [[unlikely]] tell_listener(channel, key.context, key.rank, key.tag);
    }

private:
    struct Control;  // an envelope that found no room

    // The key in pieces, so that it needs no memory where nobody listens.
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
    const int64_t credit_[2];  // of a peer, of a stranger; either side counts on the same
    bool rings_ = true;
    Tally<size_t> waiting_;  // channels; the list has the same
    List<Channel, &Channel::waiting_hook> waiting_list_;
};

}  // namespace lanyard
