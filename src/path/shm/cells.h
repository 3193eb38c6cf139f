// The cells of this process: buffers in its part of the segment, for payload that does not fit a ring. This process fills one, a frame in a
// ring says which, and the reader gives it back.
//
// - A cell belongs to the sender. So a peer that does not read holds up all who are sent long payload, and nothing else.
// - A cell's word alone says whether it is in use. The sender sets it, the reader clears it (release) when it has read the cell. The sender
//   looks (acquire) before it writes there again.
// - Cells are taken in a circle. So the one looked at next is the one that was taken first, which is the likeliest to be free.
// Thread rule: the owner of the engine, here and of who reads; in_use() by any thread.
#pragma once

#include <cstdint>
#include <cstring>

#include "path/path.h"
#include "path/shm/segment.h"

namespace lanyard {

// What a frame says of its payload in a cell, in its first line, behind where the envelope is or would be.
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

    // So many, or none.
    bool take(uint32_t *cells, uint32_t count);
    // The next `bytes` of the payload go there.
    void fill(uint32_t cell, Payload &payload, size_t bytes) { payload.copy(segment_.cell(own_, cell), bytes); }
    // By the reader: that cell of `owner` has been read.
    static void give_back(MemberControl &owner, uint32_t cell) { owner.cell[cell].used.store(0, std::memory_order_release); }

    // Of this process; those that hold something not yet read.
    uint32_t in_use() const;

private:
    Segment &segment_;
    const uint32_t own_;
    MemberControl &self_;
    uint32_t next_ = 0;  // looked at first
};

}  // namespace lanyard
