// The stage is memory of a process through which long contributions to collectives travel in pieces
// (exchange_run.h). The owner of a contribution copies the pieces in, and the ranks that take it ("takers",
// "readers") copy them out. This can be faster than reading through the kernel, which looks up memory pages
// one by one, while pieces in the stage stay in caches. A process has one stage for all its teams, made when
// it is first used.
//
//   stage:  filled, a stamp for each entry | done, for each reader a line of stamps | entries of piece_bytes
//
// An exchange uses one stream that all readers read, or one stream for each reader. Each stream gets a row of
// n entries. Piece k of a stream lies in entry k mod n of the row, and has a stamp that no other piece has
// had. The owner stores the stamp in `filled` when it has copied the piece in. (The slot itself states that
// the first piece is there.) A reader stores the stamp in its line of `done` when it has copied the piece
// out. The entry is written again when all readers of the piece have stored this stamp. No reader, on
// whatever team, then reads the old content any more. A reader that finds a stream which it does not expect
// is done with all entries at once: for each entry it stores the stamp that precedes the stream's first
// stamp. A reader whose call does not agree with the owner's call never looks at the stream and keeps the
// entries in use. A rank that waits for free entries before it posts therefore gives up after a while and
// posts an address instead. After it has posted through the stage, it waits only for readers of the same
// exchange.
// Thread rule: the owner of the engine. Readers are in other processes.
// Tested by: tests/unit/coll/shm/streams_test.cc, tests/unit/coll/shm/posts_test.cc.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/copy.h"
#include "coll/shm/node_area.h"
#include "coll/shm/node_reach.h"

namespace lanyard {

// The memory of a stage, as all processes see it.
class StageMemory {
public:
    static constexpr int entries = 16, most_readers = 64;
    static constexpr int64_t piece_bytes = 64 * KiB;  // shorter pieces are copied at a lower rate
    static constexpr size_t stamps_bytes = 8 * KiB + off_page,
                            bytes = stamps_bytes + entries * size_t{piece_bytes};

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
static_assert(sizeof(uint32_t) * (1 + StageMemory::most_readers) * StageMemory::entries <=
              StageMemory::stamps_bytes);

// The description of a stream, as a slot contains it.
struct StagedPlace {
    static constexpr uint64_t staged = uint64_t{1} << 62;  // a flag in SlotPlace::bytes, like SlotPlace::here

    uint64_t offset;  // of the stage, in cache lines
    uint32_t stamp;   // the stamp of the first piece
    int first, entries;
    int filled;  // the number of pieces that are there when the slot is posted
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
    // The ranks that read a piece: [first, end), by their index in the team, except `own`.
    struct Readers {
        int first = 0, end = 0, own = 0;
    };

    // Makes the stage, if this has not been tried before. False: there is no memory for a stage.
    bool open(NodeReach &reach) {
        if (!tried_) memory_ = StageMemory(reach.share(StageMemory::bytes, offset_));
        tried_ = true;
        return bool(memory_);
    }
    const StageMemory &memory() const { return memory_; }
    uint64_t offset_in_lines() const { return offset_ / 64; }

    // Reserves this number of unused entries in a row. False: there are not enough at the moment.
    bool allot(int count, int &first);
    // Ends the reservation of entries that have been filled or never will be. Readers may still use them.
    void give_up(int first, int count) { allotted_ &= ~in_row(first, count); }
    uint32_t new_stamps(uint32_t count) {
        uint32_t first = next_stamp_;
        next_stamp_ += count;
        return first;
    }
    // To be called before a piece is written into the entry. `left`: the stamp that a reader stores when it
    // leaves the stream.
    void write(int entry, uint32_t stamp, uint32_t left, const Readers &readers) {
        uses_[entry] = {stamp, left, readers};
        known_free_ &= ~(1u << entry);
    }
    // Counts a use whose rates are learned. True: it is time to learn these rates again.
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
    uint32_t known_free_ = all, allotted_ = 0;  // bit i stands for entry i
    int next_ = 0;
    uint32_t next_stamp_ = 1;
    Use uses_[StageMemory::entries];
    uint32_t uses_of_size_[CopyRates::kinds][CopyRates::sizes] = {};
};

}  // namespace lanyard
