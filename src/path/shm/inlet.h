// An Inlet receives the frames of one peer. It reads them from a ring, into which the peer's Outlet
// (outlet.h) has written them, and delivers them to the sink.
//
// - Payload in one cell is delivered from the cell, which is then given back at once. Payload in several
//   cells is assembled first, in the place that the sink names, if it names one (assembly.h).
// - The writer is woken when this process has reported room in the ring or has given a cell back.
// - A caller that waits for this peer's next message may look for the message with peek() and take it outside
//   poll(), unless the payload lies in cells.
// Thread rule: the owner of the engine.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/copy.h"
#include "path/assembly.h"
#include "path/shm/segment.h"
#include "path/short_lane.h"
#include "path/short_ring.h"

namespace lanyard {

class Inlet {
public:
    // Reads a ring that `member` of the segment writes. Delivers the frames as those of `peer`. `among`: the
    // inlet's index among the rings that are read.
    Inlet(Ring &ring, const Segment &segment, uint32_t member, uint32_t peer, size_t among)
        : place(among), peer_(peer), writer_(segment.member(member)), cells_(segment.cell(member, 0)) {
        ring_.open(ring, member);
    }

    const size_t place;

    // The word to poll for the next frame, and the value that its low half will have.
    const std::atomic<uint64_t> *awaited_word() const { return ring_.awaited_word(); }
    uint32_t awaited_number() const { return ring_.awaited_number(); }

    // Delivers at most `budget` frames. Returns their number.
    int drain(Sink &sink, int budget);

    // As in ShortLane.
    bool peek(ShortFrame &frame) const {
        uint64_t word = ring_.peek();
        if (word == 0) return false;
        frame = {frame_kind(word) == RingFrame::inlined ? ring_.first() : nullptr, frame_payload(word)};
        return true;
    }
    [[gnu::always_inline]] void take(void *payload) {
        size_t size = frame_payload(ring_.peek());
        bool one_line = size <= first_line_room;
        if (one_line) copy_few(payload, ring_.first() + sizeof(Envelope), size);
        else copy_out(payload, size);
        if (ring_.pass(one_line ? 1 : lines_for(size))) [[unlikely]] wake_if_asleep(writer_.sleep);
    }

private:
    void copy_out(void *to, size_t size) const;  // not inline, since take() is inline and seldom needs it
    void deliver_lines(Sink &sink, size_t size) const;
    void deliver_cell(Sink &sink, RingFrame kind, size_t size);
    void take_part(Sink &sink, const std::byte *payload, size_t size);

    RingReader ring_;
    const uint32_t peer_;
    MemberControl &writer_;
    const std::byte *const cells_;  // the writer's cells
    Assembly assembly_;             // the payload of an envelope, arriving in several cells
    Envelope envelope_;             // the envelope being assembled
};

}  // namespace lanyard
