// Holds what all protocols of one process share: the peers and the channels to them, the ids by which peers
// answer, and counts. Each protocol holds a reference to the process's Endpoint, and includes the headers
// only of the protocols that it uses.
// Thread rule: the owner of the engine.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/growing.h"
#include "base/processes.h"
#include "base/tally.h"
#include "config/settings.h"
#include "engine/engine.h"
#include "p2p/channel.h"
#include "p2p/losses.h"
#include "p2p/mapped_offers.h"
#include "p2p/operation.h"
#include "p2p/shared_words.h"
#include "p2p/target.h"
#include "p2p/traffic.h"
#include "p2p/unexpected.h"
#include "p2p/worth_trying.h"

namespace lanyard {

// The size is a power of two, because the address of a peer is computed from its number for each message. A
// peer does not move when others are added.
struct alignas(256) Peer : Channel {
    uint64_t messages_received = 0;
    ReceiveOperation *arriving = nullptr;  // the receive into which the peer's payload now arrives in parts
    uint64_t announced_from = UINT64_MAX;  // receives of fewer bytes are not announced; UINT64_MAX: none is
    // receive_now() looks for the peer's next message if its buffer has at most this many bytes; -1: never.
    int64_t shown_to = -1;
    uint32_t eager_limit = 0;
    MappedOffers mapped_offers;
    uint32_t first_limit = 0;  // the most bytes that may travel with an offer
    WorthTrying announcing, asking_for_push;
    // Announced receives are claimed by shared words, in both directions (shm_advert.h).
    bool claims = false;
};
static_assert(sizeof(Peer) == 256);

// Counts since the start. An observer that adds up `sent` and `matched` of all ranks can prove that no
// message is in flight.
struct MessageCounts {
    Tally<uint64_t> sent, matched;
    Tally<uint64_t> rendezvous;  // sends begun as a rendezvous or as a write
    Tally<uint64_t> retained;    // blocking sends that ended with a copy of their message
    Tally<uint64_t> announced;   // receives announced to their senders
    // Announcements from peers that were of no use: too late, the list was full, or the claim failed.
    Tally<uint64_t> crossed;
    Tally<uint64_t> announcements_used;  // messages sent to a receive that was announced
    Tally<uint64_t> bytes_written;       // of the messages counted in announcements_used
};

inline Envelope message_envelope(const MatchKey &key, EnvelopeKind kind, int64_t bytes, uint32_t check) {
    return {.context = key.context,
            .source = key.rank,
            .tag = key.tag,
            .length = static_cast<uint64_t>(bytes),
            .kind = kind,
            .flags = 0,
            .credit = 0,
            .check = check};
}

struct Endpoint {
    // `peer_count`: the number of peers at first, all of one job.
    Endpoint(Engine &own_engine, const Settings &own_settings, uint32_t own_number, uint32_t peer_count,
             Credit credit)
        : engine(own_engine),
          settings(own_settings),
          own_peer(own_number),
          channels(own_engine, credit),
          peers(peer_count) {
        for (uint32_t number = 0; number < peer_count; ++number) LANYARD_MUST(append_peer(false) == number);
    }
    Endpoint(const Endpoint &) = delete;
    Endpoint &operator=(const Endpoint &) = delete;

    Engine &engine;
    const Settings &settings;
    const uint32_t own_peer;
    Channels channels;
    Growing<Peer> peers;
    TargetTable targets;
    SharedWords words;
    Losses losses;
    MessageCounts counts;
    Traffic *traffic = nullptr;  // nullptr unless a profile counts traffic

    // Adds a peer and returns its number, which is the next free one, or `nobody` if there is no room.
    // `stranger`: the peer belongs to another job.
    uint32_t append_peer(bool stranger) {
        auto number = static_cast<uint32_t>(peers.size());
        Peer *peer = number < Unexpected::most_peers ? peers.append() : nullptr;
        if (!peer) return nobody;
        channels.open(*peer, number, stranger);
        return number;
    }

    // Sends a control envelope to the peer, for the peer's target with this `id` (of the kind `cancel`: about
    // this process's send with this `id`). `size`: at most inline_payload.
    void reply(uint32_t peer, EnvelopeKind kind, uint64_t id, int32_t tag, const void *payload = nullptr,
               size_t size = 0) {
        Envelope envelope{};
        envelope.context = id;
        envelope.tag = tag;
        envelope.kind = kind;
        channels.post(peers[peer], envelope, payload, size);
    }

    // Counts this operation as under way from now on, until finish() or fail(): it needs progress while the
    // program computes (Progress::begin_under_way). No effect if it is counted already.
    void begin_under_way(MessageOperation &operation) {
        if (operation.under_way) return;
        operation.under_way = true;
        engine.begin_under_way();
    }
    void finish(MessageOperation &operation) {
        if (operation.under_way) {
            operation.under_way = false;
            engine.end_under_way();
        }
        operation.completion.finish();
    }
    void fail(MessageOperation &operation, Error error) {
        operation.error = error;
        finish(operation);
    }
    // If the peer has failed, ends the send with an error and returns true.
    bool fails_with_peer(SendOperation &send) {
        if (!peers[send.peer].closed) return false;
        fail(send, losses.tell(send.peer, "the process to send to"));
        return true;
    }

    void count_sent(Peer &peer, const MatchKey &key, Protocol protocol, int64_t bytes) {
        ++counts.sent;
        Channels::count(peer, key);
        if (traffic) [[unlikely]] count_traffic(peer, protocol, static_cast<uint64_t>(bytes));
    }
    [[gnu::noinline]] void count_traffic(const Peer &peer, Protocol protocol, uint64_t bytes) {
        if (protocol == Protocol::eager && bytes <= inline_payload) protocol = Protocol::short_message;
        traffic->sent(peer.number, peer.path->info.name, protocol, bytes);
    }

    // Can this process access this many bytes at that address of the peer's memory, by system calls or
    // because they are mapped here?
    bool touches(uint32_t peer, uint64_t address, uint64_t bytes) const {
        Path &path = *peers[peer].path;
        return path.memory().touches(peer) || path.memory().mapped(peer, address, bytes);
    }
    // Can the peer presumably access this contiguous buffer of this process? Access by system calls is judged
    // by whether this process can access the peer's memory. The peer checks again before it copies.
    bool touched_by(uint32_t peer, const Buffer &buffer) const {
        const Peer &other = peers[peer];
        return other.path->memory().touches(peer) || mapped_by(other, buffer);
    }
    // Can the peer map this contiguous buffer of this process?
    bool mapped_by(const Peer &peer, const Buffer &buffer) const {
        auto address = reinterpret_cast<uintptr_t>(buffer.base);
        return peer.path->memory().mapped(own_peer, address, static_cast<size_t>(buffer.bytes()));
    }
    // Should a message that could be sent eagerly be offered instead (mapped_offers.h)?
    bool better_offered(Peer &peer, const Buffer &buffer) const {
        if (!peer.mapped_offers.may_suit(buffer.bytes())) [[likely]]
            return false;
        return buffer.contiguous() && mapped_by(peer, buffer) && peer.mapped_offers.next_is_offered();
    }
};

// Marks the time during which the data of one long message is under way. traffic.h adds up this time.
class Moving {
public:
    void begin(Traffic *traffic) {
        if (!traffic || moving_) return;
        moving_ = true;
        traffic->begin_moving();
    }
    void end(Traffic *traffic) {
        if (moving_ && traffic) traffic->end_moving();
        moving_ = false;
    }

private:
    bool moving_ = false;
};

}  // namespace lanyard
