// Memory of a process through which long contributions to collectives travel in pieces (exchange_run.h).
// Their owner copies them in, and the takers copy them out. This is faster than reading through the kernel if
// caches are effective and pages must be looked up one by one. A process has one stage for all its teams,
// made when it is first used.
//
//   stage:  filled, a stamp for each entry | done, for each reader a line of stamps | entries of piece_bytes
//
// An exchange gets a row of entries for each of its streams (one that all read, or one for each reader).
// Piece k of a stream lies in the k-th of them, in turn, and has a stamp that no other piece has had. The
// owner stores the stamp in `filled` when the piece is there (the slot names the first pieces). A reader
// stores it in its line of `done` when it is done with the piece. The entry is written again when all its
// readers have done so. Whatever was in it before, on any team, none of them reads it any more.
// A reader that finds a stream it does not expect stores the stamp before its first one for all its entries,
// and is done with them. A reader that never looks, because it has called something else, keeps entries in
// use. A rank that waits for entries before it posts gives up after a while and posts an address instead, so
// it waits only for readers of the same exchange.
// Thread rule: the owner of the engine. Readers are in other processes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "coll/shm/node_area.h"
#include "coll/shm/node_reach.h"

namespace lanyard {

// The stage as other processes see it.
class StageMemory {
public:
    static constexpr int entries = 16, most_readers = 64;
    static constexpr int64_t piece_bytes = 64 * 1024;  // shorter pieces are copied at a lower rate
    static constexpr size_t stamps_bytes = 8192, bytes = stamps_bytes + entries * size_t{piece_bytes};

    explicit StageMemory(std::byte *base = nullptr) : base_(base) {}
    explicit operator bool() const { return base_ != nullptr; }
    std::atomic<uint32_t> &filled(int entry) const { return *word(static_cast<size_t>(entry)); }
    std::atomic<uint32_t> &done(int reader, int entry) const {
        return *word(static_cast<size_t>((1 + reader) * entries + entry));
    }
    std::byte *piece(int entry) const {
        return base_ + stamps_bytes + static_cast<size_t>(entry) * size_t{piece_bytes};
    }

private:
    std::atomic<uint32_t> *word(size_t index) const {
        return reinterpret_cast<std::atomic<uint32_t> *>(base_) + index;
    }
    std::byte *base_;
};
static_assert((1 + StageMemory::most_readers) * StageMemory::entries * sizeof(uint32_t) <=
              StageMemory::stamps_bytes);

// A stream as a slot describes it.
struct StagedPlace {
    static constexpr uint64_t staged = uint64_t{1} << 62;  // in SlotPlace::bytes, beside SlotPlace::here

    uint64_t offset;  // of the stage, in lines
    uint32_t stamp;   // of the first piece
    int first, entries;
    int filled;  // pieces that are there from the beginning
    int64_t bytes;
    static constexpr int length_bits = 40;
    static constexpr int64_t most_bytes = (int64_t{1} << length_bits) - 1;

    SlotPlace told() const {
        return {uint64_t{stamp} << 32 | offset,
                staged | static_cast<uint64_t>(filled) << 56 | static_cast<uint64_t>(first) << 48 |
                    static_cast<uint64_t>(entries) << length_bits | static_cast<uint64_t>(bytes)};
    }
    static StagedPlace in(const SlotPlace &place) {
        return {place.where & UINT32_MAX,
                static_cast<uint32_t>(place.where >> 32),
                static_cast<int>(place.bytes >> 48 & 0xff),
                static_cast<int>(place.bytes >> length_bits & 0xff),
                static_cast<int>(place.bytes >> 56 & 0x3f),
                static_cast<int64_t>(place.bytes & uint64_t{most_bytes})};
    }
    int entry_of(int64_t piece) const {
        return (first + static_cast<int>(piece % entries)) % StageMemory::entries;
    }
};

class Stage {
public:
    // The ranks that read a piece, by their index in the team, except `own`.
    struct Readers {
        int first = 0, end = 0, own = 0;
    };

    // False: there is no memory for a stage.
    bool open(NodeReach &reach) {
        if (!tried_) memory_ = StageMemory(reach.share(StageMemory::bytes, offset_));
        tried_ = true;
        return bool(memory_);
    }
    const StageMemory &memory() const { return memory_; }
    uint64_t offset_in_lines() const { return offset_ / 64; }

    // Finds this number of unused entries in a row. False: there are none at the moment.
    bool allot(int count, int &first);
    // Returns entries that have been filled, or never will be.
    void give_up(int first, int count) { allotted_ &= ~in_row(first, count); }
    uint32_t new_stamps(uint32_t count) {
        uint32_t first = next_stamp_;
        next_stamp_ += count;
        return first;
    }
    // Call before writing the entry. `left`: what a reader stores when it leaves the stream.
    void write(int entry, uint32_t stamp, uint32_t left, const Readers &readers) {
        uses_[entry] = {stamp, left, readers};
        known_free_ &= ~(1u << entry);
    }
    // Called once for each use whose rates are known.
    bool is_time_to_try_anew(CopyRates::Kind kind, int64_t bytes) {
        return ++uses_of_size_[static_cast<int>(kind)][CopyRates::size_of(bytes)] %
                   CopyRates::tried_anew_after ==
               0;
    }
    bool is_free(int entry) { return (known_free_ >> entry & 1) || look(entry); }

private:
    struct Use {
        uint32_t stamp = 0, left = 0;
        Readers readers;
    };
    static constexpr uint32_t all = (1u << StageMemory::entries) - 1;
    static uint32_t in_row(int first, int count) {
        uint32_t row = ((1u << count) - 1) << first;
        return (row | row >> StageMemory::entries) & all;
    }
    bool look(int entry);

    StageMemory memory_;
    uint64_t offset_ = 0;
    bool tried_ = false;
    uint32_t known_free_ = all, allotted_ = 0;  // by entry, as bits
    int next_ = 0;
    uint32_t next_stamp_ = 1;
    Use uses_[StageMemory::entries];
    uint32_t uses_of_size_[CopyRates::kinds][CopyRates::sizes] = {};
};

}  // namespace lanyard
