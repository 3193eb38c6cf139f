// Decides when receives are announced over networks, and sends the announcements (receive_advert.h).
#include "p2p/receive_advert.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"

namespace lanyard {

namespace {

// After announced_in_vain unused announcements in a row, only every try_every-th receive is announced.
constexpr uint32_t announced_in_vain = 8, try_every = 64;

struct AdvertPayload {
    uint64_t receive_id;
    uint64_t received;  // how many messages of the peer had arrived
};
static_assert(sizeof(AdvertPayload) <= inline_payload);

}  // namespace

void set_announcing(const Endpoint &endpoint, Peer &peer) {
    const std::string &wanted = endpoint.settings.write_protocol;
    peer.announced_from = UINT64_MAX;
    peer.claims = peer.path->memory().shared_word(endpoint.own_peer, 0) != nullptr;
    if (wanted == "off" || !(peer.claims || peer.path->info.bulk_follows)) return;
    peer.announced_from = peer.eager_limit + 1;
    if (!peer.claims && wanted == "auto")
        peer.announced_from = std::max<uint64_t>(peer.announced_from, peer.first_limit + 1);
}

bool worth_announcing(const Settings &settings, Peer &peer) {
    return settings.write_protocol != "auto" || peer.announcing.ask(announced_in_vain, try_every);
}

void ReceiveAdverts::announce(ReceiveOperation &receive) {
    Peer &peer = endpoint_.peers[receive.peer];
    if (!worth_announcing(endpoint_.settings, peer)) return;
    peer.announcing.in_vain();  // taken back when a message names the receive
    ++endpoint_.counts.announced;
    AdvertPayload payload{receives_.name(receive), peer.messages_received};
    Envelope envelope = message_envelope(receive, EnvelopeKind::announcement, receive.buffer.bytes(), 0);
    envelope.flags = receive.buffer.contiguous() ? flag_in_place : 0;
    log(LogLevel::trace, "p2p", "peer %u: receive %#llx of %lld bytes announced", receive.peer,
        static_cast<unsigned long long>(payload.receive_id), static_cast<long long>(receive.buffer.bytes()));
    endpoint_.channels.post(peer, envelope, &payload, sizeof payload);
}

bool hear_advert(Announcements &known, const Envelope &envelope, const std::byte *payload) {
    AdvertPayload said;
    std::memcpy(&said, payload, sizeof said);
    bool in_place = (envelope.flags & flag_in_place) != 0;
    return known.add(
        {{envelope.context, envelope.source, envelope.tag}, said.receive_id, envelope.length, in_place},
        said.received);
}

}  // namespace lanyard
