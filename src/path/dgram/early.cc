// See early.h.
#include "path/dgram/early.h"

#include <algorithm>

namespace lanyard::dgram {

EarlyBlock *EarlyEnvelopes::new_block(Blocks &blocks, const Position &begin, uint32_t most_blocks) {
    if (blocks_ >= most_blocks) return nullptr;
    ++blocks_;
    uint32_t index = blocks.take();
    EarlyBlock &block = blocks.at(index);
    block.begin = begin;
    block.next = none;
    block.used = 0;
    (adding_last_ == none ? adding_ : blocks.at(adding_last_).next) = index;
    adding_last_ = index;
    return &block;
}

bool EarlyEnvelopes::add(Blocks &blocks, const Piece &piece, const std::byte *payload, uint32_t most_blocks) {
    constexpr size_t worth = 64;  // a piece is split only if this much payload fits
    Piece part = piece;
    uint32_t left = piece.size;
    do {
        EarlyBlock *block = adding_last_ == none ? nullptr : &blocks.at(adding_last_);
        if (!block || EarlyBlock::room - block->used < sizeof(Piece) + std::min<size_t>(left, worth)) {
            block = new_block(blocks, part.at, most_blocks);
            if (!block) return false;
        }
        part.size = std::min(left, static_cast<uint32_t>(EarlyBlock::room - block->used - sizeof(Piece)));
        std::memcpy(block->bytes + block->used, &part, sizeof part);
        if (part.size) std::memcpy(block->bytes + block->used + sizeof part, payload, part.size);
        block->used += static_cast<uint32_t>(sizeof part) + part.size;
        payload += part.size;
        left -= part.size;
        part.at.offset += part.size;
    } while (left > 0);
    return true;
}

// Usually the blocks of the latest packet belong behind all other blocks.
void EarlyEnvelopes::keep(Blocks &blocks) {
    while (adding_ != none) {
        uint32_t index = adding_;
        EarlyBlock &block = blocks.at(index);
        adding_ = block.next;
        block.next = none;
        if (last_ == none || blocks.at(last_).begin <= block.begin) {
            (last_ == none ? first_ : blocks.at(last_).next) = index;
            last_ = index;
            continue;
        }
        uint32_t before = none, after = first_;
        while (blocks.at(after).begin <= block.begin) {
            before = after;
            after = blocks.at(after).next;
        }
        block.next = after;
        (before == none ? first_ : blocks.at(before).next) = index;
    }
    adding_last_ = none;
}

void EarlyEnvelopes::forget(Blocks &blocks) {
    while (adding_ != none) {
        uint32_t index = adding_;
        adding_ = blocks.at(index).next;
        give(blocks, index);
    }
    adding_last_ = none;
}

void EarlyEnvelopes::drop_all(Blocks &blocks) {
    forget(blocks);
    while (first_ != none) {
        uint32_t index = first_;
        first_ = blocks.at(index).next;
        give(blocks, index);
    }
    last_ = none;
}

}  // namespace lanyard::dgram
