// The frames from this process to one peer: how envelopes and bulk are written into the ring (short_ring.h). inlets.h reads them.
//
//   payload of an envelope              where it goes
//   up to first_line_room bytes         beside the envelope
//   up to most_inlined                  there, and in the ring's next lines
//   up to max_payload()                 in cells, one frame for each
//   of bulk, up to cell_bytes           in a cell
//
// - Payload of several cells comes in as many frames, one behind the other: the reader copies the first while the writer fills the second, so
//   a message is on its way for little longer than one copy takes. The first frame tells the size of the whole. All of them are written, or none.
// - A frame is published with a full barrier before the reader's sleep word is read, and a sleeper sets its word before it polls once more: so
//   one of the two always sees the other.
// Thread rule: the owner of the engine.
#pragma once

#include "path/path.h"
#include "path/shm/cells.h"
#include "path/short_ring.h"

namespace lanyard {

class Outlet {
public:
    // The reader sleeps there.
    explicit Outlet(SleepWord &sleep) : ring_(sleep) {}

    // Of an envelope. Longer messages wait for their receive, as over the network: what comes before it is copied twice more.
    static size_t max_payload(const Segment &segment);

    void open(Ring &ring, uint32_t writer) { ring_.open(ring, writer); }
    bool is_open() const { return ring_.is_open(); }
    RingWriter &ring() { return ring_; }
    const RingWriter &ring() const { return ring_; }

    // All of these once the ring is open; `full`: there is no room in it, or there are too few cells.
    // An envelope with up to first_line_room bytes of payload.
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
