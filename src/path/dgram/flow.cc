// This part of Flow keeps the state of a flow and does what is due by time. See flow.h.
#include "path/dgram/flow.h"

#include <algorithm>
#include <utility>

namespace lanyard::dgram {

Flow::Flow(FlowHome &home, uint32_t peer, uint32_t epoch, size_t largest)
    : home_(home),
      peer_(peer),
      epoch_(epoch),
      next_number_(home.limits.first_number),
      size_(largest),
      congestion_(home.limits.congestion, largest),
      named_(static_cast<uint32_t>(home.limits.first_number - 1)),
      next_arrival_(home.limits.first_number) {
    LANYARD_MUST(epoch != 0 && home.own < most_processes && serial() < most_processes &&
                 largest >= least_packet && largest <= most_packet);
}

bool Flow::is_proven(const FlowHome &home, std::span<const std::byte> packet) {
    PacketHeader header;
    return read_header(home.crc, packet, header) && header.introduces &&
           header.proof == introducing_proof(home.secret, header.from, home.own);
}

ActiveState &Flow::activate() {
    if (state_ == idle) {
        state_ = home_.active_states.take();
        new (&current()) ActiveState(next_number_, next_arrival_, {log_end_, 0});
    }
    return current();
}

void Flow::release() {
    if (state_ == idle) return;
    ActiveState &state = current();
    next_arrival_ = state.arrivals.next();
    // Every unacknowledged byte of a bulk item is in a record, or no packet has contained it yet. When
    // bulk_arrived() has counted all bytes of the item, it removes the item.
    state.sent.drop_all(home_.sent, [&](const SentPacket &packet) {
        if (packet.bulk_size) bulk_arrived(packet.bulk_item, packet.bulk_size);
    });
    while (state.first_bulk != UINT32_MAX) {
        uint32_t index = state.first_bulk;
        const BulkItem &item = home_.bulk.at(index);
        state.first_bulk = item.next;
        bulk_arrived(index, item.size - item.cut);
    }
    state.early.drop_all(home_.early);
    home_.active_states.give(state_);
    state_ = idle;
}

bool Flow::nothing_under_way() const {
    ActiveState &state = current();
    return !state.sent.outstanding() && !has_data(state) && state.arrivals.due_ns() == never &&
           !state.arrivals.gaps() && state.early.empty() && !state.end_wanted && !state.refused_epoch;
}

void Flow::log_grew(uint64_t end) {
    if (over_) return;
    ActiveState &state = activate();  // a new ActiveState begins where the log ended
    uint64_t before = std::exchange(log_end_, end);
    for (uint64_t sequence = before; sequence < end; ++sequence)
        state.unsent_bytes += queued_frame_bytes + home_.owner.logged(*this, sequence).size;
}

void Flow::send_bulk(const BulkHeader &to, uint64_t size, uint64_t token) {
    if (over_) return;
    ActiveState &state = activate();
    uint32_t index = home_.bulk.take();
    home_.bulk.at(index) = {to, size, token, 0, 0, UINT32_MAX};
    (state.last_bulk == UINT32_MAX ? state.first_bulk : home_.bulk.at(state.last_bulk).next) = index;
    state.last_bulk = index;
}

void Flow::ask() {
    if (!over_) activate().probe_wanted = true;
}

void Flow::answer() {
    if (active() && current().arrivals.due_ns() != never) current().arrivals.copy_arrived(0);
}

void Flow::close() {
    if (!over_) activate().end_wanted = true;
}

void Flow::end(FlowEnd how) {
    over_ = true;
    home_.owner.ended(*this, how);
}

// The timer doubles with each probe that was not answered. If several processes send to this process, the
// answer waits among their packets, in a queue whose length varies, so the flow waits for one round trip
// more.
uint64_t Flow::probe_due_ns() const {
    const ActiveState &state = current();
    const AnswerLimits &answer = home_.limits.answer;
    uint64_t kept_back_ns = home_.oversubscribed ? answer.most_delay_ns : answer.delay_ns;
    uint64_t after_ns = trip_.probe_after_ns(kept_back_ns, home_.limits.first_probe_ns);
    if (trip_.known() && grants().several()) after_ns += trip_.smoothed_ns();
    uint64_t longest_ns = trip_.known() ? home_.limits.longest_probe_ns : home_.limits.longest_first_probe_ns;
    return state.last_sent_ns + std::min(after_ns << std::min(state.probes, 20u), longest_ns);
}

uint64_t Flow::silent_at_ns() const {
    return std::max(heard_ns_, current().waiting_since_ns) + home_.limits.peer_timeout_ns;
}

// Ends the flow if the peer has failed. A peer that is known to live counts as heard.
bool Flow::is_lost(uint64_t now_ns) {
    uint64_t at_ns = silent_at_ns();
    if (now_ns + home_.limits.peer_timeout_ns / 4 * 3 < at_ns) return false;
    PeerState state = home_.owner.peer_state(*this);
    if (state == PeerState::alive) heard_ns_ = now_ns;
    else if (state == PeerState::gone) end(FlowEnd::gone);
    else if (at_ns <= now_ns) end(FlowEnd::silent);
    return over_;
}

void Flow::look_at_time(uint64_t now_ns) {
    ActiveState &state = current();
    if (!state.sent.outstanding()) return;
    now_ns = std::min(now_ns, home_.heard_until_ns);
    if (is_lost(now_ns)) return;
    if (state.sent.loss_due_ns() <= now_ns) find_lost(state, now_ns);
    if (state.sent.outstanding() && probe_due_ns() <= now_ns) {
        ++state.probes;
        ++home_.counts.probes;
        tell_silence(state, now_ns);
        state.probe_wanted = true;
        if (state.sent.single()) give_up_oldest(state, now_ns);
        if (state.probes < 2) return;  // the answer will show what is lost
        // Two probes in a row were not answered. Either everything outstanding is lost, or the peer has no
        // room for it before something earlier arrives, or all answers are lost.
        uint32_t lost = state.sent.give_up_all(home_.sent, size_);
        home_.counts.lost_by_probe += lost;
        given_up_ += lost;
        congestion_.silent(size_.usual(), home_.limits.congestion);
    }
}

void Flow::find_lost(ActiveState &state, uint64_t now_ns) {
    uint32_t by_order = 0;
    uint32_t lost = state.sent.find_lost(home_.sent, trip_, size_, now_ns, by_order);
    if (lost == 0) return;
    home_.counts.lost_by_order += by_order;
    home_.counts.lost_by_time += lost - by_order;
    given_up_ += lost;
    congestion_.lost(lost, trip_, size_.usual(), home_.limits.congestion, now_ns);
}

void Flow::give_up_oldest(ActiveState &state, uint64_t now_ns) {
    state.sent.give_up_oldest(home_.sent, size_, now_ns);
    ++home_.counts.lost_by_probe;
    ++given_up_;
}

void Flow::tell_silence(ActiveState &state, uint64_t now_ns) {
    if (state.silent || now_ns < std::max(heard_ns_, state.waiting_since_ns) + home_.limits.silent_after_ns)
        return;
    state.silent = true;
    ++home_.counts.silences;
    home_.owner.silent(*this, true);
}

PeerCounts Flow::counts() const {
    PeerCounts counts;
    counts.sent = static_cast<uint32_t>(next_number_ - 1);
    counts.given_up = given_up_;
    counts.too_early = too_early_;
    counts.received = received_;
    uint32_t named = named_;
    counts.missing = named > counts.received ? named - counts.received : 0;
    counts.round_trip_ns = trip_.smoothed_ns();
    counts.least_round_trip_ns = trip_.known() ? trip_.least_ns() : 0;
    return counts;
}

uint64_t Flow::deadline_ns() const {
    if (!active() || over_) return never;
    ActiveState &state = current();
    if (state.end_wanted || state.refused_epoch || state.probe_wanted) return 0;
    uint64_t at_ns = state.arrivals.due_ns();
    if (state.sent.outstanding())
        at_ns = std::min({at_ns, state.sent.loss_due_ns(), probe_due_ns(), silent_at_ns()});
    if (may_send(state)) at_ns = std::min(at_ns, line_free_ns(state));
    return at_ns;
}

}  // namespace lanyard::dgram
