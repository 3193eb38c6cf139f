// A long message copied by both sides at once: its pieces are claimed from a word that both processes can change, the receiver's from
// the front, the sender's from the back, so that each is moved exactly once, whoever has time (rendezvous, messenger.h).
//
//   word: generation (24 bits) | pieces claimed at the front (20) | at the back (20)
//
// The word belongs to the receiver, which begins a new generation with each message; a sender that comes late finds another
// generation, or nothing left, and claims nothing. front + back <= pieces always holds, and at equality both are final.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lanyard {

constexpr size_t piece_bytes = 64 * 1024;
constexpr uint64_t most_pieces = (1 << 20) - 1;  // longer messages are not shared

struct Claims {
    uint64_t generation, front, back;

    static Claims read(uint64_t word) { return {word >> 40, word >> 20 & 0xfffff, word & 0xfffff}; }
    uint64_t word() const { return generation << 40 | front << 20 | back; }
    static uint32_t next(uint64_t generation) { return static_cast<uint32_t>(generation + 1) & 0xffffff; }
};

inline uint64_t pieces_of(uint64_t bytes) { return (bytes + piece_bytes - 1) / piece_bytes; }

// Claims one more piece at one end; its index, or -1 when all are claimed or the generation is over.
inline int64_t claim_piece(std::atomic<uint64_t> &word, uint64_t generation, uint64_t pieces, bool at_front) {
    uint64_t seen = word.load(std::memory_order_acquire);
    for (;;) {
        Claims claims = Claims::read(seen);
        if (claims.generation != generation || claims.front + claims.back >= pieces) return -1;
        uint64_t piece = at_front ? claims.front++ : pieces - ++claims.back;
        if (word.compare_exchange_weak(seen, claims.word(), std::memory_order_acq_rel)) return static_cast<int64_t>(piece);
    }
}

}  // namespace lanyard
