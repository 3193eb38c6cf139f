// Flows: packets that go.
#include <algorithm>

#include "path/dgram/flow.h"

namespace lanyard::dgram {

namespace {

constexpr size_t copied_below = 512;      // payload that is copied behind its frame; more is sent from where it lies, and is then the packet's last
constexpr size_t worth_cutting = 128;     // room for payload for which an envelope is cut, or bulk begun
constexpr uint64_t kept_for_probes = 64;  // numbers of most_span; the receiver takes more, as a probe says what is settled

}  // namespace

// What is lost and still worth sending.
SentPacket *Flow::first_lost(Traffic &traffic) const {
    while (SentPacket *lost = traffic.sent.first_lost(home_.sent)) {
        Position delivered{delivered_, 0};
        if (lost->begin < lost->end && lost->begin < delivered) lost->begin = std::min(delivered, lost->end);
        if (!lost->empty()) return lost;
    }
    return nullptr;
}

// The peer waits for packets that will not come, and no packet on its way tells it so.
bool Flow::must_settle(const Traffic &traffic) const { return traffic.sent.highest_lost() >= traffic.peer_next && !traffic.sent.outstanding(); }

bool Flow::has_data(Traffic &traffic) const {
    return traffic.probe_wanted || must_settle(traffic) || traffic.unsent < Position{log_end_, 0} || traffic.first_bulk != UINT32_MAX ||
           first_lost(traffic) || traffic.sent.first_lost_bulk(home_.sent);
}

// As far as it is known without cutting it.
size_t Flow::next_bytes(const Traffic &traffic) const {
    size_t usual = size_.usual();
    if (traffic.first_bulk != UINT32_MAX || traffic.sent.has_lost()) return usual;
    return std::min<uint64_t>(usual, header_bytes + acknowledge_frame_bytes + traffic.unsent_bytes);
}

// Is there anything that windows allow? Pacing is another matter.
bool Flow::may_send(Traffic &traffic) const {
    uint64_t span = next_number_ - traffic.peer_next;
    if (traffic.probe_wanted) return true;
    if (must_settle(traffic)) return true;
    if (span >= most_span - kept_for_probes) return false;
    uint32_t in_flight = traffic.sent.in_flight();
    if (in_flight > 0 && in_flight + next_bytes(traffic) > window()) return false;
    return has_data(traffic);
}

bool Flow::compose(OutPacket &packet, uint64_t now_ns) {
    if (!active()) return false;
    if (!over_) look_at_time(now_ns);
    if (over_ || nothing_under_way()) {
        release();
        return false;
    }
    Traffic &traffic = current();
    if (traffic.end_wanted || traffic.refused_epoch) return compose_end(packet, traffic);

    if (!traffic.sent.outstanding() && congestion_.rested(size_.usual(), home_.limits.congestion, now_ns)) grant(no_limit);
    bool data = may_send(traffic) && (traffic.probe_wanted || line_free_ns(traffic) <= now_ns);
    bool due = traffic.arrivals.due_ns() <= now_ns;
    if (!data && !due) return false;

    size_t largest = data ? size_.next(traffic.probes, now_ns) : size_.usual();
    FrameWriter writer(packet.buffer + header_bytes, largest - header_bytes);
    packet.tail = nullptr;
    packet.tail_size = 0;
    packet.acknowledges = traffic.arrivals.due_ns() != never;
    if (packet.acknowledges) compose_acknowledgement(writer, now_ns);
    if (!data) {
        ++home_.counts.acknowledgements_out;
        packet.size = header_bytes + writer.size();
        finish(packet, 0, peer_epoch_);
        return true;
    }
    home_.counts.acknowledgements_carried += packet.acknowledges;
    ++home_.counts.numbered_out;
    SentPacket record;
    record.number = next_number_++;
    record.sent_ns = now_ns;
    fill(writer, packet, record);
    packet.size = header_bytes + writer.size();
    record.bytes = static_cast<uint32_t>(packet.size + packet.tail_size);

    if (!traffic.sent.outstanding() && traffic.probes == 0) traffic.waiting_since_ns = now_ns;
    traffic.sent.add(home_.sent, record);
    size_.sent(record.bytes);
    traffic.last_sent_ns = now_ns;
    pace(traffic, record.bytes, now_ns);
    finish(packet, record.number, peer_epoch_);
    return true;
}

// A burst is used up, then comes a pause in which the line is free for the next one, or for all that is left: so what is left ends no later than
// packet by packet, and costs a system call and a wake-up of both sides for each burst instead of each packet.
void Flow::pace(Traffic &traffic, size_t bytes, uint64_t now_ns) {
    const CongestionLimits &limits = home_.limits.congestion;
    uint64_t burst_ns = congestion_.spacing_ns(limits.burst, trip_);
    traffic.pace_ns = std::max(traffic.pace_ns, now_ns - std::min(now_ns, burst_ns)) + congestion_.spacing_ns(bytes, trip_);
    traffic.burst_ns = 0;
    if (traffic.pace_ns <= now_ns) return;
    bool much = traffic.first_bulk != UINT32_MAX || traffic.sent.has_lost();
    uint64_t left = much ? limits.burst : std::min<uint64_t>(limits.burst, traffic.unsent_bytes);
    traffic.burst_ns = traffic.pace_ns + congestion_.spacing_ns(left, trip_);
}

void Flow::finish(OutPacket &packet, uint64_t number, uint32_t to_epoch) {
    packet.number = number;
    write_header(packet.buffer, {home_.own, proof_out_, epoch_, to_epoch, number});
    seal(home_.crc, packet.buffer, packet.size, packet.tail, packet.tail_size);
    ++home_.counts.packets_out;
    home_.counts.bytes_out += packet.size + packet.tail_size;
}

// Both kinds are said once and not repeated, as nobody answers.
bool Flow::compose_end(OutPacket &packet, Traffic &traffic) {
    FrameWriter writer(packet.buffer + header_bytes, least_packet - header_bytes);
    bool refuses = traffic.refused_epoch != 0;
    writer.end(refuses ? EndReason::refused : EndReason::closed, refuses ? traffic.refused_epoch : epoch_);
    packet.size = header_bytes + writer.size();
    packet.tail = nullptr;
    packet.tail_size = 0;
    packet.acknowledges = false;
    finish(packet, 0, refuses ? traffic.refused_from : peer_epoch_);
    home_.counts.refusals += refuses;
    traffic.refused_epoch = 0;
    if (!refuses) {
        over_ = true;
        release();
    }
    return true;
}

void Flow::compose_acknowledgement(FrameWriter &writer, uint64_t now_ns) {
    Acknowledgement acknowledgement;
    current().arrivals.acknowledge(acknowledgement, now_ns);
    acknowledgement.expected = static_cast<uint32_t>(expected_);
    acknowledgement.window = home_.grants.window(size_.usual(), trip_.known() ? trip_.least_ns() : 0, now_ns);
    writer.acknowledge(acknowledgement);
}

// Should the peer answer this packet at once? When nothing more can be sent until it does, its usual delay would be lost: where the window is of few
// packets (as long as this one, if nothing long is on its way), and at the end of what there is of bulk, whose sender waits for that.
bool Flow::wants_answer(Traffic &traffic, size_t room) const {
    if (std::exchange(traffic.probe_wanted, false)) return true;
    size_t largest = size_.usual(), in_flight = traffic.sent.in_flight();
    size_t bytes = in_flight < largest ? next_bytes(traffic) : largest;
    uint64_t few = uint64_t{2} * home_.limits.answer.packets * bytes;
    uint32_t window = this->window();
    if (window < few && in_flight + 2 * bytes > window) return true;
    if (traffic.first_bulk == UINT32_MAX) return false;
    const BulkItem &item = home_.bulk.at(traffic.first_bulk);
    return item.next == UINT32_MAX && item.size - item.cut <= room && !first_lost(traffic) && !traffic.sent.first_lost_bulk(home_.sent);
}

// In this order: what the peer should stop waiting for, a probe, envelopes, lost ones first, bulk, lost first.
void Flow::fill(FrameWriter &writer, OutPacket &packet, SentPacket &record) {
    Traffic &traffic = current();
    uint64_t oldest = traffic.sent.outstanding() ? traffic.sent.oldest(home_.sent) : record.number;
    if (traffic.sent.highest_lost() >= traffic.peer_next) {
        writer.settled(oldest);
        traffic.sent.tell_settled(oldest);
    }
    bool only_asks = traffic.probe_wanted && traffic.probes > 0 && traffic.sent.outstanding();  // nothing in it may need room at the peer
    if (wants_answer(traffic, writer.room() - probe_frame_bytes - bulk_frame_bytes)) writer.probe();
    if (only_asks) return;

    if (SentPacket *lost = first_lost(traffic)) cut_envelopes(writer, packet, record, lost->begin, lost->end);
    if (traffic.unsent < Position{log_end_, 0} && (record.empty() || record.end == traffic.unsent))
        traffic.unsent_bytes -= cut_envelopes(writer, packet, record, traffic.unsent, {log_end_, 0});
    if (!packet.tail) cut_bulk(writer, packet, record);
}

// From the log, from a place on until another or the end of the packet; how many bytes (Traffic::unsent_bytes).
uint64_t Flow::cut_envelopes(FrameWriter &writer, OutPacket &packet, SentPacket &record, Position &from, const Position &until) {
    if (record.begin >= record.end) record.begin = record.end = from;
    bool follows = false;
    uint64_t all = 0;
    while (from < until && !packet.tail) {
        size_t cut = cut_envelope(writer, packet, from, until, follows);
        if (cut == 0) break;
        all += cut;
    }
    record.end = from;
    return all;
}

// What fits of the envelope at this place, not beyond `until`, which is another record's: how many bytes, 0: nothing. `follows`: the frame before is
// the whole envelope before.
size_t Flow::cut_envelope(FrameWriter &writer, OutPacket &packet, Position &at, const Position &until, bool &follows) {
    Logged logged = home_.owner.logged(*this, at.sequence);
    auto low = static_cast<uint32_t>(at.sequence & sequence_mask);
    size_t end = at.sequence == until.sequence ? until.offset : logged.size;
    size_t left = end - at.offset, head = follows ? next_frame_bytes : envelope_frame_bytes;
    const std::byte *payload = logged.payload + at.offset;
    if (at.offset == 0 && end == logged.size && writer.room() >= head + left) {
        if (follows) writer.next(*logged.envelope, left);
        else writer.envelope(low, *logged.envelope, left);
        follows = true;
        at = {at.sequence + 1, 0};
        add_payload(writer, packet, payload, left);
        return next_frame_bytes + left;
    }
    follows = false;
    head = at.offset == 0 ? beginning_frame_bytes : part_frame_bytes;
    if (writer.room() < head + std::min(left, worth_cutting)) return 0;
    size_t size = std::min(left, writer.room() - head), of_envelope = at.offset == 0 ? next_frame_bytes : 0;
    if (at.offset == 0) {
        size = std::min<size_t>(size, logged.size - 1);
        writer.beginning(low, *logged.envelope, size, logged.size);
    } else {
        writer.part(low, size, at.offset);
    }
    at.offset += static_cast<uint32_t>(size);
    if (at.offset == logged.size) at = {at.sequence + 1, 0};
    add_payload(writer, packet, payload, size);
    return of_envelope + size;
}

void Flow::add_payload(FrameWriter &writer, OutPacket &packet, const std::byte *bytes, size_t size) {
    if (size < copied_below) return writer.copy(bytes, size);
    packet.tail = bytes;
    packet.tail_size = size;
}

void Flow::cut_bulk(FrameWriter &writer, OutPacket &packet, SentPacket &record) {
    if (writer.room() < bulk_frame_bytes + worth_cutting) return;
    Traffic &traffic = current();
    size_t room = writer.room() - bulk_frame_bytes;
    if (SentPacket *lost = traffic.sent.first_lost_bulk(home_.sent)) {
        record.bulk_item = lost->bulk_item;
        record.bulk_offset = lost->bulk_offset;
        record.bulk_size = static_cast<uint32_t>(std::min<size_t>(room, lost->bulk_size));
        lost->bulk_offset += record.bulk_size;
        lost->bulk_size -= record.bulk_size;
    } else if (traffic.first_bulk != UINT32_MAX) {
        BulkItem &item = home_.bulk.at(traffic.first_bulk);
        record.bulk_item = traffic.first_bulk;
        record.bulk_offset = item.cut;
        record.bulk_size = static_cast<uint32_t>(std::min<uint64_t>(room, item.size - item.cut));
        item.cut += record.bulk_size;
        if (item.cut == item.size) {
            traffic.first_bulk = item.next;
            if (item.next == UINT32_MAX) traffic.last_bulk = UINT32_MAX;
        }
    } else {
        return;
    }
    const BulkItem &item = home_.bulk.at(record.bulk_item);
    writer.bulk({item.header.receive_id, item.header.offset + record.bulk_offset}, record.bulk_size);
    std::byte *scratch = packet.buffer + header_bytes + writer.size();
    const std::byte *bytes = home_.owner.bulk_bytes(*this, item.token, record.bulk_offset, scratch, record.bulk_size);
    if (bytes == scratch) {
        writer.skip(record.bulk_size);
    } else {
        add_payload(writer, packet, bytes, record.bulk_size);
    }
}

void Flow::take_back(const OutPacket &packet, uint64_t now_ns) {
    --home_.counts.packets_out;
    home_.counts.bytes_out -= packet.size + packet.tail_size;
    ++home_.counts.taken_back;
    home_.counts.acknowledgements_out -= packet.acknowledges && packet.number == 0;
    home_.counts.acknowledgements_carried -= packet.acknowledges && packet.number != 0;
    home_.counts.numbered_out -= packet.number != 0;
    if (!active()) return;
    Traffic &traffic = current();
    if (packet.acknowledges) traffic.arrivals.copy_came(now_ns);
    if (packet.number == 0 || !traffic.sent.take_back(home_.sent, packet.number)) return;
    next_number_ = packet.number;  // nobody has seen it
    traffic.burst_ns = 0;
    size_.not_sent(packet.size + packet.tail_size);
    traffic.pace_ns -= std::min(traffic.pace_ns, congestion_.spacing_ns(packet.size + packet.tail_size, trip_));
    traffic.probe_wanted |= traffic.probes > 0;
}

}  // namespace lanyard::dgram
