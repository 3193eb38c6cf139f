// See inlet.h.
#include "path/shm/inlet.h"

#include <algorithm>
#include <cstring>

#include "path/shm/cells.h"

namespace lanyard {

int Inlet::drain(Sink &sink, int budget) {
    int frames = 0;
    bool told = false;
    for (uint64_t word; frames < budget && (word = ring_.peek()); ++frames) {
        RingFrame kind = frame_kind(word);
        size_t size = frame_payload(word);
        if (kind == RingFrame::inlined) {
            if (size <= first_line_room)
                sink.envelope(peer_, ring_.envelope(), ring_.first() + sizeof(Envelope), size);
            else deliver_lines(sink, size);
            told |= ring_.pass(lines_for(size));
        } else {
            deliver_cell(sink, kind, size);
            ring_.pass(1);
            told = true;  // a cell is free again
        }
    }
    if (told) wake_if_asleep(writer_.sleep);
    return frames;
}

void Inlet::copy_out(void *to, size_t size) const { ring_.copy_out(static_cast<std::byte *>(to), size); }

void Inlet::deliver_lines(Sink &sink, size_t size) const {
    std::byte unpacked[most_inlined];
    ring_.copy_out(unpacked, size);
    sink.envelope(peer_, ring_.envelope(), unpacked, size);
}

void Inlet::deliver_cell(Sink &sink, RingFrame kind, size_t size) {
    uint32_t cell = CellReference::read(ring_.first()).cell;
    const std::byte *payload = cells_ + cell * cell_bytes;
    if (kind == RingFrame::bulk) {
        BulkHeader header;
        std::memcpy(&header, ring_.first(), sizeof header);
        sink.bulk(peer_, header, payload, size);
    } else if (size <= cell_bytes && !assembly_.is_open()) {
        sink.envelope(peer_, ring_.envelope(), payload, size);
    } else {
        take_part(sink, payload, size);
    }
    Cells::give_back(writer_, cell);
}

// Takes the payload in the next cell of an envelope. `size`: the number of bytes in this cell or, for the
// first cell, in all cells of the envelope.
void Inlet::take_part(Sink &sink, const std::byte *payload, size_t size) {
    size_t part = std::min(size, cell_bytes), from = 0;
    if (!assembly_.is_open()) {
        envelope_ = ring_.envelope();
        from = assembly_.begin(sink, peer_, envelope_, payload, part, size);
    }
    assembly_.add(payload + from, part - from);
    if (assembly_.missing() == 0) assembly_.deliver(sink, peer_, envelope_);
}

}  // namespace lanyard
