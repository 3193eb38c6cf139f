// Shared words are atomic words in memory that all processes of a node can change
// (DirectMemory::shared_word). By such a word two processes agree which of them copies which part of a
// message. They do not wait for each other.
//
//   word: generation (24 bits) | pieces claimed at the front (20) | pieces claimed at the back (20)
//
// A word belongs to the receiver of the message, which begins a new generation with each use. A sender that
// looks at the word too late finds another generation, or no unclaimed piece, and claims nothing. front +
// back <= pieces always holds. Once front + back equals pieces, front and back do not change any more in this
// generation.
// Thread rule: any process may change a word; SharedWords belongs to the owner of the engine.
// Tested by: tests/unit/p2p/dual_copy_test.cc, tests/unit/p2p/rendezvous_send_test.cc.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "path/path.h"

namespace lanyard {

struct Claims {
    uint64_t generation, front, back;

    static Claims read(uint64_t word) { return {word >> 40, word >> 20 & 0xfffff, word & 0xfffff}; }
    uint64_t word() const { return generation << 40 | front << 20 | back; }
    static uint32_t next(uint64_t generation) { return static_cast<uint32_t>(generation + 1) & 0xffffff; }
};

constexpr uint64_t most_pieces = (1 << 20) - 1;

// Pieces that one process claimed together; count 0: none.
struct Share {
    uint64_t first, count;
};

// Claims pieces at the front or the back: half of those that are left, but at most `most`. Each system call
// thus copies as much as possible, and the last ones are short, so that both processes end at about the same
// time. Claims nothing if all pieces are claimed or the generation is over.
inline Share claim_pieces(std::atomic<uint64_t> &word, uint64_t generation, uint64_t pieces, bool at_front,
                          uint64_t most) {
    uint64_t seen = word.load(std::memory_order_acquire);
    for (;;) {
        Claims claims = Claims::read(seen);
        uint64_t claimed = claims.front + claims.back;
        if (claims.generation != generation || claimed >= pieces) return {0, 0};
        uint64_t count = std::min((pieces - claimed + 1) / 2, most);
        uint64_t first = at_front ? claims.front : pieces - claims.back - count;
        (at_front ? claims.front : claims.back) += count;
        if (word.compare_exchange_weak(seen, claims.word(), std::memory_order_acq_rel)) return {first, count};
    }
}
// Claims the only piece. Returns whether it was still there.
inline bool claim_all(std::atomic<uint64_t> &word, uint64_t generation, bool at_front) {
    return claim_pieces(word, generation, 1, at_front, 1).count == 1;
}

// A word in use, as seen by the process to which the word belongs.
struct OwnWord {
    std::atomic<uint64_t> *word = nullptr;  // nullptr: no word
    uint32_t index = 0;
    uint32_t generation = 0;

    explicit operator bool() const { return word != nullptr; }
    Claims claims() const { return Claims::read(word->load(std::memory_order_acquire)); }
    // The number that names this word and its generation in envelopes.
    uint32_t name() const { return index | generation << 8; }
    static uint32_t index_of(uint32_t name) { return name & 0xff; }
    static uint32_t generation_of(uint32_t name) { return name >> 8; }
};

// Keeps track of which words of this process are in use.
class SharedWords {
public:
    bool has_any() const { return free_ != 0; }
    int in_use() const { return __builtin_popcountll(~free_); }
    // Takes a free word that the path shares with its peers, and begins a new generation in which no piece is
    // claimed. False: there is no free word, or the path has no words.
    bool take(Path &path, uint32_t own_peer, OwnWord &taken) {
        if (free_ == 0) return false;
        auto index = static_cast<uint32_t>(__builtin_ctzll(free_));
        std::atomic<uint64_t> *word = path.memory().shared_word(own_peer, index);
        if (!word) return false;
        free_ &= free_ - 1;
        uint32_t generation = Claims::next(Claims::read(word->load(std::memory_order_relaxed)).generation);
        word->store(Claims{generation, 0, 0}.word(), std::memory_order_release);
        taken = {word, index, generation};
        return true;
    }
    // Ends the use of a word, so that no more pieces can be claimed from it.
    void end(OwnWord &own) {
        own.word->store(Claims{Claims::next(own.generation), 0, 0}.word(), std::memory_order_release);
        release(own);
    }
    // Ends the use of a word whose generation is already over.
    void release(OwnWord &own) {
        free_ |= uint64_t{1} << own.index;
        own = {};
    }

private:
    uint64_t free_ = ~uint64_t{0};  // bit i is set if word i is free
    static_assert(shared_words == 64);
};

}  // namespace lanyard
