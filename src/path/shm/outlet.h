// An Outlet sends frames to one peer. It writes envelopes and bulk into a ring (short_ring.h), from which the
// peer's Inlet (inlet.h) reads them.
//
//   payload                                        where it is written
//   of an envelope, up to first_line_room bytes    beside the envelope
//   of an envelope, up to most_inlined             beside the envelope, and in the ring's next lines
//   of an envelope, up to max_payload()            in cells, with one frame for each cell
//   of bulk, up to cell_bytes                      in a cell
//
// - Payload in several cells uses one frame for each cell. The reader copies the first cell while the writer
//   fills the second, so the message takes little longer than one copy. The first frame states the size of
//   the whole payload. Either all frames are written, or none.
// - A full memory fence separates publishing a frame from reading the reader's sleep word. The fence is
//   executed here or by the sleeper (base/sleep_word.h). A sleeper sets its sleep word before it polls once
//   more. So the writer sees that the reader sleeps, or the reader sees the frame.
// Thread rule: the owner of the engine.
#pragma once

#include "path/path.h"
#include "path/shm/cells.h"
#include "path/short_ring.h"

namespace lanyard {

class Outlet {
public:
    // `sleep`: the sleep word of the reader.
    explicit Outlet(SleepWord &sleep) : ring_(sleep) {}

    // The largest payload of an envelope. Longer messages wait until their receive is posted, as over the
    // network. If they arrived before the receive was posted, they would be copied two more times.
    static size_t max_payload(const Segment &segment);

    void open(Ring &ring, uint32_t writer) { ring_.open(ring, writer); }
    void close() { ring_.close(); }
    // Gives back the cells that are named in a ring of this process (member `writer`). Nothing may have been
    // read from the ring, and it is neither read nor written any more.
    static void take_back_cells(Ring &ring, uint32_t writer, Cells &cells);
    bool is_open() const { return ring_.is_open(); }
    RingWriter &ring() { return ring_; }
    const RingWriter &ring() const { return ring_; }

    // The functions below require that the ring is open. They return `full` if the ring has no room, or if
    // too few cells are free.
    // send_line(): an envelope with up to first_line_room bytes of payload.
    Sent send_line(const Envelope &envelope, Payload payload) {
        if (!ring_.room(1)) return Sent::full;
        size_t size = payload.size;
        payload.copy_short(ring_.begin_line(envelope));
        ring_.end_line(size);
        return Sent::done;
    }
    Sent send(const Envelope &envelope, Payload payload, Cells &cells);
    Sent send_bulk(const BulkHeader &header, Payload payload, Cells &cells);

private:
    Sent send_lines(const Envelope &envelope, Payload payload);
    Sent send_in_cells(const Envelope &envelope, Payload payload, Cells &cells);

    RingWriter ring_;
};

}  // namespace lanyard
