// Keeps envelopes that arrived ahead of their turn: a packet was lost or reordered, and the envelopes behind
// it wait here. They are copied, in pieces, into blocks from a pool that all flows share. The contents of one
// packet are in one chain of blocks. In a chain, and so in a block, each piece begins where the preceding
// piece ends. The blocks of all chains are sorted by the position at which they begin. If the first block
// begins at or before the position up to which everything is delivered, the whole block can therefore be
// delivered. If the first block begins later, nothing here can be delivered yet. Pieces may overlap what was
// delivered already, since a sender cuts lost contents into packets anew. If there is no room, a packet is
// not accepted at all, and its sender treats it as lost.
// Thread rule: the owner of the flow.
#pragma once

#include "base/slab.h"
#include "path/dgram/sent.h"

namespace lanyard::dgram {

// A part of an envelope's payload. Only the first piece (at.offset is 0) contains the envelope itself. The
// first piece may be the only one.
struct Piece {
    Position at;
    uint32_t total;  // payload of the whole envelope; 0 (unknown) in pieces other than the first
    uint32_t size;   // payload in this piece
    Envelope envelope;

    bool first() const { return at.offset == 0; }
};

struct EarlyBlock {
    static constexpr size_t room = 2024;
    Position begin;
    uint32_t next, used;
    std::byte bytes[room];
};

class EarlyEnvelopes {
public:
    using Blocks = Slab<EarlyBlock>;
    static constexpr uint32_t none = Blocks::none;

    bool empty() const { return first_ == none; }
    // These functions collect the contents of one packet. The caller calls add() for its pieces in order, and
    // then keep(). If add() returns false, there was no room, and the caller calls forget().
    bool add(Blocks &blocks, const Piece &piece, const std::byte *payload, uint32_t most_blocks);
    void keep(Blocks &blocks);
    void forget(Blocks &blocks);
    // Calls deliver(piece, payload) for all pieces in blocks that begin at or before `next()`, and drops
    // these blocks.
    template <class Next, class Deliver>
    void take(Blocks &blocks, Next next, Deliver deliver) {
        while (first_ != none && blocks.at(first_).begin <= next()) {
            EarlyBlock &block = blocks.at(first_);
            for (uint32_t at = 0; at < block.used;) {
                Piece piece;
                std::memcpy(static_cast<void *>(&piece), block.bytes + at, sizeof piece);
                deliver(piece, block.bytes + at + sizeof piece);
                at += static_cast<uint32_t>(sizeof piece) + piece.size;
            }
            uint32_t index = first_;
            first_ = block.next;
            if (first_ == none) last_ = none;
            give(blocks, index);
        }
    }
    void drop_all(Blocks &blocks);

private:
    EarlyBlock *new_block(Blocks &blocks, const Position &begin, uint32_t most_blocks);
    void give(Blocks &blocks, uint32_t index) {
        blocks.give(index);
        --blocks_;
    }

    uint32_t first_ = none, last_ = none;          // list of all blocks, sorted
    uint32_t adding_ = none, adding_last_ = none;  // blocks of the packet that is being added
    uint32_t blocks_ = 0;
};

}  // namespace lanyard::dgram
