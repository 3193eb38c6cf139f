// This part of Flow processes incoming packets. A packet is judged as a whole before anything in it takes
// effect. See flow.h.
// Tested by: tests/unit/path/dgram/flow_test.cc, tests/unit/path/dgram/flow_epochs_test.cc.
// Tested by: tests/fuzz/packets.cc.
#include <algorithm>
#include <utility>

#include "path/dgram/flow.h"

namespace lanyard::dgram {

namespace {

bool is_of_envelope(FrameKind kind) { return kind >= FrameKind::envelope && kind <= FrameKind::part; }

// Is `number` ahead of `of`? A number below 0 has wrapped to a very large one, which does not count as ahead.
bool is_ahead(uint64_t number, uint64_t of) { return number > of && number <= of + UINT32_MAX; }

// Returns the position of delivery after this piece, if the position before it is `from` and the envelope
// there has `total` bytes of payload.
Position after(const Piece &piece, const Position &from, uint32_t total) {
    Position end{piece.at.sequence, piece.at.offset + piece.size};
    if (end.offset >= (piece.first() ? piece.total : total)) end = {piece.at.sequence + 1, 0};
    return std::max(end, from);
}

}  // namespace

Flow::Outcome Flow::received(std::span<const std::byte> packet, uint64_t now_ns) {
    if (over_) return Outcome::dropped;
    PacketHeader header;
    if (!home_.read(packet, header)) return Outcome::dropped;
    if (!is_proven(header)) {
        ++home_.counts.strangers;
        return Outcome::dropped;
    }
    std::span<const std::byte> frames = packet.subspan(header.bytes());
    if (!is_for_us(header, frames)) {
        ++home_.counts.stale;
        return Outcome::dropped;
    }
    uint64_t number = number_of(header);
    Contents contents;
    if (!sensible(header, number, frames, contents)) {
        ++home_.counts.malformed;
        return Outcome::dropped;
    }
    ++home_.counts.packets_in;
    home_.counts.bytes_in += packet.size();
    meet(header);
    heard_ns_ = now_ns;
    Outcome outcome = take(number, frames, contents, packet.size(), now_ns);
    if (over_) release();
    return outcome;
}

// Is the packet proven to be from this peer to this process? In the header of a usual packet, sets the epochs
// to those of this flow, which the proof covers.
bool Flow::is_proven(PacketHeader &header) const {
    if (header.introduces)
        return header.from_epoch != 0 && header.proof == introducing_proof(home_.secret, serial(), home_.own);
    header.from_epoch = peer_epoch_;
    header.to_epoch = epoch_;
    return peer_epoch_ != 0 && header.proof == proof_in_;
}

// Does the packet belong to this flow (rule 4 of flow.h)? A numbered packet for an earlier flow is answered
// by a refusal. If a packet refuses the epoch that this side has stored as the peer's, the flow ends.
bool Flow::is_for_us(const PacketHeader &header, std::span<const std::byte> frames) {
    if (header.to_epoch != 0 && header.to_epoch != epoch_) {
        if (header.number == 0) return false;
        ActiveState &state = activate();
        state.refused_epoch = header.to_epoch;
        state.refused_from = header.from_epoch;
        return false;
    }
    // Nothing that this side sent has arrived at the peer yet. The peer may end its flow nevertheless.
    if (header.to_epoch == 0 && header.number == 0) return header.from_epoch == peer_epoch_;
    if (peer_epoch_ == 0 || header.from_epoch == peer_epoch_) return true;
    if (header.to_epoch == epoch_ && is_refusal(frames)) {
        end(FlowEnd::refused);
        release();
    }
    return false;
}

bool Flow::is_refusal(std::span<const std::byte> frames) const {
    FrameReader reader(frames);
    Frame frame;
    return reader.next(frame) && frame.kind == FrameKind::end && frame.reason == EndReason::refused &&
           frame.epoch == peer_epoch_;
}

// Returns 0 if the packet has no number.
uint64_t Flow::number_of(const PacketHeader &header) const {
    return header.number
               ? widened(header.number, active() ? current().arrivals.next() : next_arrival_, number_bits)
               : 0;
}

bool Flow::sensible(const PacketHeader &header, uint64_t number, std::span<const std::byte> frames,
                    Contents &contents) const {
    bool right = header.number & numbered && static_cast<int64_t>(number) > 0;  // not before the first number
    if (header.number && !right) return false;
    uint64_t next = expected_;  // expected after the envelopes so far that are whole and in order
    FrameReader reader(frames);
    Frame frame;
    while (reader.next(frame)) {
        bool may_be_unnumbered = frame.kind == FrameKind::acknowledge || frame.kind == FrameKind::end;
        if (header.number == 0 && !may_be_unnumbered) return false;
        if (frame.kind == FrameKind::acknowledge) {
            const Acknowledgement &said = frame.acknowledgement;
            uint64_t end = widened(said.cumulative, next_number_);
            if (said.count)
                end += uint64_t{said.ranges[said.count - 1].begin} + said.ranges[said.count - 1].length;
            uint64_t sent = active() ? current().unsent.sequence : log_end_;
            if (end > next_number_ || is_ahead(widened(said.expected, delivered_), sent)) return false;
        }
        if (is_of_envelope(frame.kind)) {
            uint64_t sequence = widened(frame.sequence, expected_, 24);
            if (sequence > expected_ + sequence_mask) return false;  // before the first envelope
            bool whole = frame.kind == FrameKind::envelope || frame.kind == FrameKind::next;
            if (whole && sequence == next) ++next;
            else contents.ahead = true;
        }
        contents.moves_on |= frame.kind == FrameKind::move_on;
        if (frame.kind == FrameKind::move_on && widened(frame.below, number) > number) return false;
        if (frame.kind == FrameKind::end && frame.reason != EndReason::closed) return false;
        if (frame.kind == FrameKind::acknowledge && header.to_epoch != epoch_) return false;
    }
    return !reader.malformed();
}

// Stores the epochs that an accepted packet states, and the proofs that follow from them.
void Flow::meet(const PacketHeader &header) {
    introduced_ |= header.to_epoch == epoch_;
    if (peer_epoch_ == header.from_epoch) return;
    peer_epoch_ = header.from_epoch;
    proof_out_ = usual_proof(home_.secret, home_.own, serial(), epoch_, peer_epoch_);
    proof_in_ = usual_proof(home_.secret, serial(), home_.own, peer_epoch_, epoch_);
}

// Processes the contents of a valid packet. `bytes`: the packet's length.
Flow::Outcome Flow::take(uint64_t number, std::span<const std::byte> frames, const Contents &contents,
                         size_t bytes, uint64_t now_ns) {
    ActiveState &state = activate();
    if (std::exchange(state.silent, false)) home_.owner.silent(*this, false);
    Frame frame;
    if (number && contents.moves_on)
        for (FrameReader reader(frames); reader.next(frame);)
            if (frame.kind == FrameKind::move_on) state.arrivals.move_on(widened(frame.below, number));

    bool fresh = false;
    Arrivals::Verdict verdict = Arrivals::Verdict::beyond;
    if (number) {
        verdict = state.arrivals.judge(number);
        if (verdict == Arrivals::Verdict::copy) state.arrivals.copy_arrived(now_ns);
        bool room = verdict == Arrivals::Verdict::fresh && (!contents.ahead || make_room(frames));
        home_.counts.copies += verdict == Arrivals::Verdict::copy;
        home_.counts.beyond += verdict == Arrivals::Verdict::beyond;
        home_.counts.no_room += verdict == Arrivals::Verdict::fresh && !room;
        // The answer shows that this process lives, and what it has received.
        if (verdict == Arrivals::Verdict::fresh && !room) state.arrivals.copy_arrived(now_ns);
        fresh = room;
    }
    bool answer_now = false;
    for (FrameReader reader(frames); reader.next(frame) && !over_;) {
        if (frame.kind == FrameKind::acknowledge) {
            acknowledged(frame.acknowledgement, now_ns);
        } else if (frame.kind == FrameKind::end) {
            end(FlowEnd::closed);
        } else if (fresh && is_of_envelope(frame.kind)) {
            deliver(piece_of(frame), frame.payload);
        } else if (fresh && frame.kind == FrameKind::bulk) {
            home_.owner.bulk(*this, frame.bulk, frame.payload, frame.size);
        } else if (frame.kind == FrameKind::probe) {
            answer_now = true;
        }
    }
    if (over_) return Outcome::taken;
    if (number == 0) return Outcome::taken;
    if (verdict != Arrivals::Verdict::beyond) count_number(number, fresh);
    grants().received(sender_, static_cast<uint32_t>(bytes), now_ns);
    if (!fresh) return verdict == Arrivals::Verdict::copy ? Outcome::copy : Outcome::dropped;
    state.early.keep(home_.early);
    state.early.take(
        home_.early, [&] { return expected(); },
        [&](const Piece &piece, const std::byte *payload) { deliver(piece, payload); });
    state.arrivals.add(number, answer_now, answer_limits(), now_ns, home_.away_ns(now_ns));
    return Outcome::taken;
}

// Where processes share processors, the peer will probably not read sooner than in earlier round trips. Until
// then, this process usually has something to send that can carry the acknowledgement.
AnswerLimits Flow::answer_limits() const {
    AnswerLimits limits = home_.limits.answer;
    if (home_.oversubscribed)
        limits.delay_ns = std::clamp(2 * trip_.smoothed_ns(), limits.delay_ns, limits.most_delay_ns);
    return limits;
}

// The peer uses all numbers in ascending order, so this number shows that all lower ones were used too.
void Flow::count_number(uint64_t number, bool fresh) {
    auto later = static_cast<int32_t>(static_cast<uint32_t>(number) - named_);
    if (later > 0) {
        named_ += static_cast<uint32_t>(later);
        home_.counts.named += static_cast<uint32_t>(later);
    }
    received_ += fresh;
    home_.counts.received += fresh;
}

Piece Flow::piece_of(const Frame &frame) const {
    bool first = frame.kind != FrameKind::part;
    return {{widened(frame.sequence, expected_, 24), frame.offset},
            first ? frame.total : 0,
            static_cast<uint32_t>(frame.size),
            first ? frame.envelope : Envelope{}};
}

// Copies what cannot be delivered yet. Returns false if there is no room for it; nothing of the packet may be
// accepted then.
bool Flow::make_room(std::span<const std::byte> frames) {
    EarlyEnvelopes &early = current().early;
    Position next = expected();
    uint32_t total = expected_total_;
    Frame frame;
    for (FrameReader reader(frames); reader.next(frame);) {
        if (!is_of_envelope(frame.kind)) continue;
        Piece piece = piece_of(frame);
        if (piece.at <= next) {
            if (piece.first() && piece.at == next) total = piece.total;
            if (piece.at.sequence == next.sequence) next = after(piece, next, total);
        } else if (!early.add(home_.early, piece, frame.payload, home_.limits.early_blocks)) {
            early.forget(home_.early);
            return false;
        }
    }
    return true;
}

// Rule 3 of flow.h: delivers the part of this piece that begins where delivery stands.
void Flow::deliver(Piece piece, const std::byte *payload) {
    // This piece was delivered before, or make_room() has kept a copy.
    if (piece.at.sequence != expected_ || piece.at.offset > expected_offset_) return;
    uint32_t had = expected_offset_ - piece.at.offset;
    uint32_t total = expected_offset_ ? expected_total_ : piece.total;
    if (expected_offset_ && had >= piece.size) return;
    if (total - piece.at.offset < piece.size || total < piece.at.offset) {
        ++home_.counts.malformed;
        return;
    }
    piece.at.offset += had;
    piece.size -= had;
    piece.total = expected_total_ = total;
    expected_offset_ += piece.size;
    if (expected_offset_ == total) {
        ++expected_;
        expected_offset_ = expected_total_ = 0;
    }
    home_.owner.envelope(*this, piece, payload + had);
}

void Flow::bulk_arrived(uint32_t index, uint64_t size) {
    BulkItem &item = home_.bulk.at(index);
    item.acknowledged += size;
    if (item.acknowledged < item.size) return;
    uint64_t token = item.token;
    home_.bulk.give(index);
    if (!over_) home_.owner.bulk_delivered(*this, token);
}

void Flow::acknowledged(const Acknowledgement &said, uint64_t now_ns) {
    ActiveState &state = current();
    uint64_t cumulative = widened(said.cumulative, next_number_),
             expected = widened(said.expected, delivered_);
    if (cumulative >= state.peer_next) grant(said.window);  // unless a newer statement has arrived before
    state.peer_next = std::max(state.peer_next, cumulative);

    size_t before = state.sent.in_flight();
    SentPackets::Found found =
        state.sent.acknowledge(home_.sent, cumulative, said, [&](const SentPacket &packet) {
            size_.received(packet.bytes);
            if (packet.bulk_size) bulk_arrived(packet.bulk_item, packet.bulk_size);
        });
    home_.counts.given_up_too_early += found.too_early;
    too_early_ += found.too_early;
    if (found.packets > 0) {
        // Only packets that were still outstanding count here. If packets that were given up too early also
        // ended the series of probes, a round trip that has become longer would never be measured, since each
        // packet would be given up before its answer.
        uint32_t unanswered = std::exchange(state.probes, 0);
        uint64_t highest = cumulative - 1;
        if (said.count)
            highest = cumulative + said.ranges[said.count - 1].begin + said.ranges[said.count - 1].length - 1;
        // The delay that the acknowledgement states belongs to the highest number in it.
        if (found.highest == highest) {
            trip_.add(now_ns - found.sent_ns, said.delay_us * uint64_t{1000}, now_ns);
            congestion_.absent(said.away_us);
            if (unanswered > 1) trip_.expect_absence(said.away_us);
        }
        congestion_.acknowledged(found.bytes, found.packets, before, trip_, size_.usual(),
                                 home_.limits.congestion, now_ns);
        find_lost(state, now_ns);
    }
    if (is_ahead(expected, delivered_)) {
        delivered_ = expected;
        home_.owner.delivered(*this, delivered_);
    }
}

}  // namespace lanyard::dgram
