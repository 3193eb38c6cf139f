// Cells manages the cells of this process. Cells are buffers in the process's part of the segment, for bulk
// and for other payload that does not fit a ring. This process fills a cell and names the cell in a frame of
// a ring. The reader of the frame gives the cell back.
//
// - A cell belongs to its sender. A peer that does not read can therefore use up only this sender's cells.
//   This blocks the sender's frames that need a cell, to all peers, and nothing else.
// - Only the cell's word (MemberControl::cell) says whether the cell is in use. The sender sets the word. The
//   reader clears the word (release) when it has read the cell. The sender checks the word (acquire) before
//   it writes to the cell again.
// - Cells are checked in turn, since the cell that was taken longest ago is the most likely to be free.
// Thread rule: the owner of the engine, in this process and in the reader's; in_use() by any thread.
#pragma once

#include <cstdint>
#include <cstring>

#include "path/path.h"
#include "path/shm/segment.h"

namespace lanyard {

// Names the cell with a frame's payload. Lies in the frame's first line, after the place of the envelope.
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

    // Takes `count` cells. If fewer are free, takes none and returns false.
    bool take(uint32_t *cells, uint32_t count);
    // Copies the next `bytes` of the payload into the cell.
    void fill(uint32_t cell, Payload &payload, size_t bytes) {
        payload.copy(segment_.cell(own_, cell), bytes);
    }
    // Takes back a cell that was named in a frame which no process will read.
    void take_back(uint32_t cell) { give_back(self_, cell); }
    // Called by the reader when it has read that cell of `owner`.
    static void give_back(MemberControl &owner, uint32_t cell) {
        owner.cell[cell].used.store(0, std::memory_order_release);
    }

    // The number of cells of this process whose content has not been read yet.
    uint32_t in_use() const;

private:
    Segment &segment_;
    const uint32_t own_;
    MemberControl &self_;
    uint32_t next_ = 0;  // the first cell to check
};

}  // namespace lanyard
