// What there is of each peer, and dispatch of what comes.
#include "p2p/messenger.h"

#include <cstring>
#include <string>
#include <utility>

#include "base/events.h"
#include "base/log.h"

namespace lanyard {

namespace {

// Enough for a window of messages in which nobody waits for an answer; all peers together may fill all_credit with what is unexpected, or
// least_credit each.
constexpr int64_t all_credit = 64 << 20, most_credit = 4 << 20, least_credit = 512 << 10;

int64_t credit_of_each(const Settings &settings, uint32_t peers) {
    if (settings.eager_credit >= 0) return settings.eager_credit;
    return std::clamp(all_credit / std::max<int64_t>(peers, 1), least_credit, most_credit);
}

}  // namespace

Messenger::Messenger(Engine &engine, const Settings &settings, uint32_t own_peer, uint32_t peers)
    : engine_(engine),
      settings_(settings),
      own_peer_(own_peer),
      channels_(engine, credit_of_each(settings, peers)),
      peers_(peers) {
    LANYARD_MUST(peers <= Unexpected::most_peers);
    engine.set_sink(*this);
    allow_rings();
    for (uint32_t number = 0; number < peers; ++number) channels_.open(peers_[number], number);
}

void Messenger::route(uint32_t number, Path &path) {
    Peer &peer = peers_[number];
    channels_.route(peer, path);
    if (path.max_shown() > 0) peer.shown_to = static_cast<int64_t>(path.max_shown());
    set_limits(peer);
}

void Messenger::set_limits(Peer &peer) {
    const Path &path = *peer.path;
    size_t limit = settings_.eager_limit < 0 ? path.usual_eager_limit() : static_cast<size_t>(settings_.eager_limit);
    peer.eager_limit = std::min(limit, path.max_eager());
    if (path.loses_bulk() && path.max_eager() > sizeof(RendezvousOffer))
        peer.first_limit = std::min(static_cast<size_t>(settings_.first_bytes), path.max_eager() - sizeof(RendezvousOffer));
    set_announcing(peer);
    channels_.choose_ring(peer);
}

// Where messages are checked or counted each is more than a line in a ring.
void Messenger::allow_rings() { channels_.allow_rings(!settings_.check && !traffic_); }

void Messenger::set_traffic(Traffic *traffic) {
    traffic_ = traffic;
    allow_rings();
    for (Peer &peer : peers_)
        if (peer.path) channels_.choose_ring(peer);
}

void Messenger::limits_changed() {
    allow_rings();
    for (Peer &peer : peers_)
        if (peer.path) set_limits(peer);
}

void Messenger::reply(uint32_t number, EnvelopeKind kind, uint64_t id, int32_t tag, const void *payload, size_t size) {
    channels_.post(peers_[number], {.context = id, .source = 0, .tag = tag, .length = 0, .kind = kind, .flags = 0, .credit = 0, .check = 0},
                   payload, size);
}

void Messenger::tell_call(uint32_t number, EnvelopeKind kind, const MatchKey &key, uint32_t check) {
    if (peers_[number].closed) return;
    Envelope envelope{};
    envelope.context = key.context;
    envelope.source = key.rank;
    envelope.tag = key.tag;
    envelope.kind = kind;
    envelope.check = check;
    channels_.post(peers_[number], envelope, nullptr, 0);
}

// What is no message of the program's, or of a collective.
void Messenger::answer(uint32_t number, const Envelope &envelope, const std::byte *payload) {
    switch (envelope.kind) {
        case EnvelopeKind::eager:
        case EnvelopeKind::rendezvous: break;
        case EnvelopeKind::clear_to_send: {
            if ((envelope.flags & flag_if_unclaimed) && !claim_push(number, envelope)) break;
            ClearToSend clear;
            std::memcpy(&clear, payload, sizeof clear);
            cleared(envelope.context, clear, envelope.tag == 1);
            break;
        }
        case EnvelopeKind::finished:
            log(LogLevel::trace, "p2p", "peer %u: rendezvous %#llx finished: the receiver has everything", number,
                static_cast<unsigned long long>(envelope.context));
            received_by_peer(envelope.context);
            break;
        case EnvelopeKind::help: {
            HelpRequest request;
            std::memcpy(&request, payload, sizeof request);
            help(number, envelope.context, request);
            break;
        }
        case EnvelopeKind::helped: helped(envelope.context, envelope.tag == 1); break;
        case EnvelopeKind::credit: break;
        case EnvelopeKind::announcement: heard_announcement(number, envelope, payload); break;
        case EnvelopeKind::awaiting:
        case EnvelopeKind::calls:
            if (observer_) observer_->heard(envelope);
            break;
        case EnvelopeKind::cancel: withdraw(number, envelope.context); break;
        case EnvelopeKind::cancel_reply: withdrawn(envelope.context, envelope.tag == 1); break;
    }
}

// No receive takes it yet.
void Messenger::store(uint32_t number, const Envelope &envelope, const std::byte *payload, size_t size) {
    unexpected_.add(number, envelope, payload, size);
    if ((envelope.context & collective_bit) && observer_) observer_->heard(envelope);
    if (event_wanted(Event::unexpected_message)) [[unlikely]]
        tell_event(Event::unexpected_message, envelope.context, {envelope.source, envelope.tag, static_cast<int64_t>(envelope.length)});
}

// There is a new connection to the peer: what came in bulk and is not complete is asked for again; what goes in bulk waits for that, but
// for what was not asked for, which begins again.
void Messenger::renewed(uint32_t number) {
    transfers_.each([&](Transfer &transfer) {
        if (transfer.asked_for_bulk && transfer.data_peer == number) clear_rest(transfer);
        else if (transfer.announced && transfer.state == Transfer::State::offered && transfer.peer == number) push_from_first(transfer);
        else if (transfer.run == push_on && transfer.peer == number && transfer.hook.linked()) transfer.hook.unlink();
    });
}

// Peers take part in it from now on, so it goes on without the program.
void Messenger::begin_under_way(Transfer &transfer) {
    if (transfer.under_way) return;
    transfer.under_way = true;
    engine_.begin_under_way();
}

// Both sides know of each other, and its bytes are on their way.
void Messenger::begin_moving(Transfer &transfer) {
    if (traffic_ && transfer.state != Transfer::State::moving) traffic_->begin_moving();
    transfer.state = Transfer::State::moving;
}

// Of a transfer that was named to a peer, or something else that is undone here.
void Messenger::finish_long(Transfer &transfer) {
    if (traffic_ && transfer.state == Transfer::State::moving) [[unlikely]] traffic_->end_moving();
    if (transfer.watched) {
        transfer.watched = false;
        ways_.end(engine_.read_now_ns());
    }
    if (transfer.under_way) {
        transfer.under_way = false;
        engine_.end_under_way();
    }
    bool offered = transfer.state == Transfer::State::offered;
    if (transfer.announced && !offered) end_announcement(transfer, true);
    transfer.announced = false;
    if (transfer.id) {
        transfers_.remove(transfer.id);
        transfer.id = 0;
    }
    transfer.word = nullptr;  // a sender that helps may be told that all has come before it finds its word over
    transfer.asked_for_bulk = transfer.written = transfer.received_by_peer = false;
    transfer.in_flight = 0;
    transfer.data_peer = no_peer;
    transfer.state = Transfer::State::idle;
    if (transfer.hook.linked()) transfer.hook.unlink();  // it may be a task too
    transfer.completion.finish();
}

void Messenger::fail(Transfer &transfer, Error error) {
    transfer.error = error;
    finish(transfer);
}

}  // namespace lanyard
