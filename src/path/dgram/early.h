// Envelopes that came before their turn: a packet was lost or overtaken, and what is behind it waits here, copied into blocks that all flows share.
// What one packet brought is in one chain of blocks; in a chain, and so in a block, each piece begins where the one before it ends. Blocks are
// sorted by where they begin. So the first block that begins at or before the place where delivery stands can be delivered whole, and when none
// does, nothing here is next; pieces may overlap what was delivered, as a sender cuts lost contents anew.
// Without room a packet is not taken at all, which is to its sender as if it had been lost. Thread rule: the owner of the flow.
#pragma once

#include "base/slab.h"
#include "path/dgram/sent.h"

namespace lanyard::dgram {

// A part of an envelope's payload; the envelope itself goes with the first (at.offset is 0) alone, which may be all.
struct Piece {
    Position at;
    uint32_t total;  // payload of the whole envelope; not known (0) to others than the first
    uint32_t size;   // of this piece
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
    // Begins with what a packet brings; add() its pieces in order. Then keep() all, or, had there been no room, forget().
    bool add(Blocks &blocks, const Piece &piece, const std::byte *payload, uint32_t most_blocks);
    void keep(Blocks &blocks);
    void forget(Blocks &blocks);
    // Calls deliver(piece, payload) for what may begin at or before `next()`, and drops it.
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

    uint32_t first_ = none, last_ = none;          // sorted
    uint32_t adding_ = none, adding_last_ = none;  // of the packet in hand
    uint32_t blocks_ = 0;
};

}  // namespace lanyard::dgram
