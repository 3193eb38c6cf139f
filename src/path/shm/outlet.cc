// See outlet.h.
#include "path/shm/outlet.h"

#include <algorithm>
#include <cstring>

#include "base/fetch.h"

namespace lanyard {

namespace {

constexpr uint32_t most_cells_of_envelope = 4;

}  // namespace

size_t Outlet::max_payload(const Segment &segment) {
    return std::min(most_cells_of_envelope, segment.header().cells / 2) * cell_bytes;
}

void Outlet::take_back_cells(Ring &ring, uint32_t writer, Cells &cells) {
    RingReader reader;
    reader.open(ring, writer);
    while (uint64_t word = reader.peek()) {
        bool in_lines = frame_kind(word) == RingFrame::inlined;
        if (!in_lines) cells.take_back(CellReference::read(reader.first()).cell);
        reader.pass(in_lines ? lines_for(frame_payload(word)) : 1);
    }
}

Sent Outlet::send(const Envelope &envelope, Payload payload, Cells &cells) {
    return payload.size > most_inlined ? send_in_cells(envelope, payload, cells)
                                       : send_lines(envelope, payload);
}

Sent Outlet::send_lines(const Envelope &envelope, Payload payload) {
    size_t size = payload.size;
    uint32_t lines = lines_for(size);
    if (!ring_.room(lines)) return Sent::full;
    // The first line is written last. The reader polls it, so it would take the line away after a first store
    // to it, and the writer would have to fetch the line again for the word.
    std::byte head[first_line_room];
    size_t in_first = std::min(size, first_line_room);
    payload.copy(head, in_first);
    for (uint32_t ahead = 1; ahead < lines; ++ahead) {
        payload.copy(ring_.line(ahead).bytes, std::min(payload.size, next_line_room));
        ring_.number_line(ahead);
        demote(&ring_.line(ahead), sizeof(RingLine));
    }
    std::memcpy(ring_.begin_line(envelope), head, in_first);
    ring_.publish(RingFrame::inlined, size, lines);
    ring_.wake_reader();
    ring_.fetch_next(lines);
    return Sent::done;
}

Sent Outlet::send_in_cells(const Envelope &envelope, Payload payload, Cells &cells) {
    uint32_t taken[most_cells_of_envelope];
    auto count = static_cast<uint32_t>((payload.size + cell_bytes - 1) / cell_bytes);
    if (!ring_.room(count) || !cells.take(taken, count)) return Sent::full;
    size_t told = payload.size;
    for (uint32_t i = 0; i < count; ++i) {
        size_t part = std::min(payload.size, cell_bytes);
        cells.fill(taken[i], payload, part);
        RingLine &line = ring_.line();
        std::memcpy(line.bytes, &envelope, sizeof envelope);
        CellReference{taken[i]}.write(line);
        ring_.publish(RingFrame::in_cell, i == 0 ? told : part, 1);
    }
    ring_.wake_reader();
    return Sent::done;
}

Sent Outlet::send_bulk(const BulkHeader &header, Payload payload, Cells &cells) {
    uint32_t cell;
    if (!ring_.room(1) || !cells.take(&cell, 1)) return Sent::full;
    size_t size = payload.size;
    cells.fill(cell, payload, size);
    RingLine &line = ring_.line();
    std::memcpy(line.bytes, &header, sizeof header);
    CellReference{cell}.write(line);
    ring_.publish(RingFrame::bulk, size, 1);
    ring_.wake_reader();
    return Sent::done;
}

}  // namespace lanyard
