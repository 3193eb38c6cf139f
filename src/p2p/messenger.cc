// Decides by which protocol a message is sent (messenger.h).
#include "p2p/messenger.h"

#include <algorithm>
#include <utility>

#include "datatype/signature.h"
#include "p2p/receive_advert.h"

namespace lanyard {

namespace {

// Each peer has enough credit for the messages that a sender typically has under way, so that the sender need
// not wait for credit to return. Unexpected messages of all peers together take at most all_credit bytes, or
// least_credit bytes for each peer if that is more.
constexpr int64_t all_credit = 64 << 20, most_credit = 4 << 20, least_credit = 512 << 10;

// The number of peers that is assumed for the credit of a stranger (channel.h). A stranger cannot know how
// many peers this process has. With this number, a stranger gets the least credit.
constexpr uint32_t any_number = UINT32_MAX;

int64_t credit_of_each(const Settings &settings, uint32_t peers) {
    if (settings.eager_credit >= 0) return settings.eager_credit;
    return std::clamp(all_credit / std::max<int64_t>(peers, 1), least_credit, most_credit);
}

}  // namespace

Messenger::Messenger(Engine &engine, const Settings &settings, uint32_t own_peer, uint32_t peers)
    : endpoint_(engine, settings, own_peer, peers,
                {credit_of_each(settings, peers), credit_of_each(settings, any_number)}),
      receiver_(endpoint_), eager_(endpoint_), rendezvous_(endpoint_), retention_(endpoint_),
      dispatch_(endpoint_, receiver_, retention_) {
    engine.set_sink(dispatch_);
    dispatch_.bind(EnvelopeKind::announcement, rendezvous_);
    dispatch_.bind(EnvelopeKind::cancel, receiver_);
    allow_rings();
}

void Messenger::route(uint32_t number, Path &path) {
    Peer &peer = endpoint_.peers[number];
    endpoint_.channels.route(peer, path);
    set_limits(peer);
}

void Messenger::set_limits(Peer &peer) {
    Path &path = *peer.path;
    const Settings &settings = endpoint_.settings;
    size_t limit =
        settings.eager_limit < 0 ? path.info.eager_limit : static_cast<size_t>(settings.eager_limit);
    peer.eager_limit = static_cast<uint32_t>(std::min(limit, path.info.max_eager));
    bool chosen_by_user = settings.eager_limit >= 0 || settings.copies == "twice";
    peer.mapped_offers.allow(!chosen_by_user && peer.number != endpoint_.own_peer,
                             endpoint_.engine.oversubscribed());
    size_t most_first = path.info.loses_bulk
                            ? path.info.max_eager - std::min(path.info.max_eager, sizeof(RendezvousOffer))
                            : 0;
    peer.first_limit = static_cast<uint32_t>(std::min(static_cast<size_t>(settings.first_bytes), most_first));
    peer.shown_to = path.short_lane().max_shown() > 0 && !settings.check
                        ? static_cast<int64_t>(path.short_lane().max_shown())
                        : -1;
    set_announcing(endpoint_, peer);
    endpoint_.channels.choose_ring(peer);
}

// Allows rings unless messages are checked or counted, because each message then needs more work than a write
// into a ring.
void Messenger::allow_rings() {
    endpoint_.channels.allow_rings(!endpoint_.settings.check && !endpoint_.traffic);
}

void Messenger::set_traffic(Traffic *traffic) {
    endpoint_.traffic = traffic;
    allow_rings();
    for (Peer &peer : endpoint_.peers)
        if (peer.path) endpoint_.channels.choose_ring(peer);
}

void Messenger::limits_changed() {
    allow_rings();
    for (Peer &peer : endpoint_.peers)
        if (peer.path) set_limits(peer);
}

bool Messenger::send_eager_now(uint32_t number, MatchKey key, const Buffer &buffer, uint32_t check) {
    Peer &peer = endpoint_.peers[number];
    if (!peer.is_clear() || !Eager::fits(peer, buffer.bytes()) || peer.closed) return false;
    if (endpoint_.better_offered(peer, buffer)) return false;
    if (settings().check && !check) check = type_signature(buffer, buffer.bytes());
    return eager_.send_now(peer, key, buffer, check);
}

bool Messenger::deliver_to_self(MatchKey key, const Buffer &buffer) {
    Peer &self = endpoint_.peers[own_peer()];
    int64_t bytes = buffer.bytes();
    bool at_once = self.is_clear() && Eager::fits(self, bytes) && buffer.contiguous();
    // If the path has frames to deliver, earlier messages may be among them, and this message must not
    // overtake those.
    if (!at_once || settings().check || self.path->deadline_ns() == 0) return false;
    // The credit that this process owes itself returns to it.
    self.credit_left += std::exchange(self.credit_owed, 0) - Channels::cost(bytes);
    endpoint_.count_sent(self, key, Protocol::eager, bytes);
    receiver_.message(self, message_envelope(key, EnvelopeKind::eager, bytes, 0), buffer.base,
                      static_cast<size_t>(bytes));
    return true;
}

void Messenger::send(SendOperation &send) {
    endpoint_.engine.check_owner();
    send.error = {};
    send.cancelled = false;
    if (endpoint_.fails_with_peer(send)) return;
    int64_t bytes = send.buffer.bytes();
    if (settings().check && !(send.context & collective_bit)) send.check = type_signature(send.buffer, bytes);
    Peer &peer = endpoint_.peers[send.peer];
    bool may_be_eager = send.mode != SendMode::synchronous && Eager::fits(peer, bytes);
    if (may_be_eager && !endpoint_.better_offered(peer, send.buffer)) return eager_.send(send);
    send.mapped = may_be_eager;
    rendezvous_.send(send);
}

void Messenger::receive_taken(ReceiveOperation &receive, Unexpected &message) {
    endpoint_.engine.check_owner();
    receive.error = {};
    receiver_.receive_taken(receive, message);
}

void Messenger::unasked(MessageOperation &operation, bool is_send) {
    endpoint_.engine.check_owner();
    bool aborted = operation.error.code() == static_cast<int>(ErrorClass::proc_aborted);
    bool of_loss = aborted && operation.peer != no_peer && endpoint_.peers[operation.peer].closed;
    operation.error.discard();
    operation.error = {};
    if (!of_loss) return;
    if (is_send) endpoint_.losses.add(operation.peer, static_cast<uint64_t>(operation.buffer.bytes()));
    else endpoint_.losses.untell(operation.peer);
}

}  // namespace lanyard
