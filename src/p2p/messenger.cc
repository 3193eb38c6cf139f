// Envelopes in order: what finds no room waits in its peer's queue, and everything newer behind it; dispatch of what comes.
#include "p2p/messenger.h"

#include <cstring>
#include <string>
#include <utility>

#include "base/events.h"
#include "base/log.h"

namespace lanyard {

struct Messenger::Reply : Outgoing {
    uint32_t peer;
    Envelope envelope;
    size_t size;
    std::byte payload[inline_payload];
};

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
      credit_(credit_of_each(settings, peers)),
      own_peer_(own_peer),
      peers_(peers) {
    LANYARD_MUST(peers <= Unexpected::most_peers);
    engine.set_sink(*this);
    flush_task_.run = flush_all;
    flush_task_.messenger = this;
    for (uint32_t number = 0; number < peers; ++number) {
        Peer &peer = peers_[number];
        peer.credit_left = credit_;
        peer.credit_return.peer = number;
        peer.credit_return.flush = flush_credit;
    }
}

void Messenger::route(uint32_t number, Path &path) {
    peers_[number].path = &path;
    if (path.max_shown() > 0) peers_[number].shown_to = static_cast<int64_t>(path.max_shown());
    set_limits(peers_[number]);
}

void Messenger::set_limits(Peer &peer) {
    const Path &path = *peer.path;
    size_t limit = settings_.eager_limit < 0 ? path.usual_eager_limit() : static_cast<size_t>(settings_.eager_limit);
    peer.eager_limit = std::min(limit, path.max_eager());
    if (path.loses_bulk() && path.max_eager() > sizeof(RendezvousOffer))
        peer.first_limit = std::min(static_cast<size_t>(settings_.first_bytes), path.max_eager() - sizeof(RendezvousOffer));
    set_announcing(peer);
    choose_ring(peer);
}

// To be called when any of this changes: messages must not overtake those that wait, nor go to a lost peer; they are to be checked or counted.
void Messenger::choose_ring(Peer &peer) {
    bool plain = !peer.waiting && !peer.lost && !settings_.check && !traffic_;
    peer.ring = plain ? peer.path->ring_to(static_cast<uint32_t>(&peer - peers_.data())) : nullptr;
}

void Messenger::set_traffic(Traffic *traffic) {
    traffic_ = traffic;
    for (Peer &peer : peers_)
        if (peer.path) choose_ring(peer);
}

void Messenger::limits_changed() {
    for (Peer &peer : peers_)
        if (peer.path) set_limits(peer);
}

Sent Messenger::transmit_kept(Peer &peer, uint32_t number, Envelope &envelope, const KeptPayload &payload) {
    int64_t units = std::min<int64_t>(peer.credit_owed / static_cast<int64_t>(credit_unit), UINT16_MAX);
    envelope.credit = static_cast<uint16_t>(units);
    Sent result = peer.path->send_kept(number, envelope, payload);
    if (result != Sent::full) peer.credit_owed -= units * static_cast<int64_t>(credit_unit);
    return result;
}

void Messenger::start(uint32_t number, Outgoing &outgoing) {
    Peer &peer = peers_[number];
    if (!peer.outgoing.empty() || !outgoing.flush(*this, outgoing)) wait_for_room(peer, outgoing);
}

void Messenger::wait_for_room(Peer &peer, Outgoing &outgoing) {
    if (log_enabled(LogLevel::trace))
        log(LogLevel::trace, "p2p", "peer %zu: no room, or something older waits: queued", static_cast<size_t>(&peer - peers_.data()));
    peer.outgoing.push_back(outgoing);
    if (peer.waiting) return;
    peer.waiting = true;
    choose_ring(peer);
    ++waiting_peers_;
    engine_.ready(flush_task_);
}

void Messenger::stop_waiting(Peer &peer) {
    if (!peer.waiting || !peer.outgoing.empty()) return;
    peer.waiting = false;
    choose_ring(peer);
    --waiting_peers_;
}

int Messenger::flush_all(Task &task) {
    Messenger &self = *static_cast<FlushTask &>(task).messenger;
    int work = 0;
    for (Peer &peer : self.peers_) {
        // What is flushed may complete, and its continuation may send more to the same peer.
        while (Outgoing *next = peer.outgoing.front()) {
            next->outgoing_hook.unlink();
            if (!next->flush(self, *next)) {
                peer.outgoing.push_front(*next);
                break;
            }
            ++work;
        }
        self.stop_waiting(peer);
    }
    if (self.waiting_peers_) self.engine_.ready(task);
    return work;
}

void Messenger::reply(uint32_t number, EnvelopeKind kind, uint64_t id, int32_t tag, const void *payload, size_t size) {
    post(number, {.context = id, .source = 0, .tag = tag, .length = 0, .kind = kind, .flags = 0, .credit = 0, .check = 0}, payload, size);
}

void Messenger::tell_call(uint32_t number, EnvelopeKind kind, const MatchKey &key, uint32_t check) {
    if (peers_[number].lost) return;
    Envelope envelope{};
    envelope.context = key.context;
    envelope.source = key.rank;
    envelope.tag = key.tag;
    envelope.kind = kind;
    envelope.check = check;
    post(number, envelope, nullptr, 0);
}

// Sends a control envelope, now or when there is room.
void Messenger::post(uint32_t number, const Envelope &envelope, const void *payload, size_t size) {
    Peer &peer = peers_[number];
    Envelope sent = envelope;
    if (peer.outgoing.empty() && transmit(peer, number, sent, {static_cast<const std::byte *>(payload), size, nullptr}) == Sent::done) return;
    auto *reply = new Reply;
    reply->flush = flush_reply;
    reply->peer = number;
    reply->envelope = envelope;
    reply->size = size;
    if (size) std::memcpy(reply->payload, payload, size);
    wait_for_room(peer, *reply);
}

bool Messenger::flush_reply(Messenger &self, Outgoing &outgoing) {
    Reply &reply = static_cast<Reply &>(outgoing);
    Envelope envelope = reply.envelope;
    if (self.transmit(self.peers_[reply.peer], reply.peer, envelope, {reply.payload, reply.size, nullptr}) != Sent::done) return false;
    delete &reply;
    return true;
}

bool Messenger::flush_credit(Messenger &self, Outgoing &outgoing) {
    uint32_t number = static_cast<CreditReturn &>(outgoing).peer;
    Envelope envelope{.context = 0, .source = 0, .tag = 0, .length = 0, .kind = EnvelopeKind::credit, .flags = 0, .credit = 0, .check = 0};
    return self.transmit(self.peers_[number], number, envelope, {}) == Sent::done;
}

// Eager payload has been taken by the program: the peer may send as much again, and learns it with the next envelope.
void Messenger::owe_credit(Peer &peer, size_t payload) {
    if (payload > inline_payload) peer.credit_owed += static_cast<int64_t>((payload + credit_unit - 1) / credit_unit * credit_unit);
}

// The same where there may be no next one for long.
void Messenger::consumed(uint32_t number, size_t payload) {
    Peer &peer = peers_[number];
    owe_credit(peer, payload);
    if (peer.credit_owed * 2 >= credit_ && !peer.credit_return.outgoing_hook.linked()) start(number, peer.credit_return);
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
