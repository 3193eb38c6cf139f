// The cells of this process: buffers in its part of the segment, for payload that does not fit a ring. This
// process fills a cell, a frame in a ring names it, and the reader gives it back.
//
// - A cell belongs to the sender. A peer that does not read therefore holds up only this sender's long
//   payload, to all peers, and nothing else.
// - A cell's word alone says whether the cell is in use. The sender sets it. The reader clears it (release)
//   when it has read the cell. The sender checks it (acquire) before it writes there again.
// - Cells are taken in turn. The next one to be checked is the one taken longest ago, which is the most
//   likely to be free.
// Thread rule: the owner of the engine, in this process and in the reader's; in_use() by any thread.
#pragma once

#include <cstdint>
#include <cstring>

#include "path/path.h"
#include "path/shm/segment.h"

namespace lanyard {

// How a frame names the cell with its payload: in its first line, after the place of the envelope.
struct CellReference {
    uint32_t cell;

    void write(RingLine &line) const { std::memcpy(line.bytes + sizeof(Envelope), this, sizeof *this); }
    static CellReference read(const std::byte *line) {
        CellReference reference;
        std::memcpy(&reference, line + sizeof(Envelope), sizeof reference);
        return reference;
    }
};

class Cells {
public:
    Cells(Segment &segment, uint32_t own) : segment_(segment), own_(own), self_(segment.member(own)) {}

    // Takes `count` cells, or none.
    bool take(uint32_t *cells, uint32_t count);
    // Copies the next `bytes` of the payload into the cell.
    void fill(uint32_t cell, Payload &payload, size_t bytes) {
        payload.copy(segment_.cell(own_, cell), bytes);
    }
    // By the reader: that cell of `owner` has been read.
    static void give_back(MemberControl &owner, uint32_t cell) {
        owner.cell[cell].used.store(0, std::memory_order_release);
    }

    // The cells of this process whose content has not been read yet.
    uint32_t in_use() const;

private:
    Segment &segment_;
    const uint32_t own_;
    MemberControl &self_;
    uint32_t next_ = 0;  // the first one to check
};

}  // namespace lanyard
