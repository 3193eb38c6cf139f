// This part of Flow composes outgoing packets. See flow.h.
// Tested by: tests/unit/path/dgram/flow_test.cc, tests/unit/path/dgram/flow_loss_test.cc.
// Tested by: tests/sim/flow_test.cc.
#include <algorithm>

#include "path/dgram/flow.h"

namespace lanyard::dgram {

namespace {

// Payload shorter than this is copied into the packet behind its frame's head. Longer payload is sent from
// where it lies, and is then at the end of the packet.
constexpr size_t copied_below = 512;
// If the packet has less room for payload than this, no envelope is split and no bulk is begun in it.
constexpr size_t worth_cutting = 128;
// How many of the most_span numbers are reserved for probes. Even if more probes are sent, they are accepted,
// since each contains `move_on` and so lets the receiver move on.
constexpr uint64_t kept_for_probes = 64;

}  // namespace

// Returns the first lost record of envelopes that the peer does not have yet, or nullptr.
SentPacket *Flow::first_lost(ActiveState &state) const {
    while (SentPacket *lost = state.sent.first_lost(home_.sent)) {
        Position delivered{delivered_, 0};
        if (lost->begin < lost->end && lost->begin < delivered) lost->begin = std::min(delivered, lost->end);
        if (!lost->empty()) return lost;
    }
    return nullptr;
}

// Does the peer wait for packets that will not arrive, while nothing is in flight that could state this?
bool Flow::must_move_peer_on(const ActiveState &state) const {
    return state.sent.highest_lost() >= state.peer_next && !state.sent.outstanding();
}

// Does nothing wait to be sent? (If this returns false, perhaps only lost contents wait that have arrived
// nevertheless.)
bool Flow::has_said_all() const {
    const ActiveState &state = current();
    return state.unsent_bytes == 0 && state.first_bulk == UINT32_MAX && !state.sent.has_lost() &&
           !state.probe_wanted && !state.end_wanted && !state.refused_epoch && !must_move_peer_on(state);
}

bool Flow::has_data(ActiveState &state) const {
    return state.probe_wanted || must_move_peer_on(state) || state.unsent < Position{log_end_, 0} ||
           state.first_bulk != UINT32_MAX || first_lost(state) || state.sent.first_lost_bulk(home_.sent);
}

PacketHeader Flow::introduction(uint32_t to_epoch) const {
    return {home_.own, true, introducing_proof(home_.secret, home_.own, serial()), 0, epoch_, to_epoch};
}

// Returns a header in the form that rule 4 of flow.h demands, without a number.
PacketHeader Flow::next_header() const {
    bool known = introduced_ && (!active() || current().probes == 0);
    return known ? PacketHeader{home_.own, false, proof_out_, 0} : introduction(peer_epoch_);
}

// The length of the next packet, as far as it is known before the packet is composed.
size_t Flow::next_bytes(const ActiveState &state) const {
    size_t usual = size_.usual();
    if (state.first_bulk != UINT32_MAX || state.sent.has_lost()) return usual;
    return std::min<uint64_t>(usual, usual_header_bytes + acknowledge_frame_bytes + state.unsent_bytes);
}

// Is there anything to send that the windows allow? Pacing is separate.
bool Flow::may_send(ActiveState &state) const {
    uint64_t span = next_number_ - state.peer_next;
    if (state.probe_wanted) return true;
    if (must_move_peer_on(state)) return true;
    if (span >= most_span - kept_for_probes) return false;
    uint32_t in_flight = state.sent.in_flight();
    if (in_flight > 0 && in_flight + next_bytes(state) > window()) return false;
    return has_data(state);
}

bool Flow::compose(OutPacket &packet, uint64_t now_ns) {
    if (!active()) return false;
    if (!over_) look_at_time(now_ns);
    if (over_ || nothing_under_way()) {
        release();
        return false;
    }
    ActiveState &state = current();
    if (state.end_wanted || state.refused_epoch) return compose_end(packet, state);

    if (!state.sent.outstanding() &&
        congestion_.forget_if_outdated(size_.usual(), home_.limits.congestion, now_ns))
        grant(no_limit);
    bool data = may_send(state) && (state.probe_wanted || line_free_ns(state) <= now_ns);
    bool due = state.arrivals.due_ns() <= now_ns;
    if (!data && !due) return false;

    size_t largest = data ? size_.next(state.probes, now_ns) : size_.usual();
    PacketHeader header = next_header();
    FrameWriter writer(packet.buffer + header.bytes(), largest - header.bytes());
    packet.tail = nullptr;
    packet.tail_size = 0;
    packet.acknowledges = state.arrivals.due_ns() != never;
    if (packet.acknowledges) compose_acknowledgement(writer, now_ns);
    if (!data) {
        ++home_.counts.acknowledgements_out;
        packet.size = header.bytes() + writer.size();
        packet.last = false;
        finish(packet, header, 0);
        return true;
    }
    home_.counts.acknowledgements_carried += packet.acknowledges;
    ++home_.counts.numbered_out;
    SentPacket record;
    record.number = next_number_++;
    record.sent_ns = now_ns;
    fill(writer, packet, record);
    packet.size = header.bytes() + writer.size();
    record.bytes = static_cast<uint32_t>(packet.size + packet.tail_size);

    if (!state.sent.outstanding() && state.probes == 0) state.waiting_since_ns = now_ns;
    state.sent.add(home_.sent, record);
    size_.sent(record.bytes);
    state.last_sent_ns = now_ns;
    pace(state, record.bytes, now_ns);
    packet.last = has_said_all();
    finish(packet, header, record.number);
    return true;
}

// When a burst is used up, a pause follows in which the line becomes free for the next burst, or for all that
// is left. The last byte thus leaves no later than if everything were sent packet by packet. But each burst,
// not each packet, costs a system call and a wake-up of both sides.
void Flow::pace(ActiveState &state, size_t bytes, uint64_t now_ns) {
    const CongestionLimits &limits = home_.limits.congestion;
    uint32_t burst = granted_ == no_limit ? limits.burst : limits.granted_burst;
    auto spacing_ns = [&](size_t of) { return congestion_.spacing_ns(of, trip_, limits); };
    state.pace_ns = std::max(state.pace_ns, now_ns - std::min(now_ns, spacing_ns(burst))) + spacing_ns(bytes);
    state.burst_ns = state.pace_ns <= now_ns ? 0 : state.pace_ns + spacing_ns(left_of(state, burst));
}

// Returns how many bytes wait to be sent, or `most` if there are more.
size_t Flow::left_of(const ActiveState &state, size_t most) const {
    if (state.sent.has_lost()) return most;
    uint64_t left = state.unsent_bytes;
    if (state.first_bulk != UINT32_MAX) {
        const BulkItem &item = home_.bulk.at(state.first_bulk);
        left += item.next == UINT32_MAX ? item.size - item.cut : most;
    }
    return std::min<uint64_t>(left, most);
}

// Completes a packet. `number` 0: the packet has no number.
void Flow::finish(OutPacket &packet, PacketHeader header, uint64_t number) {
    packet.number = number;
    if (number) header.number = number_field(number);
    write_header(packet.buffer, header);
    seal(home_.crc, packet.buffer, packet.size, packet.tail, packet.tail_size);
    ++home_.counts.packets_out;
    home_.counts.bytes_out += packet.size + packet.tail_size;
}

// Composes an `end`, which closes this flow or refuses an epoch. Both kinds are sent once and not repeated,
// since they are not answered.
bool Flow::compose_end(OutPacket &packet, ActiveState &state) {
    bool refuses = state.refused_epoch != 0;
    PacketHeader header = refuses ? introduction(state.refused_from) : next_header();
    FrameWriter writer(packet.buffer + header.bytes(), least_packet - header.bytes());
    writer.end(refuses ? EndReason::refused : EndReason::closed, refuses ? state.refused_epoch : epoch_);
    packet.size = header.bytes() + writer.size();
    packet.tail = nullptr;
    packet.tail_size = 0;
    packet.acknowledges = packet.last = false;
    finish(packet, header, 0);
    home_.counts.refusals += refuses;
    state.refused_epoch = 0;
    if (!refuses) {
        over_ = true;
        release();
    }
    return true;
}

void Flow::compose_acknowledgement(FrameWriter &writer, uint64_t now_ns) {
    Acknowledgement acknowledgement;
    current().arrivals.acknowledge(acknowledgement, now_ns, home_.limits.answer.delay_ns);
    acknowledgement.expected = static_cast<uint32_t>(expected_);
    acknowledgement.window = grants().window(size_.usual(), trip_.known() ? trip_.least_ns() : 0, now_ns);
    writer.acknowledge(acknowledgement);
}

// Should the peer answer this packet at once? Yes, if nothing more can be sent until the peer answers: the
// time for which a peer usually delays an answer would then be lost. This is so in two cases. The window is
// only a few packets long (packets of this packet's length, if nothing long is in flight), or this packet
// contains the end of the available bulk, whose sender waits for the answer.
bool Flow::wants_answer(ActiveState &state, size_t room) const {
    if (std::exchange(state.probe_wanted, false)) return true;
    size_t largest = size_.usual(), in_flight = state.sent.in_flight();
    size_t bytes = in_flight < largest ? next_bytes(state) : largest;
    uint64_t few = uint64_t{2} * home_.limits.answer.packets * bytes;
    uint32_t window = this->window();
    if (window < few && in_flight + 2 * bytes > window) return true;
    if (state.first_bulk == UINT32_MAX) return false;
    const BulkItem &item = home_.bulk.at(state.first_bulk);
    size_t head = bulk_frame_bytes({item.header.receive_id, item.header.offset + item.cut});
    return item.next == UINT32_MAX && head + item.size - item.cut <= room && !first_lost(state) &&
           !state.sent.first_lost_bulk(home_.sent);
}

// Fills a packet, in this order: what the peer should stop waiting for, a probe, envelopes (lost ones first),
// bulk (lost bulk first).
void Flow::fill(FrameWriter &writer, OutPacket &packet, SentPacket &record) {
    ActiveState &state = current();
    uint64_t oldest = state.sent.outstanding() ? state.sent.oldest(home_.sent) : record.number;
    if (state.sent.highest_lost() >= state.peer_next) {
        writer.move_on(oldest);
        state.sent.tell_move_on(oldest);
    }
    // While other packets are outstanding, a probe contains nothing that needs room at the peer.
    packet.probes = state.probe_wanted;
    bool only_asks = state.probe_wanted && state.probes > 0 && state.sent.outstanding();
    if (wants_answer(state, writer.room() - probe_frame_bytes)) writer.probe();
    if (only_asks) return;

    if (SentPacket *lost = first_lost(state)) cut_envelopes(writer, packet, record, lost->begin, lost->end);
    if (state.unsent < Position{log_end_, 0} && (record.empty() || record.end == state.unsent))
        state.unsent_bytes -= cut_envelopes(writer, packet, record, state.unsent, {log_end_, 0});
    if (!writer.closed()) cut_bulk(writer, packet, record);
}

// Cuts envelopes from the log, from the position `from` to `until` or to the end of the packet. Returns how
// many bytes were cut, counted as in ActiveState::unsent_bytes.
uint64_t Flow::cut_envelopes(FrameWriter &writer, OutPacket &packet, SentPacket &record, Position &from,
                             const Position &until) {
    if (record.begin >= record.end) record.begin = record.end = from;
    bool follows = false;
    uint64_t all = 0;
    while (from < until && !writer.closed()) {
        size_t cut = cut_envelope(writer, packet, from, until, follows);
        if (cut == 0) break;
        all += cut;
    }
    record.end = from;
    return all;
}

// Cuts what fits of the envelope at this position, but not beyond `until`, where another record begins.
// Returns how many bytes were cut; 0: none. `follows`: the preceding frame contains the whole preceding
// envelope.
size_t Flow::cut_envelope(FrameWriter &writer, OutPacket &packet, Position &at, const Position &until,
                          bool &follows) {
    Logged logged = home_.owner.logged(*this, at.sequence);
    auto low = static_cast<uint32_t>(at.sequence & sequence_mask);
    size_t end = at.sequence == until.sequence ? until.offset : logged.size;
    size_t left = end - at.offset, head = follows ? next_frame_bytes : envelope_frame_bytes;
    const std::byte *payload = logged.payload + at.offset;
    if (at.offset == 0 && end == logged.size && writer.room() >= head + left) {
        at = {at.sequence + 1, 0};
        size_t said = size_to_say(writer, head, left, at);
        if (follows) writer.next(*logged.envelope, said);
        else writer.envelope(low, *logged.envelope, said);
        follows = true;
        add_payload(writer, packet, payload, left);
        return queued_frame_bytes + left;
    }
    follows = false;
    bool first = at.offset == 0;
    head = first ? beginning_frame_bytes : part_frame_bytes;
    if (writer.room() < head + std::min(left, worth_cutting)) return 0;
    size_t size = std::min(left, writer.room() - head);
    if (first) size = std::min<size_t>(size, logged.size - 1);
    uint32_t offset = at.offset;
    at.offset += static_cast<uint32_t>(size);
    if (at.offset == logged.size) at = {at.sequence + 1, 0};
    size_t said = size_to_say(writer, head, size, at);
    if (first) writer.beginning(low, *logged.envelope, said, logged.size);
    else writer.part(low, said, offset);
    add_payload(writer, packet, payload, size);
    return (first ? queued_frame_bytes : 0) + size;
}

// The size to write into a frame that has `head` bytes before its payload. The size is `rest` if nothing
// follows in this packet. This is so if nothing more waits to be sent from `behind` on, if there is no room
// for more, or if the payload is the packet's tail.
size_t Flow::size_to_say(const FrameWriter &writer, size_t head, size_t size, const Position &behind) const {
    ActiveState &state = current();
    bool more = behind < Position{log_end_, 0} || state.first_bulk != UINT32_MAX ||
                state.sent.first_lost_bulk(home_.sent);
    bool room = writer.room() >= head + size + next_frame_bytes;
    return more && room && size < copied_below ? size : rest;
}

void Flow::add_payload(FrameWriter &writer, OutPacket &packet, const std::byte *bytes, size_t size) {
    if (size < copied_below) return writer.copy(bytes, size);
    packet.tail = bytes;
    packet.tail_size = size;
}

// Bulk is always the last frame of a packet.
void Flow::cut_bulk(FrameWriter &writer, OutPacket &packet, SentPacket &record) {
    ActiveState &state = current();
    SentPacket *lost = state.sent.first_lost_bulk(home_.sent);
    if (!lost && state.first_bulk == UINT32_MAX) return;
    uint32_t index = lost ? lost->bulk_item : state.first_bulk;
    BulkItem &item = home_.bulk.at(index);
    uint64_t from = lost ? lost->bulk_offset : item.cut, left = lost ? lost->bulk_size : item.size - item.cut;
    BulkHeader to = {item.header.receive_id, item.header.offset + from};
    size_t head = bulk_frame_bytes(to);
    if (writer.room() < head + worth_cutting) return;
    auto size = static_cast<uint32_t>(std::min<uint64_t>(writer.room() - head, left));
    record.bulk_item = index;
    record.bulk_offset = from;
    record.bulk_size = size;
    if (lost) {
        lost->bulk_offset += size;
        lost->bulk_size -= size;
    } else {
        item.cut += size;
        if (item.cut == item.size) {
            state.first_bulk = item.next;
            if (item.next == UINT32_MAX) state.last_bulk = UINT32_MAX;
        }
    }
    writer.bulk(to);
    const std::byte *bytes = home_.owner.bulk_bytes(*this, item.token, from, writer.at(), size);
    if (bytes == writer.at()) writer.skip(size);
    else add_payload(writer, packet, bytes, size);
}

void Flow::take_back(const OutPacket &packet, uint64_t now_ns) {
    --home_.counts.packets_out;
    home_.counts.bytes_out -= packet.size + packet.tail_size;
    ++home_.counts.taken_back;
    home_.counts.acknowledgements_out -= packet.acknowledges && packet.number == 0;
    home_.counts.acknowledgements_carried -= packet.acknowledges && packet.number != 0;
    home_.counts.numbered_out -= packet.number != 0;
    if (!active()) return;
    ActiveState &state = current();
    if (packet.acknowledges) state.arrivals.copy_arrived(now_ns);
    if (packet.number == 0 || !state.sent.take_back(home_.sent, packet.number)) return;
    next_number_ = packet.number;  // no process has seen it
    state.burst_ns = 0;
    size_.not_sent(packet.size + packet.tail_size);
    state.pace_ns -= std::min(state.pace_ns, congestion_.spacing_ns(packet.size + packet.tail_size, trip_,
                                                                    home_.limits.congestion));
    state.probe_wanted |= packet.probes;
}

}  // namespace lanyard::dgram
