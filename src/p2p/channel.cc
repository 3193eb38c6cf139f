// Queues envelopes for which a path has no room, and retries them (channel.h).
#include "p2p/channel.h"

#include <cstring>

#include "base/log.h"

namespace lanyard {

struct Channels::Control : Outgoing {
    Channels *channels;
    Channel *channel;
    Envelope envelope;
    size_t size;
    std::byte payload[inline_payload];
};

Channels::Channels(Engine &engine, Credit credit)
    : engine_(engine), credit_{credit.of_peer, credit.of_stranger} {
    run = flush_all;
}

void Channels::open(Channel &channel, uint32_t number, bool stranger) {
    channel.number = number;
    channel.stranger = stranger;
    channel.credit_left = credit_[stranger];
    channel.credit_return.channels = this;
    channel.credit_return.channel = &channel;
    channel.credit_return.flush = flush_credit;
}

void Channels::route(Channel &channel, Path &path) {
    channel.path = &path;
    choose_ring(channel);
}

// While a channel has waiting envelopes or is closed, it has no ring, so that no message overtakes a waiting
// one or goes to a failed peer.
void Channels::choose_ring(Channel &channel) const {
    bool plain = rings_ && !channel.waiting && !channel.closed;
    channel.ring = plain ? channel.path->short_lane().ring_to(channel.number) : nullptr;
}

void Channels::close(Channel &channel) {
    channel.closed = true;
    choose_ring(channel);
}

Sent Channels::send_kept(Channel &channel, Envelope &envelope, const KeptPayload &payload) {
    int64_t units = credit_to_return(channel);
    envelope.credit = static_cast<uint16_t>(units);
    Sent result = channel.path->send_kept(channel.number, envelope, payload);
    if (result != Sent::full) channel.credit_owed -= units * static_cast<int64_t>(credit_unit);
    return result;
}

void Channels::wait_for_room(Channel &channel, Outgoing &outgoing) {
    if (log_enabled(LogLevel::trace))
        log(LogLevel::trace, "p2p", "peer %u: no room, or something older waits: queued", channel.number);
    channel.outgoing.push_back(outgoing);
    if (channel.waiting) return;
    channel.waiting = true;
    waiting_list_.push_back(channel);
    choose_ring(channel);
    ++waiting_;
    engine_.ready(*this);
}

void Channels::stop_waiting(Channel &channel) {
    if (!channel.waiting || !channel.outgoing.empty()) return;
    channel.waiting = false;
    if (channel.waiting_hook.linked()) channel.waiting_hook.unlink();
    choose_ring(channel);
    --waiting_;
}

void Channels::withdraw(Channel &channel, Outgoing &outgoing) {
    outgoing.outgoing_hook.unlink();
    stop_waiting(channel);
}

// Flushes every channel that waits at the time of the call, once. A channel that begins to wait meanwhile is
// flushed by the next call.
int Channels::flush_all(Task &task) {
    Channels &self = static_cast<Channels &>(task);
    int work = 0;
    for (size_t left = self.waiting_; left > 0; --left) {
        Channel *channel = self.waiting_list_.pop_front();
        if (!channel) break;
        work += self.flush(*channel);
    }
    if (self.waiting_) self.engine_.ready(self);
    return work;
}

int Channels::flush(Channel &channel) {
    int work = 0;
    // An operation may complete in flush(), and its continuation may send more to the same peer or withdraw
    // waiting envelopes. So the loop begins with the first entry each time.
    while (Outgoing *next = channel.outgoing.front()) {
        next->outgoing_hook.unlink();
        if (!next->flush(*next)) {
            channel.outgoing.push_front(*next);
            break;
        }
        ++work;
    }
    stop_waiting(channel);
    if (channel.waiting && !channel.waiting_hook.linked()) waiting_list_.push_back(channel);
    return work;
}

void Channels::post(Channel &channel, const Envelope &envelope, const void *payload, size_t size) {
    Envelope sent = envelope;
    if (channel.is_clear() &&
        send(channel, sent, {static_cast<const std::byte *>(payload), size, nullptr}) == Sent::done)
        return;
    auto *control = new Control;
    control->flush = flush_control;
    control->channels = this;
    control->channel = &channel;
    control->envelope = envelope;
    control->size = size;
    if (size) std::memcpy(control->payload, payload, size);
    wait_for_room(channel, *control);
}

bool Channels::flush_control(Outgoing &outgoing) {
    auto &control = static_cast<Control &>(outgoing);
    Envelope envelope = control.envelope;
    if (control.channels->send(*control.channel, envelope, {control.payload, control.size, nullptr}) !=
        Sent::done)
        return false;
    delete &control;
    return true;
}

void Channels::tell_listener(Channel &channel, uint64_t context, int32_t rank, int32_t tag) {
    channel.listener->message_sent({context, rank, tag});
}

void Channels::return_credit(Channel &channel) {
    if (!channel.credit_return.outgoing_hook.linked()) start(channel, channel.credit_return);
}

bool Channels::flush_credit(Outgoing &outgoing) {
    auto &credit = static_cast<Channel::CreditReturn &>(outgoing);
    Envelope envelope{.context = 0, .source = 0, .tag = 0, .length = 0,
                      .kind = EnvelopeKind::credit, .flags = 0, .credit = 0, .check = 0};
    return credit.channels->send(*credit.channel, envelope, {}) == Sent::done;
}

}  // namespace lanyard
