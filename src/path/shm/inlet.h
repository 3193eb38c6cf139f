// The frames from one peer to this process: how what outlet.h writes is read out of a ring and delivered.
//
// - What lies in a cell is read there, and the cell given back at once. Payload of several cells is assembled first: where the sink wants it.
// - The writer is woken when it was told about room in the ring, or has a cell again.
// - Who waits for this peer's next message may look for it with peek() and take it out of its turn, but for what lies in cells.
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
    // A ring that a member of the segment writes, whose frames come from `peer`. `among` those that are read it has that place.
    Inlet(Ring &ring, const Segment &segment, uint32_t member, uint32_t peer, size_t among)
        : place(among), peer_(peer), writer_(segment.member(member)), cells_(segment.cell(member, 0)) {
        ring_.open(ring, member);
    }

    const size_t place;

    // Where to look for the next frame, and what the low half will be there.
    const std::atomic<uint64_t> *awaited_word() const { return ring_.awaited_word(); }
    uint32_t awaited_number() const { return ring_.awaited_number(); }

    // Delivers at most `budget` frames; how many.
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
    void copy_out(void *to, size_t size) const;  // not inline, as take() is and needs it seldom
    void deliver_lines(Sink &sink, size_t size) const;
    void deliver_cell(Sink &sink, RingFrame kind, size_t size);
    void take_part(Sink &sink, const std::byte *payload, size_t size);

    RingReader ring_;
    const uint32_t peer_;
    MemberControl &writer_;
    const std::byte *const cells_;  // of the writer
    Assembly assembly_;             // of an envelope whose payload arrives in several cells
    Envelope envelope_;             // that one
};

}  // namespace lanyard
