// Moves long contributions through the stage (stage.h). Streams is the owner's side, which copies piece after
// piece into the stage as there is room. IncomingStream is a taker's side of one stream. There is one stream
// for all takers or, if each takes a different part of the data, one stream for each taker. The owner is done
// when the last piece is in the stage, even if pieces have not been taken.
//
// Why every stream ends: there is room for the next piece as soon as the takers have taken an earlier piece.
// Only the room for the first pieces may depend on readers of another exchange. The owner waits for this room
// only for a short time, and then posts an address instead. Used by own_post.h and taking.h.
// Thread rule: the owner of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/shm/exchange_task.h"

namespace lanyard {

// The streams that this rank puts into the stage in one exchange.
class Streams {
public:
    // Resets this object for a new use, and returns entries that an abandoned use still holds.
    void forget() {
        close();
        wanted_ = false;
    }
    // Decides whether the data that this rank posts goes through the stage.
    void plan(const ExchangeTask &);
    bool wanted() const { return wanted_; }
    // Reserves entries. False: there is no room yet. If there is no room and the time to wait has passed
    // (give_up_ns_), returns true but wanted() is false, so that an address is posted.
    bool allot(const ExchangeTask &);
    // Puts the first piece of each stream, and describes the streams in the slot's payload. Returns what
    // Slot::bytes() then has to be.
    uint32_t post(const ExchangeTask &, uint32_t generation);
    // Are there pieces that have not been put into the stage?
    bool open() const { return open_; }
    // Puts pieces of all streams in turn, as far as there is room, at most as many as entries are reserved.
    // False: no piece could be put.
    bool put(const ExchangeTask &task) { return put(task, entries_); }
    // Puts no more pieces, and ends the reservation of the entries.
    void close() {
        if (!open_) return;
        open_ = false;
        stage_->give_up(first_, entries_ * count_);
    }

private:
    bool put(const ExchangeTask &, int rounds);
    void put_piece(const ExchangeTask &, const Block &, int64_t &position, int stream,
                   const Stage::Readers &);
    int first_of(int stream) const { return (first_ + stream * entries_) % StageMemory::entries; }
    SlotPlace place_of(int stream, int64_t bytes) const;

    Stage *stage_ = nullptr;
    bool wanted_ = false, open_ = false;
    int first_ = 0, entries_ = 0, count_ = 0;  // entries_: for each of count_ streams
    int64_t piece_ = 0, longest_ = 0;
    uint32_t left_ = 0;              // the stamp before that of the first piece
    uint64_t give_up_ns_ = 0;        // when the first wait for room ends, in any use; 0: no wait so far
    std::vector<int64_t> position_;  // by rank
};

// A stream from which this rank takes. `told`: its description in the owner's slot.
class IncomingStream {
public:
    IncomingStream(const AreaTeam &place, int owner, const SlotPlace &told)
        : place_(place),
          owner_(owner),
          staged_(StagedPlace::in(told)),
          memory_(place.reach->at(staged_.offset * 64, StageMemory::bytes)) {}

    // The piece with this number; nullptr if it is not in the stage yet.
    const std::byte *piece(int64_t number) const {
        int entry = staged_.entry_of(number);
        bool there = number < staged_.filled ||
                     memory_.filled(entry).load(std::memory_order_acquire) == stamp_of(number);
        return there ? memory_.piece(entry) : nullptr;
    }
    void taken(int64_t number) const;
    // To be called if the stream does not match this rank's call: the owner need not wait for this rank.
    void leave() const;

private:
    uint32_t stamp_of(int64_t number) const { return staged_.stamp + static_cast<uint32_t>(number); }

    const AreaTeam &place_;
    int owner_;
    StagedPlace staged_;
    StageMemory memory_;
};

}  // namespace lanyard
